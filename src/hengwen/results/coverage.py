"""Count the answers for which a series (one score in one run) should have a score, and those that have one.

A prompt without any stored answer is a single failure in the store, but it misses as many answers as the
other prompts have. If several runs are compared, a run misses an answer that another run has, unless the run
has fewer answers to every prompt by design.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from hengwen.results.score_table import STATUS_CODES, Column
from hengwen.score_id import Role, ScoreId

if TYPE_CHECKING:
    from numpy.typing import NDArray

PromptName = TypeVar("PromptName", str, int, str | None)

MIN_COVERAGE = 0.95
"""Minimum share of prompts, and of answers, that have a score at each compared checkpoint. Answers that are
lost because they are bad make equal checkpoints look different."""
MAX_EMPTY_SHARE = 0.02
"""Largest share of empty answers that is not reported."""
RETRYABLE = ("transport_error", "rate_limited", "timeout", "budget")
"""Statuses of failures that another run mends if the endpoint answers."""


class EmptyAnswers(NamedTuple):
    """Number of the answers of a checkpoint to a task that have no text."""

    checkpoint: str
    task: str
    empty: int
    answers: int

    @property
    def is_finding(self) -> bool:
        """Whether more than 2 % of the answers are empty."""
        return self.empty > MAX_EMPTY_SHARE * self.answers


class Answers(NamedTuple):
    """Number of answers to one prompt."""

    scored: int
    expected: int


class Coverage(NamedTuple):
    """Shares of the prompts and of the answers that have a score, among those to which it applies."""

    prompts: float
    answers: float

    @property
    def least(self) -> float:
        """The lower of both shares."""
        return min(self)


def answers_by_prompt(column: Column) -> dict[str | None, Answers]:
    """Return the number of answers to each prompt to which the score applies, in order of appearance."""
    prompts, scored, expected = _counts(column)
    return {
        prompt: Answers(*counts)
        for prompt, *counts in zip(prompts, scored.tolist(), expected.tolist(), strict=True)
        if counts[1]
    }


def answer_coverage(column: Column) -> float | None:
    """Return the share of the answers of a series that have a score; None if the score applies to none."""
    _, scored, expected = _counts(column)
    return float(scored.sum() / expected.sum()) if expected.any() else None


def coverages(
    runs: Sequence[Mapping[PromptName, Answers]], among: Collection[int] | None = None
) -> list[Coverage]:
    """Return the coverage of each of several runs, which should have the answers of those ``among`` them."""
    most: dict[PromptName, int] = {}
    for index, run in enumerate(runs):
        if among is None or index in among:
            for prompt, answers in run.items():
                most[prompt] = max(most.get(prompt, 0), answers.expected)
    return [_coverage(run, most) for run in runs]


def usual_number(run: Mapping[PromptName, Answers]) -> int:
    """Return how many answers to a prompt a run has by design: nearly always, or else at most."""
    numbers = Counter(answers.expected for answers in run.values())
    if not numbers:
        return 0
    (usual, prompts), *_ = numbers.most_common(1)
    return usual if prompts >= MIN_COVERAGE * numbers.total() else max(numbers)


def failed_answers(statuses: Mapping[ScoreId, Mapping[str, int]]) -> Counter[str]:
    """Return the number of failures by status, from the numbers for each score."""
    # A scorer or judge that fails on an answer is one failure, however many scores it would have given; an
    # answer that is missing is one for all of them.
    largest: dict[tuple[str, str, Role, str], int] = {}
    for score, counts in statuses.items():
        for status, count in counts.items():
            if status not in ("ok", "not_applicable") and not score.is_derived:
                source = "" if status == "missing" else score.source
                key = status, score.task, score.role, source
                largest[key] = max(largest.get(key, 0), count)
    failures: Counter[str] = Counter()
    for (status, *_), count in largest.items():
        failures[status] += count
    return failures


def mean_bounds(column: Column, prompts: int | None = None) -> tuple[float, float] | None:
    """Return the mean if every answer without a score had the lowest value, and if it had the highest."""
    # None if no answer (of at least `prompts`) is missing, without a scale, and if repeats are not averaged
    if column.scale is None or column.reducer != "mean" or column.is_group_score:
        return None
    _, scored, expected = _counts(column)
    has_answers = expected > 0
    total = max(prompts or 0, int(has_answers.sum()))
    absent = total - int(has_answers.sum())
    if not absent and (scored == expected).all():
        return None
    indexes = column.keys.prompts[1]
    is_scored = np.frombuffer(column.codes, np.uint8) == 0
    sums = np.bincount(indexes[is_scored], column.array[is_scored], len(scored))[has_answers]
    lost = (expected - scored)[has_answers]
    low, high = (
        float((((sums + lost * end) / expected[has_answers]).sum() + absent * end) / total)
        for end in (column.scale.low, column.scale.high)
    )
    return low, high


def _coverage(run: Mapping[PromptName, Answers], most: Mapping[PromptName, int]) -> Coverage:
    usual = usual_number(run)
    scored = sum(answers.scored for answers in run.values())
    expected = sum(max(answers.expected, min(most.get(prompt, 0), usual)) for prompt, answers in run.items())
    if not expected:
        return Coverage(0.0, 0.0)
    return Coverage(sum(answers.scored > 0 for answers in run.values()) / len(run), scored / expected)


def _counts(column: Column) -> tuple[list[str | None], NDArray[np.intp], NDArray[np.intp]]:
    """Return the prompts of a series, with the numbers of their scored and of their expected answers."""
    prompts, indexes = column.keys.prompts
    codes = np.frombuffer(column.codes, np.uint8)
    scored, absent, not_applicable = (
        np.bincount(indexes[codes == STATUS_CODES[status]], minlength=len(prompts))
        for status in ("ok", "missing", "not_applicable")
    )
    expected = np.bincount(indexes, minlength=len(prompts)) - not_applicable
    has_none = (expected > 0) & (absent == expected)
    usual = expected[(expected > 0) & ~has_none]
    if has_none.any() and len(usual):
        expected[has_none] = np.maximum(expected[has_none], round(median(usual.tolist())))
    return prompts, scored, expected
