"""Find judges with a common taste: they favour the same models so much that no single ranking explains it.

Battles cannot tell which judges are right, so such a group is reported, not corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.peer_review.verdicts import Verdicts
from hengwen.stats.rankings.pair_models import table_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

TasteCode = Literal["clique", "common taste"]
"""Codes of the notes about a group of judges; the judges of a clique favour one another's answers."""
MIN_SIMILARITY = 0.5
"""Two judges are linked only if the cosine of their z-values is above this. A judge has one z-value for each
model: how much more it favours the model than ``judge-bt`` expects, standardised. Linked judges, directly or
through others, form a group with a common taste."""
MIN_Z = 4.0
"""For each model, multiply the z-values of two judges (how much more each favours the model than ``judge-bt``
expects, standardised). The judges are linked into a group with a common taste only if the sum of these
products, divided by the square root of the number of models, is above this."""
MIN_RESIDUAL = 0.04
"""Minimum bias of a judge, for or against at least one model, to have a common taste with other judges. The
bias is the model's mean outcome (1 for a win, 0.5 for a tie) in the judge's verdicts, minus the mean outcome
that ``judge-bt`` expects; its sign is ignored."""
MIN_FAVOUR_Z = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Taste:
    """A group of judges that favour the same models so much that no single ranking explains it."""

    judges: tuple[int, ...]
    favoured: tuple[int, ...]
    """Indices of the models that these judges prefer more often than the ranking by all judges explains, the
    most favoured first."""
    residual: float
    """Largest bias of these judges for or against a model, as an absolute value. The bias is the model's mean
    outcome (1 for a win, 0.5 for a tie) in a judge's verdicts, minus the mean outcome that ``judge-bt``
    expects; it is averaged over the judges."""
    favours_itself: bool
    """Whether the judges of the group favour the answers of the other judges of the group."""

    @property
    def code(self) -> TasteCode:
        """Code of the note that names the group."""
        return "clique" if self.favours_itself else "common taste"


def common_tastes(
    verdicts: Verdicts, residuals: NDArray[np.float64], judge_models: NDArray[np.intp], models: int
) -> list[Taste]:
    """Return the groups of judges with a common taste, the largest group first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    judges = len(judge_models)
    mean, z = _by_judge_and_model(verdicts, residuals, judges, models)
    length = np.sqrt((z**2).sum(axis=1))
    product = z @ z.T
    similarity = product / np.maximum(np.outer(length, length), 1e-12)
    strong = np.abs(mean).max(axis=1, initial=0) >= MIN_RESIDUAL
    linked = (similarity > MIN_SIMILARITY) & (product > MIN_Z * np.sqrt(models)) & np.outer(strong, strong)
    np.fill_diagonal(linked, val=False)
    label = connected_components(csr_array(linked), directed=False)[1]
    groups = [np.flatnonzero(label == group) for group in range(int(label.max(initial=-1)) + 1)]
    tastes = [_taste(group, mean, z, judge_models) for group in groups if len(group) > 1]
    return sorted(tastes, key=lambda taste: -len(taste.judges))


def _by_judge_and_model(
    verdicts: Verdicts, residuals: NDArray[np.float64], judges: int, models: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean residual (outcome minus expected value) of each judge and model, and its z-value."""
    starts = np.flatnonzero(np.diff(verdicts.match, prepend=-1))
    total = np.add.reduceat(residuals, starts)  # the verdicts of a match depend on each other
    judge, low, high = verdicts.judge[starts], verdicts.low[starts], verdicts.high[starts]
    size_of_match = np.diff(starts, append=len(residuals)).astype(float)

    def summed(values: NDArray[np.float64], sign: int = 1) -> NDArray[np.float64]:
        by_low, by_high = (table_sums(judge, side, values, (judges, models)) for side in (low, high))
        return by_low + sign * by_high

    sums = summed(total, -1)
    mean = sums / np.maximum(summed(size_of_match), 1)
    return mean, sums / np.sqrt(np.maximum(summed(total**2), 1.0))


def _taste(
    group: NDArray[np.intp],
    mean: NDArray[np.float64],
    z: NDArray[np.float64],
    judge_models: NDArray[np.intp],
) -> Taste:
    average = mean[group].mean(axis=0)
    favoured = [int(model) for model in np.argsort(-average) if average[model] >= MIN_RESIDUAL]
    members = judge_models[group]
    of_others = [
        z[judge, model]
        for judge, own in zip(group, members, strict=True)
        for model in members
        if model >= 0 and model != own
    ]
    return Taste(
        judges=tuple(group.tolist()),
        favoured=tuple(favoured),
        residual=float(np.abs(average).max()),
        favours_itself=bool(of_others) and float(np.sum(of_others) / np.sqrt(len(of_others))) > MIN_FAVOUR_Z,
    )
