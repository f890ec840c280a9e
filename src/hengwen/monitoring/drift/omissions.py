"""Find the checkpoints on which the answer to the second question of a drift report depends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.monitoring.drift.answers import corrected
from hengwen.monitoring.drift.score_drift import Omission
from hengwen.stats.checkpoints import MIN_CORRELATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.drift.answers import DriftTests
    from hengwen.monitoring.drift.score_drift import DriftAnswer, DriftDirection


def decisive_omissions(
    tests: DriftTests, others: Sequence[Mapping[str, float]], alpha: float
) -> tuple[Omission, ...]:
    """Return the checkpoints before the newest without which a score would have another answer.

    ``others`` are the p-values of the other scores, which belong to the same family of tests.
    """
    series = tests.series
    if len(tests.tests()) < 2 or series.checkpoints <= MIN_CORRELATED:
        return ()
    answer = _answer(tests, others, alpha)
    omissions = []
    for index, label in enumerate(series.labels[:-1]):
        left = tests.without(index)
        other = _answer(left, others, alpha)
        if other != answer:
            omissions.append(Omission(checkpoint=label, drifts=other[0], direction=other[1]))
    return tuple(omissions)


def _answer(
    tests: DriftTests, others: Sequence[Mapping[str, float]], alpha: float
) -> tuple[DriftAnswer, DriftDirection]:
    adjusted = corrected([tests.tests(), *others])[0]
    answer = tests.answer(adjusted, alpha)
    return answer, tests.direction(adjusted, alpha) if answer == "drift" else ""
