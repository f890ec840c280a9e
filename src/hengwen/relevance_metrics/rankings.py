"""Compare the ranking of items by a model with the human ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.relevance_metrics.core import as_sequence, code_counts, entropy_of
from hengwen.relevance_metrics.inversions import batch_inversions, row_length, tied_share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Ranking = Mapping[Any, float] | Sequence[Any]
"""A mapping from item to score, or names of items, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingComparison:
    """Agreement of a model's ranking with the human ranking; a value that is not defined is None."""

    n: int
    """Number of items."""
    ranks: tuple[int, ...]
    """Human ranks (from 1) of the items in the order of the model, best first; ascending if rankings agree.
    Items tied by humans share a rank."""
    cin: int
    """Number of pairs of items that the two rankings order differently."""
    lis: int
    """Longest increasing subsequence: the largest number of items that the model ranks in human order."""
    pen: float | None
    """Permutation entropy of ``ranks`` in nats, with windows of 3 ranks."""
    pen_triples: float | None
    """Entropy of all triples of ``ranks``, in nats. The entropy is 0 for a perfect ranking and also for a
    reversed ranking, so look at ``tau_b`` as well."""
    triples: int
    """Number of triples (sets of three items) from which ``pen_triples`` is computed."""
    tau_b: float | None
    """Kendall's tau-b, from -1 (reversed) to 1 (equal); None if all items of one ranking are tied."""
    tau_p: float | None
    """Two-sided p-value of tau-b."""
    spearman: float | None
    """Spearman's rank correlation, from -1 to 1; None if all items of one ranking are tied."""
    tied_share_model: float
    """Share of the pairs of items that the model ties, from 0 to 1."""
    tied_share_human: float
    """Share of the pairs of items that humans tie, from 0 to 1."""


def compare_rankings(model: Ranking | ArrayLike, human: Ranking | ArrayLike) -> RankingComparison:
    """Compare the rankings of the same items by a model and by humans.

    Args:
        model: Ranking by the model: scores of items (higher is better), a mapping from item to score, or
            names of items, best first.
        human: Human ranking of the same items, in the same form as ``model``.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are fewer than two items, the two rankings differ in items or form, or a score is
            NaN.

    Notes:
        ``pen``, ``cin`` and ``lis`` are computed as in PiCO (arXiv 2402.01830): from the human ranks in the
        order of the model. Where PiCO samples triples of items, all triples are counted here. Items that the
        model ties are put in human order, so that a tie is not a disagreement.

    Examples:
        >>> comparison = compare_rankings(["c", "a", "b", "d"], ["a", "b", "c", "d"])
        >>> comparison.ranks, comparison.cin, comparison.lis, round(comparison.tau_b, 4)
        ((3, 1, 2, 4), 2, 3, 0.3333)
        >>> compare_rankings([1, 2, 3], [3, 2, 1]).cin
        3
    """
    model_scores, human_scores = _aligned_scores(model, human)
    n = len(model_scores)
    if n < 2:
        raise ValueError(f"a ranking needs at least 2 items, got {n}")
    human_order = np.unique(human_scores, return_inverse=True)[1]
    dense = human_order.max() - human_order
    ranks = dense[np.lexsort((dense, -np.unique(model_scores, return_inverse=True)[1]))]
    tau, tau_p, spearman = _correlations(model_scores, human_scores)
    return RankingComparison(
        n=n,
        ranks=tuple((ranks + 1).tolist()),
        cin=int(batch_inversions(ranks[None])[0]),
        lis=row_length(ranks, strict=False),
        pen=entropy_of(code_counts(ranks, 3, 1)) if n > 2 else None,
        pen_triples=_triple_entropy(ranks) if n > 2 else None,
        triples=math.comb(n, 3),
        tau_b=tau,
        tau_p=tau_p,
        spearman=spearman,
        tied_share_model=tied_share(model_scores),
        tied_share_human=tied_share(human_scores),
    )


def _aligned_scores(model: Any, human: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores of two rankings as two arrays that list the items in the same order."""
    way_out = "leave that item out of both rankings"
    if isinstance(model, Mapping) or isinstance(human, Mapping):
        if not (isinstance(model, Mapping) and isinstance(human, Mapping)):
            raise ValueError("only one of the rankings maps items to scores; pass both in the same form")
        _check_same_items(model, human)
        model, human = [model[item] for item in model], [human[item] for item in model]
    elif _is_names(model) or _is_names(human):
        model, human = _from_names(model, human)
    model_scores, human_scores = as_sequence(model, way_out), as_sequence(human, way_out)
    if model_scores.shape != human_scores.shape:
        raise ValueError(
            f"rankings must have the same shape, got {model_scores.shape} and {human_scores.shape}"
        )
    return model_scores, human_scores


def _from_names(model: Any, human: Any) -> tuple[list[int], list[int]]:
    if not (_is_names(model) and _is_names(human)):
        raise ValueError("only one of the rankings lists names; pass both in the same form")
    for names in (model, human):
        if len(set(names)) < len(names):
            repeated = next(item for item in names if list(names).count(item) > 1)
            raise ValueError(f"a ranking names {repeated!r} more than once; name each item once")
    _check_same_items(model, human)
    human_scores = {item: -rank for rank, item in enumerate(human)}
    return [-rank for rank in range(len(model))], [human_scores[item] for item in model]


def _check_same_items(model: Any, human: Any) -> None:
    unmatched = sorted({*model} ^ {*human}, key=str)
    if unmatched:
        raise ValueError(
            f"{unmatched[0]!r} is in one ranking only ({len(unmatched)} such items); rank the same items"
        )


def _is_names(ranking: Any) -> bool:
    return isinstance(ranking, Sequence) and bool(ranking) and all(isinstance(item, str) for item in ranking)


def _correlations(
    model: NDArray[Any], human: NDArray[Any]
) -> tuple[float | None, float | None, float | None]:
    """Return tau-b, its p-value and Spearman's rho; None if all items of one ranking are tied."""
    if np.ptp(model) == 0 or np.ptp(human) == 0:
        return None, None, None
    from scipy.stats import kendalltau, spearmanr

    tau = kendalltau(model, human)
    return float(tau.statistic), float(tau.pvalue), float(spearmanr(model, human).statistic)


def _triple_entropy(ranks: NDArray[Any]) -> float:
    """Return the entropy, in nats, of the ordinal patterns of all triples i < j < k, in O(n^2) steps.

    PiCO's code draws random triples with replacement instead. For the same ranking, their entropy changes
    from draw to draw, often by more than the difference between two rows of PiCO's tables.
    """
    order = np.argsort(ranks, kind="stable")
    position = np.empty(len(ranks), np.intp)
    position[order] = np.arange(len(ranks))
    before = np.tri(len(ranks), k=-1, dtype=bool)
    greater = position > position[:, None]
    counts = [(greater & before), (~greater & before), (greater & ~before), (~greater & before.T)]
    greater_before, less_before, greater_after, less_after = (part.sum(axis=1) for part in counts)
    rise, fall = less_before @ greater_after, greater_before @ less_after
    first_lowest = (greater_after * (greater_after - 1) // 2).sum() - rise
    first_highest = (less_after * (less_after - 1) // 2).sum() - fall
    middle_lowest = greater_before @ greater_after - first_highest
    middle_highest = less_before @ less_after - first_lowest
    kinds = np.array([rise, first_lowest, middle_lowest, first_highest, middle_highest, fall])
    return entropy_of(kinds[kinds > 0])
