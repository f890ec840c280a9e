"""Evaluate ``no_drift``: does a score get worse by more than it usually changes between checkpoints?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.monitoring.drift.drift_report import drift_report
from hengwen.monitoring.gates.missing_scores import (
    removed_scores,
    select_scores,
    without_removed,
)
from hengwen.monitoring.gates.results import TermResult, nothing_scored, worst
from hengwen.monitoring.tested_scores import tested_scores
from hengwen.plans.gates import DEFAULT_BASELINE
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.run_order import training_order
from hengwen.stats.checkpoints import MIN_CORRELATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.drift.score_drift import DriftAnswer, DriftReport, LeftOut, ScoreDrift
    from hengwen.monitoring.gates.baselines import Baselines
    from hengwen.monitoring.gates.results import GateOutcome, Reason
    from hengwen.monitoring.gates.tested_run import TestedRun
    from hengwen.plans.gates import NoDriftTerm
    from hengwen.records import Run
    from hengwen.store import Store

REASONS: Mapping[DriftAnswer, Reason] = {
    "not comparable": "not comparable",
    "missing scores": "low coverage",
    "order unknown": "order unknown",
    "one checkpoint": "too few checkpoints",
    "cannot be told from the usual movement": "too few checkpoints",
}
"""For each answer of a drift report that makes ``no_drift`` inconclusive, the reason to give. If scores have
different answers, the answer that comes first in this mapping gives the reason."""


def no_drift_result(term: NoDriftTerm, baselines: Baselines, tested: TestedRun) -> TermResult:
    """Evaluate a ``no_drift`` condition; the checkpoints start at ``--baseline`` or at the pinned run."""
    run, store = tested.run, tested.store
    unscored = tested.unscored(term.pattern)
    if unscored:
        return nothing_scored(term.text, "no_drift", None, addresses=unscored)
    scores = [
        (family, view)
        for family, view in tested_scores((run,), tested.table)
        if (summary := tested.summaries.get(view.address)) is not None
        and summary.coverage is not None
        and not (summary.mean is not None and summary.clusters == 0)  # a score of a group of answers
    ]
    selected = [view.address for view in select_scores(term.pattern, scores)]
    for address in selected:
        if tested.summaries[address].mean is None:
            return nothing_scored(term.text, "no_drift", tested.summaries[address])
    result = TermResult(text=term.text, kind="no_drift")
    if not selected:
        return replace(result, reason="no values by prompt")
    baseline = baselines.find(DEFAULT_BASELINE)
    result = replace(result, baseline=baseline)
    if baseline is not None and baseline.id == run.id:
        return replace(result, enforced="inconclusive", reason="own baseline")
    runs = _runs_up_to(store, run, baseline)
    if baseline is not None and baseline not in runs:
        return replace(
            result,
            reason="not comparable",
            detail=f"{baseline.checkpoint} ({baseline.id}) is not an earlier checkpoint than "
            f"{run.checkpoint} ({run.id})",
        )
    report = drift_report(
        store,
        [item.id for item in runs],
        plan=run.plan,
        baseline=None if baseline is None else baseline.id,
        scores=selected,
    )
    first = baseline or report.runs[0]
    return without_removed(
        _from_report(result, report, tested), removed_scores(term.pattern, first, tested), run
    )


def _runs_up_to(store: Store, run: Run, baseline: Run | None) -> list[Run]:
    """Return the newest run of each checkpoint, from the first in training order to the tested run."""
    newest = {item.checkpoint: item for item in store.latest(run.plan)}
    if baseline is not None:
        newest[baseline.checkpoint] = baseline
    newest[run.checkpoint] = run
    order = training_order(list(newest.values()))
    if order.problem:
        return list(order.runs)
    return list(order.runs[: order.runs.index(run) + 1])


def _from_report(result: TermResult, report: DriftReport, tested: TestedRun) -> TermResult:
    scores = tuple(without_baseline(_without_incomplete(score, tested), report) for score in report.scores)
    outcomes = [drift_outcome(score) for score in scores]
    enforced = [
        outcome for outcome, score in zip(outcomes, scores, strict=True) if tested.is_certified(score.address)
    ]
    answers = {score.drifts for score in scores}
    reason: Reason = ""
    if worst(outcomes) == "inconclusive":
        reason = next(text for answer, text in REASONS.items() if answer in answers)
    if reason == "too few checkpoints" and all(
        len(score.means) >= MIN_CORRELATED for score in scores if score.drifts in REASONS
    ):
        reason = "usual movement unknown"
    means = [mean for score in scores for mean in score.means]
    return replace(
        result,
        outcome=worst(outcomes),
        enforced=worst(enforced) if enforced else None,
        reason=reason,
        detail=report.order_problem or baseline_problems(scores, report),
        prompts=min((mean.prompts for mean in means), default=0),
        prompt_coverage=min((mean.coverage for mean in means), default=0.0),
        answer_coverage=min((mean.answer_coverage for mean in means), default=0.0),
        p=min((p for score in scores for p in corrected_p_values(score)), default=None),
        level=report.looks.drift_alpha,
        look=report.looks.drift,
        baseline=report.baseline,
        drifts=scores,
    )


def _without_incomplete(score: ScoreDrift, tested: TestedRun) -> ScoreDrift:
    """Return the result of a score; ``drifts`` becomes ``missing scores`` if scores are missing."""
    summary = tested.summaries.get(score.address)
    prompts = [mean.prompts for mean in score.means]
    if (summary is None or summary.is_covered) and (
        not prompts or prompts[-1] >= MIN_COVERAGE * max(prompts)
    ):
        return score
    return replace(score, drifts="missing scores")


def without_baseline(score: ScoreDrift, report: DriftReport) -> ScoreDrift:
    """Return the result of a score, inconclusive instead of passed if its tests leave out the baseline."""
    left_out = baseline_left_out(score, report)
    if left_out is None or drift_outcome(score) != "passed":
        return score
    return replace(score, drifts="missing scores" if left_out.problem == "coverage" else "not comparable")


def baseline_left_out(score: ScoreDrift, report: DriftReport) -> LeftOut | None:
    """Return why the tests of a score leave out the named or pinned baseline; None if they do not."""
    if not report.pinned:
        return None
    return next((item for item in score.left_out if item.checkpoint == report.labels[0]), None)


def baseline_problems(scores: Sequence[ScoreDrift], report: DriftReport) -> str:
    """Return for which scores the tests leave out the named or pinned baseline, and why."""
    problems = [(score.address, baseline_left_out(score, report)) for score in scores]
    return "; ".join(
        f"{address} of {item.checkpoint}: {item.detail or item.problem}" for address, item in problems if item
    )


def drift_outcome(score: ScoreDrift) -> GateOutcome:
    """Return the outcome of ``no_drift`` for one score; a drift only passes if it is for the better."""
    if score.drifts == "drift":
        return "passed" if score.direction == "better" else "failed"
    return "passed" if score.drifts == "no change beyond the usual movement seen" else "inconclusive"


def corrected_p_values(score: ScoreDrift) -> list[float]:
    """Return the corrected p-values of the two tests for drift: of the slope and of the newest checkpoint."""
    steps = score.steps
    p_values = () if steps is None else (steps.slope_p_adjusted, steps.newest_p_adjusted)
    return [p for p in p_values if p is not None]
