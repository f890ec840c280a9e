"""The comparison of two checkpoints by a score of a whole set of answers, such as diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hengwen.records import Scale
from hengwen.results.comparisons import ALPHA, Comparison
from hengwen.stats.exchange import ExchangeTest
from hengwen.stats.paired import PairedTest

GroupVerdict = Literal["better", "worse", "no difference seen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison:
    """A score of a whole set of answers, compared between two checkpoints at equal numbers of tokens."""

    address: str
    earlier: int
    """Index of the earlier run."""
    later: int
    values: tuple[float | None, float | None]
    """Stored values of the earlier and the later run."""
    scale: Scale | None
    test: ExchangeTest
    """Test of the answers to common prompts, each cut to the tokens that both runs have."""
    p_adjusted: float = 1.0
    """p-value corrected by Holm's method for all tested pairs of all scores of whole sets."""

    @property
    def verdict(self) -> GroupVerdict:
        """Verdict on the later checkpoint."""
        if self.p_adjusted > ALPHA:
            return "no difference seen"
        higher_is_better = self.scale is None or self.scale.higher_is_better
        return "better" if (self.test.difference > 0) == higher_is_better else "worse"

    @property
    def comparison(self) -> Comparison:
        """The same as the comparison of a score with values of single prompts, without intervals."""
        test = PairedTest(
            difference=self.test.difference,
            p=self.test.p,
            prompts=self.test.units,
            clusters=self.test.units,
            error=self.test.error,
        )
        return Comparison(
            address=self.address,
            earlier=self.earlier,
            later=self.later,
            test=test,
            p_adjusted=self.p_adjusted,
            verdict=self.verdict,
        )
