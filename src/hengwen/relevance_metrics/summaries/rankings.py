"""Compare the ranking of items by a model with the human ranking."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.pattern_codes import code_counts, entropy_of
from hengwen.relevance_metrics.order.inversions import batch_inversions, tied_share
from hengwen.relevance_metrics.order.rank_overlap import aligned_scores, overlap_of_scores, top_overlap
from hengwen.relevance_metrics.order.subsequences import row_length
from hengwen.relevance_metrics.patterns.triples import triple_entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hengwen.relevance_metrics.order.rank_overlap import Ranking


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
    """Confidence level of the intervals, between 0 and 1."""
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
