"""Compute how much of a score's variance comes from repeated judgments of one answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.records import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from hengwen.records import Row
    from hengwen.score_id import ScoreId

_ROUNDING = 1e-9


class JudgeRepeats(NamedTuple):
    """The variance of a score that is due to its judge."""

    variance: float | None
    """Variance of the score of one answer if the same answer is judged again; None if it is unknown."""
    unreadable: int = 0
    """Number of answers whose judgments name a level of unknown value. If this number is above 0,
    ``variance`` is None. A variance that ignores these answers would be too small."""


def judge_repeats(rows: Iterable[Row], score: ScoreId) -> JudgeRepeats:
    """Return the variance of a score that is due to its judge, pooled over answers."""
    answers: Counter[tuple[tuple[str, ...], float]] = Counter()
    for row in rows:
        outcome = row.outcome
        if row.score == score and isinstance(outcome, Score):
            labels = tuple(sorted(_labels(outcome.details)))
            if labels:
                answers[labels, outcome.value] += 1
    if not any(len(labels) > 1 for labels, _ in answers):
        return JudgeRepeats(None)
    values = _level_values(list(answers))
    unreadable = sum(
        count for (labels, _), count in answers.items() if any(label not in values for label in labels)
    )
    if unreadable:
        return JudgeRepeats(None, unreadable)
    squares, freedom, inverse = 0.0, 0, 0.0
    for (labels, _), count in answers.items():
        known = np.array([values[label] for label in labels])
        squares += count * float(np.square(known - known.mean()).sum())
        freedom += count * (len(known) - 1)
        inverse += count / len(known)
    return JudgeRepeats(squares / freedom * inverse / answers.total())


def _level_values(answers: Sequence[tuple[Sequence[str], float]]) -> Mapping[str, float]:
    """Return the value of each level whose value follows from the scores."""
    names = sorted({label for labels, _ in answers for label in labels})
    shares = np.array([[labels.count(name) / len(labels) for name in names] for labels, _ in answers])
    scores = np.array([score for _, score in answers])
    _, sizes, directions = np.linalg.svd(shares)
    rank = int((sizes > _ROUNDING * sizes[0]).sum())
    values: NDArray[np.float64] = np.linalg.lstsq(shares, scores)[0]
    if np.abs(shares @ values - scores).max() > _ROUNDING * max(1.0, float(np.abs(scores).max())):
        return {}
    is_free = (np.abs(directions[rank:]) > _ROUNDING).any(axis=0)
    return {name: float(value) for name, value, free in zip(names, values, is_free, strict=True) if not free}


def _labels(details: Mapping[str, object]) -> list[str]:
    labels = details.get("labels")
    return [str(label) for label in labels] if isinstance(labels, list) else []
