"""Make pairs of answers from labels, of which people prefer one: data for training by preferences."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.io.row_writer import row_writer
from hengwen.text.safety import same_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from hengwen.labels.queue import Question
    from hengwen.records import Label

PAIR_FIELDS = (
    "prompt",
    "chosen",
    "rejected",
    "task",
    "id",
    "score",
    "chosen_model",
    "rejected_model",
    "margin",
    "raters",
    "contaminated_as_test",
)


def write_pairs(target: Path, questions: Sequence[Question], labels: Iterable[Label]) -> int:
    """Write all pairs to a .csv or .jsonl file; return their number."""
    pairs = list(preference_pairs(questions, labels))
    with row_writer(target, list(PAIR_FIELDS)) as write:
        for pair in pairs:
            write(pair)
    return len(pairs)


def preference_pairs(questions: Sequence[Question], labels: Iterable[Label]) -> Iterator[dict[str, Any]]:
    """Yield a row for every two answers to one prompt that raters who labelled both value differently.

    ``margin`` is the mean difference over these raters, which alone compare both.
    ``contaminated_as_test`` is always true, because a model that is trained on the pair has seen the prompt.
    """
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    by_key = {question.key: question for question in questions}
    for label in labels:
        question = by_key.get(label.key)
        if question and (not label.output or same_text(label.output, question.response.text)):
            values[question.token][label.rater] = label.value
    groups: defaultdict[tuple[str, str, str], list[Question]] = defaultdict(list)
    for question in questions:
        if question.token in values:
            groups[question.response.task, question.response.sample_id, question.score.base].append(question)
    for (task, sample_id, score), group in sorted(groups.items()):
        for pair in combinations(group, 2):
            first, second = (values[question.token] for question in pair)
            raters = first.keys() & second.keys()
            total = fsum(first[rater] - second[rater] for rater in raters)
            texts = {question.response.text for question in pair}
            if not total or len(texts) < 2 or "" in texts:
                continue
            chosen, rejected = (question.response for question in (pair if total > 0 else pair[::-1]))
            yield {
                "prompt": pair[0].sample.text,
                "chosen": chosen.text,
                "rejected": rejected.text,
                "task": task,
                "id": sample_id,
                "score": score,
                "chosen_model": chosen.checkpoint,
                "rejected_model": rejected.checkpoint,
                "margin": abs(total) / len(raters),
                "raters": len(raters),
                "contaminated_as_test": True,
            }
