"""``drift_report``: do the checkpoints of a plan differ, and is the difference larger than usual?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.errors import ConfigError
from hengwen.monitoring.drift.answers import DriftTests, corrected, course_of, decisive_omissions
from hengwen.monitoring.drift.collect import collect_scores, decision_of
from hengwen.monitoring.drift.differences import DifferenceTests, difference_answers
from hengwen.monitoring.drift.human_agreement import HumanValues, human_agreements, read_human_values
from hengwen.monitoring.drift.score_drift import DriftReport, Looks, ScoreDrift
from hengwen.monitoring.drift.series import TestedSeries
from hengwen.monitoring.judge_trust import judge_trust
from hengwen.monitoring.tested_scores import compare_groups
from hengwen.records import Row, Run, Score
from hengwen.results.comparability import RunOrder, run_labels, training_order
from hengwen.results.comparisons import ALPHA, ComparisonVerdict
from hengwen.score_id import ScoreId
from hengwen.stats.checkpoints import VarianceBySource
from hengwen.stats.power import alpha_at_look
from hengwen.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def drift_report(
    store: Store,
    runs: Sequence[str | Run] = (),
    *,
    plan: str | None = None,
    baseline: str | Run | None = None,
    scores: Sequence[str] = (),
    human: str | Path | None = None,
) -> DriftReport:
    """Answer two questions for each tested score: do checkpoints differ, and does the score drift?

    First: do these checkpoints differ on prompts like these? All pairs of checkpoints and all scores are
    tested as one family by joint sign flips; the newest checkpoint is also compared with the mean of several
    earlier ones, by exchanging values within prompts. Second: is a difference more
    than checkpoints usually move? Two tests decide: a test of the slope of the means over the checkpoints,
    which allows for neighbours that move together, and a test of the newest mean against the means before
    it; Holm's method corrects their p-values for all scores. For both questions, the significance
    level falls with every run that is tested against the same baseline, so that a false alarm in any of these
    tests has a probability of at most 5 %, if checkpoints scatter independently.

    Args:
        store: Holds the runs. Unless the store is read-only, it also records that the newest run was tested
            against the baseline.
        runs: Run ids, prefixes of ids, or names of checkpoints, each of which means its newest run; default:
            the newest run of each checkpoint of the plan.
        plan: Name of the plan of the runs; default: the plan of the newest run.
        baseline: The first run that is tested, named in the same way as ``runs``; default: the pinned run of
            the plan, otherwise the first checkpoint. Earlier checkpoints are left out.
        scores: Addresses (``TASK/SCORE``) of the only scores to test; default: the scores of a report's
            summary (headline scores).
        human: A file with values that people gave checkpoints, prompts or answers; default: the human labels
            in the store.

    Returns:
        The report, with one record for each score; ``differs`` and ``drifts`` of a record are the two
        answers.

    Raises:
        ConfigError: There is no run, or a run or a score does not exist.
        DataError: The file of human values is malformed.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import drift_report, open_store, run_plan
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        ...     report = drift_report(store, scores=["persona/persona_generic.level"])
        >>> (score,) = report.scores
        >>> score.differs, score.drifts
        ('differ', 'cannot be told from the usual movement')
        >>> round(score.difference.difference, 3), round(score.steps.independent.p, 3)
        (-0.333, 0.429)
    """
    human_values = None if human is None else read_human_values(Path(human))
    chosen, base = _chosen_runs(store, runs, plan, baseline)
    order = training_order(chosen)
    names = {run.id: label for run, label in zip(order.runs, run_labels(order.runs), strict=True)}
    tested, before = _from_baseline(order, base)
    labels = tuple(names[run.id] for run in tested)
    collected, others = collect_scores(store, tested, labels, scores)
    first_run, newest = tested[0], tested[-1]

    def count_look(question: str) -> int:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return store.count_look(f"{question}:{first_run.id}", newest, now)

    series = [TestedSeries.of(score) for score in collected]
    answered, looks = answer_scores(series, order_known=not order.problem, count_look=count_look)
    used = {score.address for score in answered}
    groups = () if order.problem else compare_groups(store, tested, used=used)
    evidence = FurtherEvidence(store, tested, human_values)
    decision = decision_of(collected, tested, order.problem, groups)
    newest_verdicts = {score.address: score.newest for score in decision.scores}
    return DriftReport(
        runs=tested,
        labels=labels,
        pinned=base is not None,
        before_baseline=tuple(names[run.id] for run in before),
        order_problem=order.problem,
        looks=looks,
        decision=decision,
        scores=tuple(
            _as_in_report(evidence.add(score, item), newest_verdicts.get(score.address))
            for score, item in zip(answered, series, strict=True)
        ),
        other_scores=others,
        other_prompts=() if runs else run_labels(store.left_out(plan)),
        unchecked=tuple(label for label, run in zip(labels, tested, strict=True) if not run.facts),
        groups=groups,
        judges=judge_trust(store, tested, used=used),
        empty=store.empty_answers(tested, labels),
    )


def _as_in_report(score: ScoreDrift, newest: ComparisonVerdict | None) -> ScoreDrift:
    """Return a score without a difference with the report's verdict: could one have been seen?"""
    if score.differs not in ("no difference seen", "too few prompts"):
        return score
    if newest not in ("no difference seen", "too few"):
        return score
    return replace(score, differs="too few prompts" if newest == "too few" else "no difference seen")


def _from_baseline(order: RunOrder, base: Run | None) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Return the runs from the baseline on, and those before it (none if the training order is unknown)."""
    if base is None:
        return order.runs, ()
    start = [run.id for run in order.runs].index(base.id)
    if not order.problem:
        return order.runs[start:], order.runs[:start]
    return (base, *order.runs[:start], *order.runs[start + 1 :]), ()


def _chosen_runs(
    store: Store, names: Sequence[str | Run], plan: str | None, baseline: str | Run | None
) -> tuple[list[Run], Run | None]:
    """Return the runs of the report, and the baseline if it is named or pinned."""
    if names:
        runs = list({run.id: run for run in (store.find(name, plan) for name in names)}.values())
    else:
        runs = store.latest(plan)
    if not runs:
        of_plan = "" if plan is None else f" of plan {plan!r}"
        raise ConfigError(f"no runs{of_plan} in {store.name}; see: hengwen run")
    plans = sorted({run.plan for run in runs})
    if len(plans) > 1:
        raise ConfigError(f"the runs belong to several plans: {', '.join(plans)}; name runs of one plan")
    if baseline is not None:
        base = store.find(baseline, runs[0].plan)
    else:
        pinned = store.baseline(runs[0].plan)
        if pinned is None or (names and pinned.id not in {run.id for run in runs}):
            return runs, None
        base = pinned
    if base.id in {run.id for run in runs}:
        return runs, base
    others = runs if names else [run for run in runs if run.checkpoint != base.checkpoint]
    return [*others, base], base
