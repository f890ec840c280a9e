"""Evaluate conditions that set a limit for a mean, for a coverage, or for a judge's agreement with people."""

from __future__ import annotations

from dataclasses import replace

from hengwen.errors import ConfigError
from hengwen.judges.calibration.certify import Calibration
from hengwen.monitoring.gates.baselines import TestedRun, stale_parts
from hengwen.monitoring.gates.comparisons import MIN_CLUSTERS, PromptSample
from hengwen.monitoring.gates.missing_scores import run_coverage, with_coverages
from hengwen.monitoring.gates.results import GateOutcome, Reason, TermResult, failures_text, nothing_scored
from hengwen.plans.gates import Operator, ThresholdTerm
from hengwen.results.aggregate import Summary, deciding_interval, prompt_values, range_of
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.score_table import Column

CONFIDENCE = 0.95
"""Minimum confidence level of an interval that decides a condition. If the interval of a score of a group of
answers has a lower level, the condition is inconclusive."""


def decide(operator: Operator, interval: tuple[float, float], limit: float) -> GateOutcome:
    """Return whether an interval as a whole is on the right side of a limit."""
    low, high = interval
    if operator in ("<=", "<"):
        low, high, limit = -high, -low, -limit
    holds, fails = (low >= limit, high < limit) if "=" in operator else (low > limit, high <= limit)
    return "passed" if holds else "failed" if fails else "inconclusive"


def threshold_result(term: ThresholdTerm, tested: TestedRun) -> TermResult:
    """Evaluate a condition with a limit; for a mean or an agreement, the confidence interval decides."""
    summary, column = tested.summaries[term.address], tested.column(term.address)
    if summary.mean is None:
        return nothing_scored(term.text, term.measure, summary)
    if term.measure == "calibration":
        return _agreement_result(term, tested.calibrations.get(term.address), column)
    coverage = run_coverage(tested.run.checkpoint, term.address, summary)
    if term.measure == "coverage":
        share = summary.least_coverage
        result = TermResult(
            text=term.text,
            kind="coverage",
            outcome=decide(term.operator, (share, share), term.threshold),
            value=share,
            limit=term.threshold,
            prompts=summary.prompts,
            clusters=summary.clusters,
        )
        return with_coverages(result, [coverage])
    return with_coverages(_score_result(term, summary, column), [coverage])


def _score_result(term: ThresholdTerm, summary: Summary, column: Column) -> TermResult:
    limit = term.threshold
    scale, interval, mean = summary.scale, summary.interval, summary.mean
    if summary.method == "t":
        interval = deciding_interval(column, confidence=summary.confidence)
    assert mean is not None  # something is scored
    if scale is not None and not scale.low <= limit <= scale.high:
        raise ConfigError(
            f"{term.text!r}: {limit:g} is outside the scale of the score, {scale.low:g} to {scale.high:g}"
        )
    outcome: GateOutcome = "inconclusive"
    reason: Reason = "low coverage" if summary.least_coverage < MIN_COVERAGE else "no interval"
    needed = None
    if reason == "no interval" and interval is not None and summary.confidence < CONFIDENCE:
        reason = "low confidence"
    elif reason == "no interval" and interval is not None:
        outcome = decide(term.operator, interval, limit)
        reason = "too uncertain" if outcome == "inconclusive" else ""
        needed = _needed_prompts(summary, column, limit) if reason else None
    return TermResult(
        text=term.text,
        kind="score",
        outcome=outcome,
        reason=reason,
        detail=failures_text(summary) if reason == "low coverage" else "",
        failures=summary.failures if reason == "low coverage" else {},
        value=mean,
        interval=interval,
        limit=limit,
        confidence=summary.confidence,
        prompts=summary.prompts,
        clusters=summary.clusters,
        scale=scale,
        needed_prompts=needed,
    )


def _needed_prompts(summary: Summary, column: Column, limit: float) -> int | None:
    """Return the number of prompts that usually decide a condition if the run's mean is the true mean."""
    if summary.clusters < MIN_CLUSTERS or summary.mean is None:
        return None
    sample = PromptSample.of(*prompt_values(column), range_of(column) or ())
    sign = 1 if summary.mean >= limit else -1
    return sample.needed_prompts(lambda mean: sign * (mean - limit), (1 - summary.confidence) / 2)


def _agreement_result(term: ThresholdTerm, calibration: Calibration | None, column: Column) -> TermResult:
    result = TermResult(text=term.text, kind="calibration")
    if calibration is None:
        return replace(result, reason="no calibration")
    stale, agreement, kappa = stale_parts(calibration, column), calibration.agreement, calibration.kappa
    if stale:
        return replace(result, reason="stale calibration", detail="; ".join(stale))
    if agreement is None or kappa is None or kappa.value is None or kappa.low is None or kappa.high is None:
        return replace(
            result,
            reason="undefined agreement",
            detail=", ".join(reason.code for reason in calibration.reasons),
            prompts=0 if agreement is None else agreement.n,
        )
    outcome = decide(term.operator, (kappa.low, kappa.high), term.threshold)
    return replace(
        result,
        outcome=outcome,
        reason="too uncertain" if outcome == "inconclusive" else "",
        value=kappa.value,
        interval=(kappa.low, kappa.high),
        limit=term.threshold,
        confidence=calibration.level,
        prompts=agreement.n,
    )
