"""The first question of a drift report: differences between checkpoints, and prompts that changed most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.score_drift import PromptChange
from hengwen.stats.checkpoints import shrink_changes
from hengwen.stats.difference_interval import difference_interval, effect_sizes
from hengwen.stats.exchange import draws_for, exchange_test
from hengwen.stats.paired import sign_flip_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hengwen.monitoring.drift.series import TestedSeries
    from hengwen.stats.difference_interval import DifferenceInterval, EffectSizes
    from hengwen.stats.paired import PairedTest

    Floats = NDArray[np.float64]

MAX_PROMPTS = 5
"""Maximum number of listed prompts with a rise, and also of listed prompts with a fall."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDifferences:
    """The values of the common prompts at the baseline and at the newest checkpoint, with their test."""

    prompts: tuple[str, ...]
    before: Floats
    """Value of each prompt, averaged over the checkpoints of the baseline."""
    after: Floats
    repeats: Floats
    """For each prompt, the harmonic mean of two numbers of repeats: at the checkpoints of the baseline
    together, and at the newest checkpoint."""
    test: PairedTest
    interval: DifferenceInterval
    effects: EffectSizes
    subsampled: int
    clusters: tuple[str, ...]
    """The cluster of each prompt."""
    table: Floats
    """Value of each prompt (row) at the checkpoints of the baseline and, last, at the newest."""
    exchanged: dict[int, float] = field(default_factory=dict)
    """p-values of ``exchange_p``, by their numbers of draws."""

    def exchange_p(self, alpha: float) -> float:
        """Return the p-value of the newest checkpoint against several, by exchanging values."""
        draws = draws_for(alpha)
        if draws not in self.exchanged:
            values = self.table[~np.isnan(self.table)]
            is_pass_or_fail = bool(((values == 0) | (values == 1)).all())
            p = exchange_test(self.table, self.clusters, alpha=alpha, plain=is_pass_or_fail)
            self.exchanged[draws] = p
        return self.exchanged[draws]


def prompt_differences(series: TestedSeries, baseline: Sequence[int]) -> PromptDifferences | None:
    """Compare the newest checkpoint with the baseline, prompt by prompt."""
    columns = [*baseline, series.checkpoints - 1]
    counts = series.counts[:, columns]
    common = (counts[:, -1] > 0) & (counts[:, :-1] > 0).any(axis=1)
    if not common.any():
        return None
    limits = np.where(counts == 0, np.iinfo(np.int64).max, counts).min(axis=1)
    table = series.matrix.means(limits, [series.included[column] for column in columns])[common]
    scored = ~np.isnan(table[:, :-1])
    before = np.where(scored, table[:, :-1], 0.0).sum(axis=1) / scored.sum(axis=1)
    after = table[:, -1]
    rounding = 1e-12 * float(np.abs(after).max())
    before = np.where(np.abs(after - before) <= rounding, after, before)
    names = [name for name, kept in zip(series.matrix.prompts, common, strict=True) if kept]
    clusters = [name for name, kept in zip(series.matrix.clusters, common, strict=True) if kept]
    scale = series.score.scale
    fewest = limits[common]
    return PromptDifferences(
        prompts=tuple(names),
        before=before,
        after=after,
        repeats=2 * fewest / (1 + 1 / scored.sum(axis=1)),  # each baseline checkpoint has ``fewest``
        test=sign_flip_test(before, after, clusters),
        interval=difference_interval(
            after - before,
            clusters,
            scale=None if scale is None else (scale.low, scale.high),
            continuous=scale is None or not scale.discrete,
        ),
        effects=effect_sizes(before, after, higher_is_better=series.matrix.higher_is_better),
        clusters=tuple(clusters),
        table=table,
        subsampled=int(((counts > limits[:, None]) & (counts > 0)).any(axis=1)[common].sum()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedChanges:
    """Prompts with the largest changes."""

    changes: tuple[PromptChange, ...]
    """Changes of the prompts, the largest rise first. Empty if all changes are equal, or if they vary no more
    than the repeats of one prompt."""
    prompts_vary: bool
    shrunken: bool
    """Whether the changes are shrunken (drawn towards the mean change), which needs prompts with several
    repeats."""


def rank_changes(differences: PromptDifferences, repeat_variance: float | None) -> RankedChanges:
    """Return up to 5 prompts with the largest rise and up to 5 with the largest fall."""
    changes = differences.after - differences.before
    estimates, prompts_vary = changes, bool(np.ptp(changes) > _ROUNDING * np.abs(changes).max())
    if repeat_variance is not None:
        result = shrink_changes(changes, 2 * repeat_variance / differences.repeats)
        estimates, prompts_vary = np.array(result.changes), result.true_variance > 0
    if not prompts_vary:
        return RankedChanges(changes=(), prompts_vary=False, shrunken=repeat_variance is not None)
    order = np.argsort(-estimates, kind="stable")
    rises = [index for index in order if estimates[index] > 0][:MAX_PROMPTS]
    falls = [index for index in order if estimates[index] < 0][-MAX_PROMPTS:]
    return RankedChanges(
        changes=tuple(
            PromptChange(
                prompt=differences.prompts[index],
                change=float(changes[index]),
                shrunken=float(estimates[index]),
            )
            for index in (*rises, *falls)
        ),
        prompts_vary=True,
        shrunken=repeat_variance is not None,
    )
