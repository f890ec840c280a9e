"""Find the scores that a run lacks for some of its prompts or answers, or for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hengwen.monitoring.gates.baselines import TestedRun
from hengwen.monitoring.gates.results import GateOutcome, RunCoverage, TermResult, worst
from hengwen.monitoring.tested_scores import Family, tested_scores
from hengwen.plans.gates import matching
from hengwen.records import Run
from hengwen.results.aggregate import Summary
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.score_summaries import ScoreSummaries


def run_coverage(checkpoint: str, address: str, summary: Summary, prompts: int | None = None) -> RunCoverage:
    """Return the shares of a run's prompts (of at least ``prompts``) and answers that have a score."""
    expected = max(prompts or 0, summary.prompts_expected or 0)
    share = summary.prompts / expected if expected else 0.0
    answers = summary.coverage
    return RunCoverage(checkpoint, address, share, share if answers is None else answers, summary.bounds)


def pair_coverage(
    labels: Sequence[str], address: str, before: Summary, after: Summary
) -> tuple[RunCoverage, RunCoverage]:
    """Return the coverage of two runs that should have the same prompts."""
    prompts = max(before.prompts_expected or 0, after.prompts_expected or 0)
    first, second = (
        run_coverage(label, address, summary, prompts)
        for label, summary in zip(labels, (before, after), strict=True)
    )
    return first, second


def with_coverages(result: TermResult, coverages: Sequence[RunCoverage]) -> TermResult:
    """Return a result with the lowest shares, and with the runs that have too few scores for a verdict."""
    return replace(
        result,
        prompt_coverage=min(item.prompts for item in coverages),
        answer_coverage=min(item.answers for item in coverages),
        missing=tuple(item for item in coverages if item.least < MIN_COVERAGE),
    )


def select_scores(pattern: str, scores: list[tuple[Family, ScoreSummaries]]) -> list[ScoreSummaries]:
    """The matching scores of a report's summary (headline scores); without any, all matching scores."""
    views = {view.address: (family, view) for family, view in scores}
    matches = [views[address] for address in matching(pattern, views)]
    headline = [view for family, view in matches if family == "headline"]
    return headline or [view for _, view in matches]


def removed_scores(pattern: str, baseline: Run, tested: TestedRun) -> list[str]:
    """Return the addresses of the matching scores that the baseline has, but the tested run does not."""

    def is_lost(address: str) -> bool:
        summary = tested.summaries.get(address)
        return address not in tested.run.score_order if summary is None else summary.coverage is None

    names = {item for item in baseline.score_order if is_lost(item)}
    if not matching(pattern, names):
        return []
    table = tested.store.table([baseline])
    scored = {key.address for key, column in table.series.items() if column.has_scores}
    selected = select_scores(pattern, tested_scores((baseline,), table))
    return [view.address for view in selected if view.address in names & scored]


def without_removed(result: TermResult, removed: Sequence[str], run: Run) -> TermResult:
    """Return a result that is inconclusive instead of passed if the run lacks scores of the baseline."""
    if not removed:
        return result
    outcomes: tuple[GateOutcome, GateOutcome] = (result.enforced or "passed", "inconclusive")
    outcome = worst((result.outcome, "inconclusive"))
    detail = "; ".join(filter(None, (result.detail, f"{run.checkpoint} has no score {', '.join(removed)}")))
    return replace(
        result,
        outcome=outcome,
        enforced=worst(outcomes),
        reason=result.reason or ("not comparable" if outcome == "inconclusive" else ""),
        detail=detail,
    )
