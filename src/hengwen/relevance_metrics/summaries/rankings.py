"""A model's ranking of items beside the human one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.batch_entropy import entropy_of
from hengwen.relevance_metrics.core.inputs import as_scores, refuse_nan
from hengwen.relevance_metrics.core.pattern_codes import code_counts
from hengwen.relevance_metrics.order.inversions import batch_inversions, tied_share
from hengwen.relevance_metrics.order.patience import row_length
from hengwen.relevance_metrics.order.rank_overlap import rank_biased_overlap, top_overlap
from hengwen.relevance_metrics.patterns.triples import triple_entropy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Ranking = Mapping[Any, float] | Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingComparison:
    """How a model's ranking departs from the human one; None where a value is not defined."""

    n: int
    """Items ranked."""
    places: tuple[int, ...]
    """The model's rank, from 1, of each item, the items in human order, best first: sorted if both agree.
    Items that the model ties share a rank."""
    cin: int
    """Pairs that the two order differently."""
    lis: int
    """The most items that the model puts in human order."""
    pen: float | None
    """Entropy of ``places`` by neighbours, m = 3, in nats. It differs for a ranking and its inverse."""
    pen_triples: float | None
    """The same over all triples, exact. 0 for a perfect and for a reversed ranking: read it beside tau."""
    windows: int
    triples: int
    tau_b: float | None
    tau_p: float | None
    spearman: float | None
    spearman_p: float | None
    weighted_tau: float | None
    """Disagreement at the top weighs more."""
    top_overlap: dict[int, float]
    """Depth to the share of the top items in common, ties broken at random, in expectation."""
    rbo: float
    persistence: float
    tied_share_model: float
    tied_share_human: float
    intervals: dict[str, tuple[float, float]]
    """Percentile intervals by prompts; empty without prompts."""
    prompts: int | None
    level: float
    n_boot: int | None
    seed: int


def compare_rankings(
    model: Ranking | ArrayLike,
    human: Ranking | ArrayLike,
    *,
    depths: Sequence[int] = (1, 3, 5, 10),
    persistence: float = 0.9,
    level: float = 0.95,
    n_boot: int = 499,
    seed: int = 0,
) -> RankingComparison:
    """Compare the order in which a model and humans put the same items.

    Args:
        model: Scores of items, the higher the better; or item to score; or names of items, best first; or
            scores with a row for each prompt and a column for each item, which are averaged over prompts.
        human: The same for humans, in the same form.
        depths: Where the overlap at the top is taken; depths beyond the number of items are left out.
        persistence: Of the rank-biased overlap.
        level: Of the intervals.
        n_boot: Samples of prompts behind the intervals.
        seed: Of these samples.

    Returns:
        A `RankingComparison`; with prompts it has intervals for tau_b, cin, lis, pen, pen_triples and rbo.

    Raises:
        ValueError: Fewer than two items, items that differ, NaN, or forms that do not fit.

    Notes:
        The permutation, PEN, CIN and LIS follow PiCO (arXiv 2402.01830), whose sampled triples are exact
        here. Where humans tie items, the model's order is taken among them, so that a tie is no disagreement.

    Examples:
        >>> found = compare_rankings(["a", "b", "c", "d"], ["a", "c", "b", "d"])
        >>> found.places, found.cin, found.lis, round(found.tau_b, 4)
        ((1, 3, 2, 4), 1, 3, 0.6667)
        >>> compare_rankings([1, 2, 3], [3, 2, 1]).cin
        3
    """
    rows = _aligned(model, human)
    whole_number("n_boot", n_boot, 2)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    ours, theirs = (side.sum(axis=0) for side in rows)
    n, prompts = len(ours), len(rows[0])
    core = _core(ours, theirs, persistence)
    drawn = n_boot if prompts > 1 else None
    return RankingComparison(
        n=n,
        places=tuple((_places(ours, theirs) + 1).tolist()),
        cin=int(core["cin"]),
        lis=int(core["lis"]),
        pen=core.get("pen"),
        pen_triples=core.get("pen_triples"),
        windows=max(n - 2, 0),
        triples=math.comb(n, 3),
        **_correlations(ours, theirs),
        top_overlap={depth: top_overlap(ours, theirs, depth) for depth in depths if depth <= n},
        rbo=core["rbo"],
        persistence=persistence,
        tied_share_model=tied_share(ours),
        tied_share_human=tied_share(theirs),
        intervals=_intervals(rows, core, persistence, level, drawn, seed) if drawn else {},
        prompts=prompts if prompts > 1 else None,
        level=level,
        n_boot=drawn,
        seed=seed,
    )


def _places(model: NDArray[Any], human: NDArray[Any]) -> NDArray[np.intp]:
    """The model's dense ranks, 0 for the best, in human order, human ties in the model's order."""
    _, rising = np.unique(model, return_inverse=True)
    ranks = rising.max() - rising
    _, human_rising = np.unique(human, return_inverse=True)
    return np.asarray(ranks[np.lexsort((ranks, -human_rising))])


def _core(model: NDArray[Any], human: NDArray[Any], persistence: float) -> dict[str, float]:
    places = _places(model, human)
    cin = int(batch_inversions(places[None])[0])
    found: dict[str, float] = {"cin": cin, "lis": row_length(places, strict=False)}
    if len(places) > 2:
        found["pen"] = entropy_of(code_counts(places, 3, 1))
        found["pen_triples"] = triple_entropy(places)
    tau = _tau_b(model, human, cin)
    if tau is not None:
        found["tau_b"] = tau
    found["rbo"] = rank_biased_overlap(model, human, persistence)
    return found


def _tau_b(model: NDArray[Any], human: NDArray[Any], cin: int) -> float | None:
    pairs = len(model) * (len(model) - 1) // 2
    tied = [round(tied_share(side) * pairs) for side in (model, human)]
    both = np.unique(np.stack([model, human]), axis=1, return_counts=True)[1]
    tied_in_both = int((both * (both - 1) // 2).sum())
    scale = math.sqrt((pairs - tied[0]) * (pairs - tied[1]))
    concordant_less_discordant = pairs - tied[0] - tied[1] + tied_in_both - 2 * cin
    return concordant_less_discordant / scale if scale else None


def _correlations(model: NDArray[Any], human: NDArray[Any]) -> dict[str, Any]:
    if np.ptp(model) == 0 or np.ptp(human) == 0:
        return dict.fromkeys(("tau_b", "tau_p", "spearman", "spearman_p", "weighted_tau"))
    from scipy.stats import kendalltau, spearmanr, weightedtau

    tau = kendalltau(model, human)
    rho = spearmanr(model, human)
    found = {
        "tau_b": tau.statistic,
        "tau_p": tau.pvalue,
        "spearman": rho.statistic,
        "spearman_p": rho.pvalue,
        "weighted_tau": weightedtau(model, human).statistic,
    }
    return {name: float(value) if math.isfinite(value) else None for name, value in found.items()}


def _intervals(
    rows: tuple[NDArray[Any], NDArray[Any]],
    core: dict[str, float],
    persistence: float,
    level: float,
    n_boot: int,
    seed: int,
) -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(seed)
    count = len(rows[0])
    draws = rng.multinomial(count, np.full(count, 1 / count), size=n_boot)
    found = [_core(draw @ rows[0], draw @ rows[1], persistence) for draw in draws]
    tails = ((1 - level) / 2, (1 + level) / 2)
    intervals = {}
    for name in core:
        values = [values[name] for values in found if name in values]
        if len(values) == n_boot:
            low, high = np.quantile(values, tails).tolist()
            intervals[name] = (low, high)
    return intervals


def _aligned(model: Any, human: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the same items in the same columns, a row for each prompt."""
    if isinstance(model, Mapping) or isinstance(human, Mapping):
        model, human = _from_mappings(model, human)
    elif _is_names(model) or _is_names(human):
        model, human = _from_names(model, human)
    ours, theirs = (as_scores(side) for side in (model, human))
    if ours.shape != theirs.shape or ours.ndim > 2:
        raise ValueError(f"rankings must have the same shape, got {ours.shape} and {theirs.shape}")
    if ours.shape[-1] < 2 or not ours.size:
        raise ValueError(f"a ranking needs at least 2 items, got shape {ours.shape}")
    for side in (ours, theirs):
        refuse_nan(side, "leave that item out of both rankings")
    return np.atleast_2d(ours), np.atleast_2d(theirs)


def _from_mappings(model: Any, human: Any) -> tuple[list[float], list[float]]:
    if not (isinstance(model, Mapping) and isinstance(human, Mapping)):
        raise ValueError("one ranking maps items to scores, the other does not; pass both in the same form")
    _same_items(model, human)
    return [model[item] for item in model], [human[item] for item in model]


def _from_names(model: Any, human: Any) -> tuple[list[int], list[int]]:
    if not (_is_names(model) and _is_names(human)):
        raise ValueError("one ranking lists names, the other does not; pass both in the same form")
    for side in (model, human):
        if len(set(side)) < len(side):
            repeated = next(item for item in side if list(side).count(item) > 1)
            raise ValueError(f"a ranking names {repeated!r} more than once; name each item once")
    _same_items(model, human)
    place = {item: -rank for rank, item in enumerate(human)}
    return [-rank for rank in range(len(model))], [place[item] for item in model]


def _same_items(model: Any, human: Any) -> None:
    odd = sorted({*model} ^ {*human}, key=str)
    if odd:
        raise ValueError(f"{odd[0]!r} is in one ranking only ({len(odd)} such items); rank the same items")


def _is_names(side: Any) -> bool:
    return isinstance(side, Sequence) and bool(side) and all(isinstance(item, str) for item in side)
