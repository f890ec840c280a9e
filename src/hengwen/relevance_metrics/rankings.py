"""Compare the ranking of items by a model with the human ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import as_scores, code_counts, entropy_of, refuse_nan
from hengwen.relevance_metrics.inversions import batch_inversions, tied_share
from hengwen.relevance_metrics.ordinal_patterns import triple_entropy
from hengwen.relevance_metrics.subsequences import row_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


Ranking = Mapping[Any, float] | Sequence[Any]
"""A mapping from item to score, or names of items, best first."""


def aligned_scores(model: Any, human: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores of two rankings as two arrays that list the items in the same order."""
    if isinstance(model, Mapping) or isinstance(human, Mapping):
        model, human = _from_mappings(model, human)
    elif _is_names(model) or _is_names(human):
        model, human = _from_names(model, human)
    model_scores, human_scores = as_scores(model), as_scores(human)
    if model_scores.shape != human_scores.shape or model_scores.ndim > 2:
        raise ValueError(
            f"rankings must have the same shape, got {model_scores.shape} and {human_scores.shape}"
        )
    for scores in (model_scores, human_scores):
        refuse_nan(scores, "leave that item out of both rankings")
    return model_scores, human_scores


def _from_mappings(model: Any, human: Any) -> tuple[list[float], list[float]]:
    if not (isinstance(model, Mapping) and isinstance(human, Mapping)):
        raise ValueError("only one of the rankings maps items to scores; pass both in the same form")
    _check_same_items(model, human)
    return [model[item] for item in model], [human[item] for item in model]


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


def top_shares(scores: NDArray[Any], depth: int) -> NDArray[np.float64]:
    """Return the probability that each item is among the top ``depth`` if ties are broken at random."""
    above = (scores > scores[:, None]).sum(axis=1)
    equal = (scores == scores[:, None]).sum(axis=1)
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


def top_overlap(a: NDArray[Any], b: NDArray[Any], depth: int) -> float:
    """Return the share of the top ``depth`` items that two rankings have in common."""
    if whole_number("depth", depth) > len(a):
        raise ValueError(f"depth must be at most the {len(a)} items, got {depth}; lower it")
    return float(top_shares(a, depth) @ top_shares(b, depth)) / depth


def rank_biased_overlap(a: Ranking | ArrayLike, b: Ranking | ArrayLike, persistence: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of two rankings of the same items.

    Args:
        a: Scores of the items, higher is better, as a list or an array; or a mapping from item to score; or
            names of items, best first.
        b: The other ranking of the same items, in the same form as ``a``.
        persistence: Parameter p between 0 and 1, the probability that a reader continues to the next rank.

    Returns:
        A number from 0 to 1, in which the top ranks have the most weight. The number is the expected value if
        ties are broken at random (RBO-a), so a ranking with ties has an overlap below 1 with itself.

    Raises:
        TypeError: A score is not a number.
        ValueError: ``persistence`` is outside (0, 1), there are no items, the two rankings differ in items or
            form, or a score is NaN.

    Notes:
        Webber, Moffat and Zobel (2010), ACM TOIS 28, 20, equation 32; Corsi and Urbano (2024) for ties.

    Examples:
        >>> rank_biased_overlap([3, 2, 1], [3, 2, 1])
        1.0
        >>> rank_biased_overlap(["a", "b"], ["b", "a"], 0.5)
        0.5
    """
    a_scores, b_scores = aligned_scores(a, b)
    if a_scores.ndim > 1:
        raise ValueError(
            f"a ranking must be one sequence, got shape {a_scores.shape}; pass one row at a time"
        )
    if not len(a_scores):
        raise ValueError("there are no items to compare; pass at least one")
    return overlap_of_scores(a_scores, b_scores, persistence)


def overlap_of_scores(a: NDArray[Any], b: NDArray[Any], persistence: float) -> float:
    """Return the rank-biased overlap of validated scores of the same items in the same order."""
    if not 0 < persistence < 1:
        raise ValueError(f"persistence must be between 0 and 1, got {persistence!r}")
    depths = range(1, len(a) + 1)
    agreement = [top_overlap(a, b, depth) for depth in depths]
    weights = [(1 - persistence) * persistence ** (depth - 1) for depth in depths]
    head = fsum(weight * share for weight, share in zip(weights, agreement, strict=True))
    return min(1.0, head + agreement[-1] * persistence ** len(a))


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
    windows: int
    """Number of ordinal patterns from which ``pen`` is computed: n - 2, at least 0."""
    triples: int
    """Number of triples (sets of three items) from which ``pen_triples`` is computed."""
    tau_b: float | None
    """Kendall's tau-b, from -1 (reversed) to 1 (equal); None if all items of one ranking are tied."""
    tau_p: float | None
    """Two-sided p-value of tau-b."""
    spearman: float | None
    """Spearman's rank correlation, from -1 to 1; None if all items of one ranking are tied."""
    spearman_p: float | None
    """Two-sided p-value of Spearman's correlation."""
    weighted_tau: float | None
    """Weighted rank correlation (tau); disagreement at the top has more weight."""
    top_overlap: dict[int, float]
    """For each depth, the share of top items that both rankings have in common: the expected value if ties
    are broken at random."""
    rbo: float
    """Rank-biased overlap of the two rankings, from 0 to 1; the top ranks have the most weight."""
    persistence: float
    """Parameter p of the rank-biased overlap ``rbo``."""
    tied_share_model: float
    """Share of the pairs of items that the model ties, from 0 to 1."""
    tied_share_human: float
    """Share of the pairs of items that humans tie, from 0 to 1."""
    intervals: dict[str, tuple[float, float]]
    """Percentile interval of each metric from a bootstrap of prompts; empty if model and humans each gave a
    single ranking."""
    prompts: int | None
    """Number of prompts; None if model and humans each gave a single ranking."""
    confidence: float
    n_boot: int | None
    """Number of bootstrap samples; None if model and humans each gave a single ranking."""
    seed: int


def compare_rankings(
    model: Ranking | ArrayLike,
    human: Ranking | ArrayLike,
    *,
    depths: Sequence[int] = (1, 3, 5, 10),
    persistence: float = 0.9,
    confidence: float = 0.95,
    n_boot: int = 499,
    seed: int = 0,
) -> RankingComparison:
    """Compare the rankings of the same items by a model and by humans.

    Args:
        model: Ranking by the model: scores of items (higher is better), a mapping from item to score, or
            names of items, best first. Scores may also have a row for each prompt and a column for each item;
            the ranking is then computed from the means over prompts.
        human: Human ranking of the same items, in the same form as ``model``.
        depths: Numbers of top items for which ``top_overlap`` is computed. Numbers above the number of items
            are ignored.
        persistence: Parameter of the rank-biased overlap, between 0 and 1.
        confidence: Confidence level of the intervals, between 0 and 1.
        n_boot: Number of bootstrap samples of prompts, at least 2.
        seed: Seed of the bootstrap.

    Returns:
        A `RankingComparison`; if there is a row for each prompt, it has intervals for tau_b, cin, lis, pen,
        pen_triples and rbo.

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
    rows = _prompt_rows(model, human)
    whole_number("n_boot", n_boot, 2)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    model_scores, human_scores = (scores.sum(axis=0) for scores in rows)
    n, prompts = len(model_scores), len(rows[0])
    metrics = _metrics(model_scores, human_scores, persistence)
    return RankingComparison(
        n=n,
        ranks=tuple((_human_ranks(model_scores, human_scores) + 1).tolist()),
        cin=int(metrics["cin"]),
        lis=int(metrics["lis"]),
        pen=metrics.get("pen"),
        pen_triples=metrics.get("pen_triples"),
        windows=max(n - 2, 0),
        triples=math.comb(n, 3),
        **_correlations(model_scores, human_scores),
        top_overlap={depth: top_overlap(model_scores, human_scores, depth) for depth in depths if depth <= n},
        rbo=metrics["rbo"],
        persistence=persistence,
        tied_share_model=tied_share(model_scores),
        tied_share_human=tied_share(human_scores),
        intervals=_intervals(rows, metrics, persistence, confidence, n_boot, seed) if prompts > 1 else {},
        prompts=prompts if prompts > 1 else None,
        confidence=confidence,
        n_boot=n_boot if prompts > 1 else None,
        seed=seed,
    )


def _human_ranks(model: NDArray[Any], human: NDArray[Any]) -> NDArray[np.intp]:
    """Return dense human ranks (0 is best) in the model's order; ties of the model are in human order."""
    _, rising = np.unique(human, return_inverse=True)
    ranks = rising.max() - rising
    _, model_rising = np.unique(model, return_inverse=True)
    return np.asarray(ranks[np.lexsort((ranks, -model_rising))])


def _metrics(model: NDArray[Any], human: NDArray[Any], persistence: float) -> dict[str, float]:
    """Return the metrics for which intervals are computed, without undefined values."""
    ranks = _human_ranks(model, human)
    cin = int(batch_inversions(ranks[None])[0])
    metrics: dict[str, float] = {"cin": cin, "lis": row_length(ranks, strict=False)}
    if len(ranks) > 2:
        metrics["pen"] = entropy_of(code_counts(ranks, 3, 1))
        metrics["pen_triples"] = triple_entropy(ranks)
    tau = _tau_b(model, human, cin)
    if tau is not None:
        metrics["tau_b"] = tau
    metrics["rbo"] = overlap_of_scores(model, human, persistence)
    return metrics


def _tau_b(model: NDArray[Any], human: NDArray[Any], cin: int) -> float | None:
    pairs = len(model) * (len(model) - 1) // 2
    tied_model, tied_human = (round(tied_share(scores) * pairs) for scores in (model, human))
    groups = np.unique(np.stack([model, human]), axis=1, return_counts=True)[1]
    tied_in_both = int((groups * (groups - 1) // 2).sum())
    scale = math.sqrt((pairs - tied_model) * (pairs - tied_human))
    concordant_minus_discordant = pairs - tied_model - tied_human + tied_in_both - 2 * cin
    return concordant_minus_discordant / scale if scale else None


def _correlations(model: NDArray[Any], human: NDArray[Any]) -> dict[str, Any]:
    if np.ptp(model) == 0 or np.ptp(human) == 0:
        return dict.fromkeys(("tau_b", "tau_p", "spearman", "spearman_p", "weighted_tau"))
    from scipy.stats import kendalltau, spearmanr, weightedtau

    tau = kendalltau(model, human)
    rho = spearmanr(model, human)
    values = {
        "tau_b": tau.statistic,
        "tau_p": tau.pvalue,
        "spearman": rho.statistic,
        "spearman_p": rho.pvalue,
        "weighted_tau": weightedtau(model, human).statistic,
    }
    return {name: float(value) if math.isfinite(value) else None for name, value in values.items()}


def _intervals(
    rows: tuple[NDArray[Any], NDArray[Any]],
    metrics: dict[str, float],
    persistence: float,
    confidence: float,
    n_boot: int,
    seed: int,
) -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(seed)
    count = len(rows[0])
    weights = rng.multinomial(count, np.full(count, 1 / count), size=n_boot)
    samples = [_metrics(weight @ rows[0], weight @ rows[1], persistence) for weight in weights]
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    intervals = {}
    for name in metrics:
        values = [sample[name] for sample in samples if name in sample]
        if len(values) == n_boot:
            low, high = np.quantile(values, tails).tolist()
            intervals[name] = (low, high)
    return intervals


def _prompt_rows(model: Any, human: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores of model and humans, with a row for each prompt and a column for each item."""
    model_scores, human_scores = aligned_scores(model, human)
    if model_scores.shape[-1] < 2 or not model_scores.size:
        raise ValueError(f"a ranking needs at least 2 items, got shape {model_scores.shape}")
    return np.atleast_2d(model_scores), np.atleast_2d(human_scores)
