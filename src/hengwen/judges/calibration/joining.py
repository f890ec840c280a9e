"""Human labels and judged answers, brought together: the same place and the same text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.prompts.rubric import Rubric
    from hengwen.records import AnswerKey, Label

Dropped = Literal["no_answer", "other_text", "no_verdict", "example"]
"""Why a labelled answer is left out: there is no such answer; the label is for another text; the judge gave
no score; it is an example of the rubric, which the judge is shown."""
DROPPED: tuple[Dropped, ...] = get_args(Dropped)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """An answer and one score that a judge gave it."""

    task: str
    id: str
    checkpoint: str = ""
    repeat: int = 1
    text: str = ""
    value: float | None
    """None where the judge failed."""
    signature: str = ""
    """Of the judge."""
    cluster: str = ""
    """Answers to one prompt are not independent; default: the id."""

    @property
    def place(self) -> AnswerKey:
        """Where a label finds it."""
        return self.task, self.id, self.checkpoint, self.repeat

    @property
    def prompt(self) -> str:
        """The cluster, apart from that of the same name in another task."""
        return f"{self.task}\n{self.cluster or self.id}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A judged answer with the mean of its labels."""

    answer: JudgedAnswer
    value: float
    human: float
    ratings: tuple[tuple[str, float], ...]
    """(rater, value)."""


@dataclass(frozen=True, slots=True)
class LabelJoin:
    """What is left to calibrate on, and what is not."""

    pairs: tuple[Pair, ...]
    others: tuple[JudgedAnswer, ...]
    """Judged answers without a label."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Labelled answers by why they are left out; all reasons, in the order of ``DROPPED``."""


def join(labels: Iterable[Label], answers: Sequence[JudgedAnswer], rubric: Rubric | None = None) -> LabelJoin:
    """Join labels of one score with answers judged on it.

    Args:
        labels: Of one score; several raters may label one answer.
        answers: With distinct places.
        rubric: Its examples are left out, labelled or not.

    Raises:
        ValueError: Two answers have the same place, or a rater labels an answer twice.

    Examples:
        >>> answers = [JudgedAnswer(task="t", id=i, text=i, value=0.5) for i in "abc"]
        >>> labels = [Label(task="t", id=i, score="s", value=v, rater=r, output=o)
        ...           for i, v, r, o in [("a", 0, "x", ""), ("a", 1, "y", "a"), ("b", 1, "x", "changed")]]
        >>> found = join(labels, answers)
        >>> [(pair.answer.id, pair.human) for pair in found.pairs], [other.id for other in found.others]
        ([('a', 0.5)], ['b', 'c'])
        >>> found.dropped
        {'no_answer': 0, 'other_text': 1, 'no_verdict': 0, 'example': 0}
    """
    shown = _examples(rubric)
    by_place = _by_place(answers)
    groups: dict[AnswerKey, list[Label]] = {}
    for label in labels:
        groups.setdefault(label.answer_key, []).append(label)
    pairs: list[Pair] = []
    dropped: Counter[str] = Counter()
    for place, group in groups.items():
        answer = by_place.get(place)
        same = [one for one in group if answer and (not one.output or _same(one.output, answer.text))]
        why = _left_out(answer, same, shown)
        if why is not None:
            dropped[why] += 1
        elif answer is not None and answer.value is not None:
            pairs.append(_pair(answer, answer.value, same))
    labelled = {pair.answer.place for pair in pairs}
    return LabelJoin(
        pairs=tuple(pairs),
        others=tuple(
            answer
            for answer in answers
            if answer.place not in labelled and answer.value is not None and _plain(answer.text) not in shown
        ),
        dropped={why: dropped[why] for why in DROPPED},
    )


def _by_place(answers: Sequence[JudgedAnswer]) -> dict[AnswerKey, JudgedAnswer]:
    found: dict[AnswerKey, JudgedAnswer] = {}
    for answer in answers:
        if answer.place in found:
            raise ValueError(f"two answers stand at {answer.place}; give one run of each checkpoint")
        found[answer.place] = answer
    return found


def _left_out(answer: JudgedAnswer | None, same: Sequence[Label], shown: frozenset[str]) -> Dropped | None:
    if answer is None:
        return "no_answer"
    if not same:
        return "other_text"
    if _plain(answer.text) in shown:
        return "example"
    return "no_verdict" if answer.value is None else None


def _pair(answer: JudgedAnswer, value: float, labels: Sequence[Label]) -> Pair:
    raters = [label.rater for label in labels]
    if len(set(raters)) < len(raters):
        raise ValueError(f"a rater labels {answer.place} twice")
    human = sum(label.value for label in labels) / len(labels)
    return Pair(answer, value, human, tuple((label.rater, label.value) for label in labels))


def _examples(rubric: Rubric | None) -> frozenset[str]:
    if rubric is None:
        return frozenset()
    texts = [text for one in rubric.examples for text in (one.response.zh, one.response.en)]
    return frozenset(_plain(text) for text in texts)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _same(one: str, other: str) -> bool:
    """Whether texts are equal, however their lines end."""
    return one.replace("\r\n", "\n") == other.replace("\r\n", "\n")
