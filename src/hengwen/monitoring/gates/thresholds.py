"""Evaluate conditions that set a limit for a mean, for a coverage, or for a judge's agreement with people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError
from hengwen.monitoring.gates.certificates import stale_parts
from hengwen.monitoring.gates.missing_scores import run_coverage, with_coverages
from hengwen.monitoring.gates.results import TermResult, failures_text, nothing_scored
from hengwen.monitoring.gates.sample_size import MIN_CLUSTERS, PromptSample
from hengwen.results.aggregate import deciding_interval, prompt_values, range_of
from hengwen.results.coverage import MIN_COVERAGE

if TYPE_CHECKING:
    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.monitoring.gates.results import GateOutcome, Reason
    from hengwen.plans.gates import Operator, ThresholdTerm
    from hengwen.results.aggregate import Summary
    from hengwen.results.score_table import Column


CONFIDENCE = 0.95
"""Minimum confidence level of an interval that decides a condition. If the interval of a score of a group of
answers has a lower level, the condition is inconclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A score of the tested run, with its summary and the calibration of its judge."""

    column: Column
    summary: Summary
    calibration: Calibration | None

    @property
    def coverage(self) -> float:
        """The lower of two shares: of the prompts that have a score, and of the answers that have a score."""
        return self.summary.least_coverage


def decide(operator: Operator, interval: tuple[float, float], limit: float) -> GateOutcome:
    """Return whether an interval as a whole is on the right side of a limit."""
    low, high = interval
    if operator == ">=":
        holds, fails = low >= limit, high < limit
    elif operator == ">":
        holds, fails = low > limit, high <= limit
    elif operator == "<=":
        holds, fails = high <= limit, low > limit
    else:
        holds, fails = high < limit, low >= limit
    return "passed" if holds else "failed" if fails else "inconclusive"


def threshold_result(term: ThresholdTerm, measured: Measured, checkpoint: str) -> TermResult:
    """Evaluate a condition with a limit; for a mean or an agreement, the confidence interval decides."""
    summary = measured.summary
    if summary.mean is None:
        return nothing_scored(term.text, term.measure, summary)
    if term.measure == "calibration":
        return _agreement_result(term, measured)
    coverage = run_coverage(checkpoint, term.address, summary)
    if term.measure == "coverage":
        share = measured.coverage
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
    return with_coverages(_score_result(term, measured), [coverage])


def _score_result(term: ThresholdTerm, measured: Measured) -> TermResult:
    summary, limit = measured.summary, term.threshold
    scale, interval, mean = summary.scale, summary.interval, summary.mean
    if summary.method == "t":
        interval = deciding_interval(measured.column, confidence=summary.confidence)
    assert mean is not None  # something is scored
    if scale is not None and not scale.low <= limit <= scale.high:
        raise ConfigError(
            f"{term.text!r}: {limit:g} is outside the scale of the score, {scale.low:g} to {scale.high:g}"
        )
    outcome: GateOutcome = "inconclusive"
    reason: Reason = "low coverage" if measured.coverage < MIN_COVERAGE else "no interval"
    needed = None
    if reason == "no interval" and interval is not None and summary.confidence < CONFIDENCE:
        reason = "low confidence"
    elif reason == "no interval" and interval is not None:
        outcome = decide(term.operator, interval, limit)
        reason = "too uncertain" if outcome == "inconclusive" else ""
        needed = _needed_prompts(measured, limit) if reason else None
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


def _needed_prompts(measured: Measured, limit: float) -> int | None:
    """Return the number of prompts that usually decide a condition if the run's mean is the true mean."""
    column, summary = measured.column, measured.summary
    if summary.clusters < MIN_CLUSTERS or summary.mean is None:
        return None
    sample = PromptSample.of(*prompt_values(column), range_of(column) or ())
    sign = 1 if summary.mean >= limit else -1
    return sample.needed_prompts(lambda mean: sign * (mean - limit), (1 - summary.confidence) / 2)


def _agreement_result(term: ThresholdTerm, measured: Measured) -> TermResult:
    calibration = measured.calibration
    stale = [] if calibration is None else stale_parts(calibration, measured.column)
    agreement = None if calibration is None else calibration.agreement
    kappa = None if calibration is None else calibration.kappa
    if calibration is None or stale:
        return TermResult(
            text=term.text,
            kind="calibration",
            outcome="inconclusive",
            reason="stale calibration" if stale else "no calibration",
            detail="; ".join(stale),
        )
    if agreement is None or kappa is None or kappa.value is None or kappa.low is None or kappa.high is None:
        return TermResult(
            text=term.text,
            kind="calibration",
            outcome="inconclusive",
            reason="undefined agreement",
            detail=", ".join(reason.code for reason in calibration.reasons),
            prompts=0 if agreement is None else agreement.n,
        )
    outcome = decide(term.operator, (kappa.low, kappa.high), term.threshold)
    return TermResult(
        text=term.text,
        kind="calibration",
        outcome=outcome,
        reason="too uncertain" if outcome == "inconclusive" else "",
        value=kappa.value,
        interval=(kappa.low, kappa.high),
        limit=term.threshold,
        confidence=calibration.level,
        prompts=agreement.n,
    )
