"""Rank prompts by their change from the baseline to the newest checkpoint, corrected for noise (shrunken)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.score_drift import PromptChange
from hengwen.stats.checkpoints.shrunken_changes import shrink_changes

if TYPE_CHECKING:
    from hengwen.monitoring.drift.difference import PromptDifferences

MAX_PROMPTS = 5
"""Maximum number of listed prompts with a rise, and also of listed prompts with a fall."""
_ROUNDING = 1e-9


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
