"""Is the order of the scores more than chance? A permutation test of a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_sequence, check_choice
from hengwen.relevance_metrics.core.pattern_codes import window_count
from hengwen.relevance_metrics.inference.nulls import (
    METRICS,
    Metric,
    all_orders,
    arrangements,
    block_orders,
    evaluate,
    group_orders,
    in_chunks,
    inversion_moments,
    shuffles,
)
from hengwen.relevance_metrics.order.inversions import tied_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

Alternative = Literal["two-sided", "greater", "less"]
Null = Literal["shuffle", "block", "within-prompt"]
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """A permutation test of one metric."""

    __test__ = False

    metric: Metric
    statistic: float
    null_mean: float
    null_sd: float
    z: float | None
    """(statistic - null_mean) / null_sd; None where every order gives the same."""
    p: float
    p_floor: float
    """No p below this can come out, however strong the order is."""
    exact: bool
    """Whether all orders were taken instead of a sample."""
    orders: int
    """How many orders the p-value rests on, the observed one among them."""
    alternative: Alternative
    null: Null
    n: int
    windows: int | None
    """Ordinal patterns in the sequence; None but for ``pen``."""
    tied_share: float
    m: int
    delay: int
    block: int | None
    groups: int | None
    n_perm: int
    seed: int


@dataclass(frozen=True, slots=True)
class _OrderSampler:
    """How many orders a null hypothesis allows, all of them, or some."""

    size: int
    all: Callable[[], NDArray[Any]]
    some: Callable[[np.random.Generator, int], NDArray[Any]]


def significance(
    x: ArrayLike,
    metric: Metric = "cin",
    *,
    n_perm: int = 9999,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    null: Null = "shuffle",
    block: int | None = None,
    prompts: Sequence[object] | None = None,
    m: int = 3,
    delay: int = 1,
) -> PermutationTest:
    """Test whether a metric is what a random order of the same scores would give.

    ``cin`` tests for a drift: more inversions than chance is a fall, fewer a rise; it is the Mann-Kendall
    statistic. ``pen`` and ``lis`` do not see a drift of the level; a quiet ``pen`` is no sign of stability.

    Args:
        x: Scores in order.
        metric: ``cin``, ``pen``, ``lis`` (strict) or ``lnds`` (not strict).
        n_perm: Orders drawn; all orders are taken instead if they are no more.
        alternative: ``two-sided`` (as far from the null mean), ``greater`` or ``less``.
        seed: Of the orders drawn.
        null: What may be exchanged: ``shuffle`` all scores; ``block`` whole blocks of neighbours, for scores
            that depend on the ones before; ``within-prompt`` scores of the same prompt only, so that prompts
            may differ in level.
        block: Length of a block; default the cube root of n, rounded up, at least 2.
        prompts: For ``within-prompt`` the prompt of each score.
        m: Scores in an ordinal pattern.
        delay: Steps between the scores of a pattern.

    Returns:
        A `Test`. With ties and few scores the test is valid, but reaches few levels of p.

    Raises:
        ValueError: No scores, too few for m and delay, NaN, or options that do not fit.

    Notes:
        Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9: p = (1 + hits) / (1 + orders) is never 0.

    Examples:
        >>> test = significance([1, 2, 3, 4])
        >>> test.statistic, test.null_mean, test.exact, test.orders
        (0.0, 3.0, True, 24)
        >>> test.p, test.p_floor
        (0.08333333333333333, 0.041666666666666664)
    """
    check_choice("metric", metric, METRICS)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    check_choice("null", null, ("shuffle", "block", "within-prompt"))
    whole_number("n_perm", n_perm)
    row = as_sequence(x)
    if not len(row):
        raise ValueError("there are no scores to test; pass at least one")
    windows = window_count(len(row), m, delay) if metric == "pen" else None
    length = _block_length(block, len(row), null)
    places = _prompt_places(prompts, len(row), null)
    shuffler = _shuffler(row, null, length, places)
    statistic = float(evaluate(row[None], metric, m, delay)[0])
    exact = shuffler.size <= n_perm
    values = _null_values(row, shuffler, exact, n_perm, seed, metric, m, delay)
    mean, sd = _moments(row, values, metric, null)
    pool = values if exact else np.append(values, statistic)
    centre = mean if metric == "cin" and null == "shuffle" else float(pool.mean())
    hits = int(np.count_nonzero(_as_extreme(pool, statistic, centre, alternative)))
    return PermutationTest(
        metric=metric,
        statistic=statistic,
        null_mean=mean,
        null_sd=sd,
        z=(statistic - mean) / sd if sd > _CLOSE else None,
        p=hits / len(pool),
        p_floor=1 / len(pool),
        exact=exact,
        orders=len(pool),
        alternative=alternative,
        null=null,
        n=len(row),
        windows=windows,
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        block=length,
        groups=len(places) if places else None,
        n_perm=n_perm,
        seed=seed,
    )


def _as_extreme(
    pool: NDArray[np.float64], statistic: float, centre: float, alternative: Alternative
) -> NDArray[np.bool_]:
    slack = _CLOSE * max(1.0, abs(statistic))
    if alternative == "greater":
        return pool >= statistic - slack
    if alternative == "less":
        return pool <= statistic + slack
    return np.abs(pool - centre) >= abs(statistic - centre) - slack


def _moments(
    row: NDArray[Any], values: NDArray[np.float64], metric: Metric, null: Null
) -> tuple[float, float]:
    if metric == "cin" and null == "shuffle":
        return inversion_moments(row)
    return float(values.mean()), float(values.std())


def _null_values(
    row: NDArray[Any],
    shuffler: _OrderSampler,
    exact: bool,
    n_perm: int,
    seed: int,
    metric: Metric,
    m: int,
    delay: int,
) -> NDArray[np.float64]:
    if exact:
        return evaluate(shuffler.all(), metric, m, delay)
    rng = np.random.default_rng(seed)
    parts = [evaluate(shuffler.some(rng, size), metric, m, delay) for size in in_chunks(n_perm, len(row))]
    return np.concatenate(parts)


def _shuffler(
    row: NDArray[Any], null: Null, length: int | None, places: list[NDArray[np.intp]] | None
) -> _OrderSampler:
    if places is not None:
        size = math.prod(arrangements(row[place]) for place in places)
        return _OrderSampler(
            size, lambda: group_orders(row, places), lambda rng, draws: _within(row, places, rng, draws)
        )
    if length is not None:
        blocks = np.split(np.arange(len(row)), range(length, len(row), length))
        return _OrderSampler(
            math.factorial(len(blocks)),
            lambda: block_orders(row, blocks),
            lambda rng, draws: _blocks(row, blocks, rng, draws),
        )
    return _OrderSampler(
        arrangements(row), lambda: all_orders(row), lambda rng, draws: shuffles(row, rng, draws)
    )


def _within(
    row: NDArray[Any], places: list[NDArray[np.intp]], rng: np.random.Generator, draws: int
) -> NDArray[Any]:
    rows = np.tile(row, (draws, 1))
    for place in places:
        rows[:, place] = rng.permuted(rows[:, place], axis=1)
    return rows


def _blocks(
    row: NDArray[Any], blocks: list[NDArray[np.intp]], rng: np.random.Generator, draws: int
) -> NDArray[Any]:
    orders = (rng.permutation(len(blocks)) for _ in range(draws))
    return np.array([row[np.concatenate([blocks[i] for i in order])] for order in orders])


def _block_length(block: int | None, n: int, null: Null) -> int | None:
    if null != "block":
        if block is not None:
            raise ValueError(f"block={block!r} goes with null='block', got null={null!r}")
        return None
    length = max(2, math.ceil(round(math.cbrt(n), 9))) if block is None else whole_number("block", block)
    if length >= n:
        raise ValueError(f"a block of {length} leaves nothing to exchange among {n} scores; lower block")
    return length


def _prompt_places(prompts: Sequence[object] | None, n: int, null: Null) -> list[NDArray[np.intp]] | None:
    if null != "within-prompt":
        if prompts is not None:
            raise ValueError(f"prompts go with null='within-prompt', got null={null!r}")
        return None
    if prompts is None or len(prompts) != n:
        raise ValueError(f"null='within-prompt' needs the prompt of each of the {n} scores; pass prompts=")
    places: dict[object, list[int]] = {}
    for place, prompt in enumerate(prompts):
        places.setdefault(prompt, []).append(place)
    return [np.array(found) for found in places.values()]
