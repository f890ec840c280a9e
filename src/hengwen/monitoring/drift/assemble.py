"""Say for each score of a drift report whether checkpoints differ and whether it drifts, and describe it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.monitoring.drift.answers import DriftTests, corrected, course_of, decisive_omissions
from hengwen.monitoring.drift.differences import DifferenceTests, difference_answers
from hengwen.monitoring.drift.human_agreement import human_agreements
from hengwen.monitoring.drift.score_drift import Looks
from hengwen.records import Score
from hengwen.results.comparisons import ALPHA
from hengwen.stats.power import alpha_at_look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from hengwen.monitoring.drift.human_agreement import HumanValues
    from hengwen.monitoring.drift.score_drift import ScoreDrift
    from hengwen.monitoring.drift.series import TestedSeries
    from hengwen.records import Row, Run
    from hengwen.score_id import ScoreId
    from hengwen.stats.checkpoints import VarianceBySource
    from hengwen.store import Store

_ROUNDING = 1e-9


def answer_scores(
    series: Sequence[TestedSeries], *, order_known: bool, count_look: Callable[[str], int]
) -> tuple[tuple[ScoreDrift, ...], Looks]:
    """Return for each score whether checkpoints differ and whether it drifts, and the number of the look."""
    measured = [(item, item.mean_variance() if item.has_newest else None) for item in series]
    difference_tests = [
        DifferenceTests.of(item, order_known=order_known, mean_variance=variance)
        for item, variance in measured
    ]
    drift_tests = [
        DriftTests.of(item, order_known=order_known, mean_variance=variance) for item, variance in measured
    ]
    differ = count_look("differ") if any(tests.is_testable for tests in difference_tests) else None
    drift = count_look("drift") if any(tests.tests() for tests in drift_tests) else None
    differ_alpha = ALPHA if differ is None else alpha_at_look(differ, ALPHA)
    drift_alpha = ALPHA if drift is None else alpha_at_look(drift, ALPHA)
    p_values = [tests.tests() for tests in drift_tests]
    drift_p = corrected(p_values)
    drift_level = drift_alpha / max(1, sum(map(len, drift_p)))
    scores = []
    for index, (differing, drifting, p_drift) in enumerate(
        zip(difference_answers(difference_tests, differ_alpha), drift_tests, drift_p, strict=True)
    ):
        answer = drifting.answer(p_drift, drift_alpha)
        course = course_of(drifting.series.means) if drifting.has_course else None
        scores.append(
            replace(
                differing,
                drifts=answer,
                direction=drifting.direction(p_drift, drift_alpha) if answer == "drift" else "",
                steps=drifting.step_tests(p_drift, drift_level, course),
                omissions=decisive_omissions(drifting, p_values[:index] + p_values[index + 1 :], drift_alpha),
                course=course,
            )
        )
    looks = Looks(
        differ=differ,
        differ_alpha=None if differ is None else differ_alpha,
        drift=drift,
        drift_alpha=None if drift is None else drift_alpha,
    )
    return tuple(scores), looks


@dataclass(frozen=True, slots=True)
class FurtherEvidence:
    """Adds to a score its agreement with human rankings, and the variance of repeated judgments."""

    store: Store
    runs: Sequence[Run]
    human: HumanValues | None

    def add(self, score: ScoreDrift, series: TestedSeries) -> ScoreDrift:
        """Return a score with its agreement with humans, and with the variance of repeated judgments."""
        return replace(
            score,
            human=human_agreements(series, self.runs, self.human),
            variance=self._with_judge_repeats(score.variance, series),
        )

    def _with_judge_repeats(
        self, variance: VarianceBySource | None, series: TestedSeries
    ) -> VarianceBySource | None:
        """Add the variance of repeated judgments of the newest checkpoint's answers, if there are any."""
        if variance is None or not series.score.has_judge_samples:
            return variance
        rows = self.store.rows(self.runs[-1:])
        repeats = judge_repeats(rows, series.score.id)
        return replace(variance, judge=repeats.variance, judge_unreadable=repeats.unreadable)


class JudgeRepeats(NamedTuple):
    """The variance of a score that is due to its judge."""

    variance: float | None
    """Variance of the score of one answer if the same answer is judged again; None if it is unknown."""
    unreadable: int = 0
    """Number of answers with a level of unknown value; without them, the variance would be too small."""


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
