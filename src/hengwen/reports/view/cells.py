"""One score at one checkpoint, as reports show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hengwen.results.comparability import UNKNOWN, ComparabilityKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.results.aggregate import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCell:
    """The mean of one score at one checkpoint, with its interval, counts and signatures."""

    mean: float | None
    ci: tuple[float, float] | None
    confidence: float
    """Confidence level of the interval, 0 to 1."""
    n: int
    prompts: int
    coverage: float | None
    failures: Mapping[str, int] = field(default_factory=dict)
    not_applicable: int = 0
    signatures: tuple[str, ...] = ()
    method: Literal["t", "bootstrap", "scorer", "none"] = "none"
    comparability: ComparabilityKey = UNKNOWN
    """What the sample of answers is."""

    @property
    def failed(self) -> int:
        """Number of failures of any status."""
        return sum(self.failures.values())


def cell_of(summary: Summary, comparability: ComparabilityKey = UNKNOWN) -> ScoreCell:
    """Return the cell of an aggregate; negative zeros become plain zeros.

    Examples:
        >>> from hengwen.results.aggregate import Summary
        >>> ends = {"interval": (-0.0, 0.5), "method": "t", "confidence": 0.95, "coverage": 1.0}
        >>> cell = cell_of(Summary(n=4, prompts=2, clusters=2, mean=-0.0, **ends))
        >>> cell.mean, cell.ci
        (0.0, (0.0, 0.5))
    """
    return ScoreCell(
        mean=None if summary.mean is None else summary.mean + 0.0,
        ci=None if summary.interval is None else (summary.interval[0] + 0.0, summary.interval[1] + 0.0),
        confidence=summary.confidence,
        n=summary.n,
        prompts=summary.prompts,
        coverage=summary.coverage,
        failures=dict(summary.failures),
        not_applicable=summary.not_applicable,
        signatures=summary.signatures,
        method=summary.method,
        comparability=comparability,
    )
