"""Split the variance of scores by source: prompts, checkpoints, their interaction, repeats, judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceBySource:
    """Variance of the score of one answer, split by source; negative estimates of a part are set to 0."""

    prompt: float
    """Variance of the true means of prompts: some prompts are harder than others."""
    checkpoint: float
    """Variance of the true means of checkpoints on these prompts: scores change over training."""
    interaction: float
    """Variance of the interaction of prompt and checkpoint: how much the changes of the scores differ between
    prompts. If no prompt has several repeats, ``interaction`` includes the variance of the repeats."""
    repeat: float | None
    """Variance of the repeats of one prompt at one checkpoint; None if no prompt has several repeats. This
    variance includes ``judge``, the part that comes from the judge."""
    judge: float | None = None
    """The part of ``repeat`` that comes from the judge: the variance of a single judgment, divided by the
    number of judgments whose mean is the score. None if no answer was judged several times, or if the value
    of a level that the judge gave is unknown."""
    judge_unreadable: int = 0
    """Number of answers with a judge's level whose value cannot be computed from the stored scores. If this
    number is above 0, ``judge`` is None."""
    prompts: int
    """Number of prompts with a value at every checkpoint, from which the estimates come."""
    checkpoints: int


def variance_by_source(
    values: ArrayLike, repeats: ArrayLike, repeat_variance: float | None = None
) -> VarianceBySource | None:
    """Return how much of the variance of a score comes from prompts, checkpoints, interaction and repeats."""
    table, counts = np.asarray(values, np.float64), np.asarray(repeats, np.float64)
    complete = ~np.isnan(table).any(axis=1)
    cells = table[complete]
    prompts, checkpoints = cells.shape
    if prompts < 2 or checkpoints < 2:
        return None
    by_prompt, by_checkpoint = cells.mean(axis=1), cells.mean(axis=0)
    residuals = cells - by_prompt[:, None] - by_checkpoint + cells.mean()
    error = float(np.square(residuals).sum()) / ((prompts - 1) * (checkpoints - 1))
    noise = 0.0 if repeat_variance is None else repeat_variance * float((1 / counts[complete]).mean())
    return VarianceBySource(
        prompt=max(0.0, float(by_prompt.var(ddof=1)) - error / checkpoints),
        checkpoint=max(0.0, float(by_checkpoint.var(ddof=1)) - error / prompts),
        interaction=max(0.0, error - noise),
        repeat=repeat_variance,
        prompts=prompts,
        checkpoints=checkpoints,
    )
