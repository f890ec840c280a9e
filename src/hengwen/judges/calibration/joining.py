"""Join human labels with judged answers that have the same key and the same text; how answers were drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal, get_args

from hengwen.objective.text import normal_form
from hengwen.prompts.rubric import Rubric
from hengwen.records import AnswerKey, Label
from hengwen.text.numbers import same_text

MEAN, MAJORITY = "mean", "majority"
"""How the values of several raters become one; the name of a rater takes the values of this rater alone."""
RANDOM = "random"
"""First word of the text that is stored with labels of a random sample."""
UNKNOWN = "unknown"
"""Text that stands for labels that do not state how their answer was selected."""


def random_draw(seed: int, population: int) -> str:
    """Return the text that is stored with labels of a random sample spread over checkpoints and prompts."""
    return f"{RANDOM}|seed:{seed}|from:{population}|strata:checkpoint,prompt"


def count_draws(draws: Iterable[str]) -> dict[str, int]:
    """Return the number of labels for each way of selecting answers, in the order of first appearance."""
    return dict(Counter(drawn.strip() or UNKNOWN for drawn in draws))


def chosen_draws(draws: Iterable[str]) -> list[str]:
    """Return the descriptions of how answers were selected, except those of random or unknown selection."""
    return [drawn for drawn in draws if drawn != UNKNOWN and drawn.partition("|")[0] != RANDOM]


Dropped = Literal["no_answer", "other_text", "no_verdict", "example", "no_majority"]
"""Reason to leave out a labelled answer. ``no_answer``: there is no judged answer with the label's key.
``other_text``: the answer with the label's key has another text. ``no_verdict``: the judge gave no score.
``example``: the answer is an example in the rubric, which the judge has read. ``no_majority``: as many raters
gave one value as another, and the majority is asked for."""
DROPPED: tuple[Dropped, ...] = get_args(Dropped)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """An answer with the value that a judge gave it for one score."""

    task: str
    id: str
    checkpoint: str = ""
    repeat: int = 1
    text: str = ""
    value: float | None
    """The judge's value; None if the judge failed."""
    signature: str = ""
    cluster: str = ""
    """Prompt of the answer; by default the sample's id. Answers to the same prompt are not independent."""

    @property
    def key(self) -> AnswerKey:
        """Key by which labels are matched to the answer."""
        return self.task, self.id, self.checkpoint, self.repeat

    @property
    def prompt(self) -> str:
        """Task and prompt together, so that equal prompts of different tasks stay separate."""
        return f"{self.task}\n{self.cluster or self.id}"


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """A judged answer together with the value of its human labels: their mean, or the majority's."""

    answer: JudgedAnswer
    value: float
    human: float
    ratings: tuple[tuple[str, float], ...]
    """(rater, value) of each label."""
    draws: tuple[str, ...] = ()
    """For each label, how the answer was selected for labelling."""


@dataclass(frozen=True, slots=True)
class LabelJoin:
    """Labelled and unlabelled answers for a calibration, and how many labelled answers were left out."""

    pairs: tuple[RatedAnswer, ...]
    others: tuple[JudgedAnswer, ...]
    """Judged answers without a usable label; examples of the rubric are left out."""
    dropped: dict[str, int]
    """For each reason in ``DROPPED``, the number of labelled answers that were left out."""


MAX_PAIRS = 4000
"""Number of different pairs of values on a scale without levels above which the values are rounded, because
agreement within checkpoints compares each two pairs."""
STEPS = 50
"""Number of steps of the scale to which they are then rounded."""


def rounded(pairs: Sequence[RatedAnswer], low: float, high: float) -> Sequence[RatedAnswer]:
    """Return the pairs, with rounded values if there are too many different ones."""
    if len({(pair.human, pair.value) for pair in pairs}) <= MAX_PAIRS:
        return pairs
    step = (high - low) / STEPS

    def nearest(value: float) -> float:
        return low + step * round((value - low) / step)

    return [replace(pair, human=nearest(pair.human), value=nearest(pair.value)) for pair in pairs]


def join(
    labels: Iterable[Label],
    answers: Sequence[JudgedAnswer],
    rubric: Rubric | None = None,
    raters: str = MEAN,
) -> LabelJoin:
    """Join the labels for one score with the answers that a judge scored."""
    if raters not in (MEAN, MAJORITY):
        labels = [label for label in labels if label.rater == raters]
        if not labels:
            raise ValueError(f"no labels by the rater {raters!r}")
    examples = _example_texts(rubric)
    answers_by_key = _by_key(answers)
    groups: dict[AnswerKey, list[Label]] = {}
    for label in labels:
        groups.setdefault(label.answer_key, []).append(label)
    pairs: list[RatedAnswer] = []
    dropped: Counter[str] = Counter()
    for key, group in groups.items():
        rated = _rated(answers_by_key.get(key), group, examples, raters)
        if isinstance(rated, RatedAnswer):
            pairs.append(rated)
        else:
            dropped[rated] += 1
    labelled = {pair.answer.key for pair in pairs}
    return LabelJoin(
        pairs=tuple(pairs),
        others=tuple(
            answer
            for answer in answers
            if answer.key not in labelled
            and answer.value is not None
            and _normalized(answer.text) not in examples
        ),
        dropped={
            reason: dropped[reason] for reason in DROPPED if reason != "no_majority" or raters == MAJORITY
        },
    )


def _by_key(answers: Sequence[JudgedAnswer]) -> dict[AnswerKey, JudgedAnswer]:
    by_key: dict[AnswerKey, JudgedAnswer] = {}
    for answer in answers:
        if answer.key in by_key:
            raise ValueError(f"two answers have the key {answer.key}; pass one run of each checkpoint")
        by_key[answer.key] = answer
    return by_key


def _rated(
    answer: JudgedAnswer | None, labels: Sequence[Label], examples: frozenset[str], raters: str
) -> RatedAnswer | Dropped:
    """Return an answer with the value of its labels, or the reason to leave it out."""
    if answer is None:
        return "no_answer"
    labels = [label for label in labels if not label.output or same_text(label.output, answer.text)]
    if not labels:
        return "other_text"
    if _normalized(answer.text) in examples:
        return "example"
    if answer.value is None:
        return "no_verdict"
    human = _human_value(labels, raters)
    if human is None:
        return "no_majority"
    ratings = tuple((label.rater, label.value) for label in labels)
    if len(dict(ratings)) < len(ratings):
        raise ValueError(f"a rater labels {answer.key} twice")
    return RatedAnswer(answer, answer.value, human, ratings, tuple(label.drawn for label in labels))


def _human_value(labels: Sequence[Label], raters: str) -> float | None:
    """Return the mean of the values; or that of most raters, None if as many gave another."""
    if raters != MAJORITY:
        return fsum(label.value for label in labels) / len(labels)
    (value, votes), *others = Counter(label.value for label in labels).most_common(2)
    return None if others and others[0][1] == votes else value


def _example_texts(rubric: Rubric | None) -> frozenset[str]:
    if rubric is None:
        return frozenset()
    responses = [example.response for example in rubric.examples]
    return frozenset(_normalized(text) for response in responses for text in (response.zh, response.en))


def _normalized(text: str) -> str:
    return " ".join(normal_form(text, "NFC").split())
