"""The family of pairs: an enumeration as oracle, hand values, properties, and what leaves the family."""

from __future__ import annotations

from itertools import combinations, product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from scipy import special

from hengwen.stats import step_down as module
from hengwen.stats.paired import sign_flip_test
from hengwen.stats.step_down import FamilyScore, StepDown, step_down

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
LEVELS = [0.0, 0.25, 0.5, 0.75, 1.0]


def score_of(values: object, task: str = "t", clusters: list[str] | None = None) -> FamilyScore:
    """Return a score with all pairs of its checkpoints (columns)."""
    table = np.array(values, float)
    names = clusters or [f"p{index:02}" for index in range(len(table))]
    pairs = list(combinations(range(table.shape[1]), 2))
    return FamilyScore(task=task, clusters=names, values=table, pairs=pairs)


def falling(prompts: int, by: float = 0.5) -> Floats:
    return np.array([[1.0, 1.0 - by]] * prompts)


def statistic(differences: list[float]) -> float:
    """Return z of the differences of clusters; a cluster without differences counts."""
    n, squares = len(differences), sum(d * d for d in differences)
    if not squares:
        return 0.0
    share = min(sum(differences) ** 2 / (n * squares), 1 - 1e-9)
    freedom = n - 1
    return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(-freedom * log(1 - share))


def enumerated(scores: list[FamilyScore], alpha: float = 0.05) -> tuple[list[float], list[float]]:
    """Return the adjusted p-values and critical z values, by all sign patterns one by one."""
    units = sorted({(score.task, name) for score in scores for name in score.clusters})
    hypotheses: list[dict[tuple[str, str], float]] = []
    for score in scores:
        for earlier, later in score.pairs:
            sums: dict[tuple[str, str], float] = {}
            for name, row in zip(score.clusters, score.values, strict=True):
                difference = row[later] - row[earlier]
                if not np.isnan(difference):
                    sums[score.task, name] = sums.get((score.task, name), 0.0) + difference
            hypotheses.append(sums)
    flips = [dict(zip(units, signs, strict=True)) for signs in product((1, -1), repeat=len(units))]
    flipped = [
        [statistic([signs[unit] * d for unit, d in sums.items()]) for sums in hypotheses] for signs in flips
    ]
    observed = [statistic(list(sums.values())) for sums in hypotheses]
    order = sorted(range(len(observed)), key=lambda index: -observed[index])
    adjusted, critical = [1.0] * len(order), [0.0] * len(order)
    highest, is_over = 0.0, False
    for step, index in enumerate(order):
        largest = sorted((max(row[other] for other in order[step:]) for row in flipped), reverse=True)
        count = sum(value >= observed[index] - 1e-6 for value in largest)
        highest = max(highest, count / len(flips))
        adjusted[index] = highest
        if not is_over:
            limit = largest[int(alpha * len(flips) + 1e-9)]
        critical[index] = limit
        is_over = is_over or highest > alpha
    return adjusted, critical


def z_of(result: StepDown) -> list[float]:
    """Return the critical values on the normal scale."""
    freedom = result.units - 1
    wallace = (8 * freedom + 1) / (8 * freedom + 3)
    return list(wallace * np.sqrt(freedom * np.log1p(result.critical**2 / freedom)))


@st.composite
def families(draw: st.DrawFn) -> list[FamilyScore]:
    """Draw one or two scores of 6 to 8 prompts, in one task or two, some values missing."""
    clusters = draw(st.sampled_from([None, ["a", "a", "b", "c", "d", "e", "f", "g"]]))
    size, checkpoints = (8 if clusters else draw(st.integers(6, 7))), draw(st.integers(2, 3))
    cell = st.sampled_from([*LEVELS, *LEVELS, np.nan])
    tasks = draw(st.sampled_from([["t"], ["t", "t"]]))
    tables = [
        draw(
            st.lists(st.lists(cell, min_size=checkpoints, max_size=checkpoints), min_size=size, max_size=size)
        )
        for _ in tasks
    ]
    return [score_of(table, task, clusters) for table, task in zip(tables, tasks, strict=True)]


def large(scores: list[FamilyScore], result: StepDown) -> list[FamilyScore]:
    """Return the scores with the pairs of the family only."""
    kept = iter(result.is_tested)
    return [
        FamilyScore(
            task=score.task,
            clusters=score.clusters,
            values=score.values,
            pairs=[pair for pair in score.pairs if next(kept)],
        )
        for score in scores
    ]


@pytest.mark.slow
@given(families())
@settings(max_examples=40, deadline=None)
def test_adjusted_p_and_critical_values_are_those_of_all_sign_patterns(scores: list[FamilyScore]) -> None:
    result = step_down(scores)
    adjusted, critical = enumerated(large(scores, result))
    assert list(result.p_adjusted[result.is_tested]) == pytest.approx(adjusted)
    assert np.array(z_of(result))[result.is_tested] == pytest.approx(np.array(critical), rel=1e-4, abs=1e-4)


def test_two_tasks_flip_independently() -> None:
    scores = [score_of(falling(6), "a"), score_of(np.array([[0.0, d] for d in (1, 2, 4, 3, 1, -1)]), "b")]
    adjusted, critical = enumerated(scores)
    result = step_down(scores)
    assert list(result.p_adjusted) == pytest.approx(adjusted)
    assert z_of(result) == pytest.approx(critical, rel=1e-4)


def test_scores_of_one_task_that_agree_cost_nothing() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal([0, 1], size=(9, 2))
    alone, copies = step_down([score_of(table)]), step_down([score_of(table)] * 5)
    assert copies.p_adjusted == pytest.approx([alone.p_adjusted[0]] * 5)
    apart = step_down([score_of(table, task) for task in "abcde"])
    assert apart.p_adjusted[0] > 2 * alone.p_adjusted[0]


@given(st.lists(st.tuples(*[st.sampled_from(LEVELS)] * 2), min_size=6, max_size=9))
@settings(max_examples=40)
def test_the_p_of_a_pair_alone_is_that_of_the_sign_flip_test(pairs: list[tuple[float, float]]) -> None:
    result = step_down([score_of(pairs)])
    expected = sign_flip_test([a for a, _ in pairs], [b for _, b in pairs]).p
    assert (result.p[0], result.p_adjusted[0]) == pytest.approx((expected, expected))


def test_random_flips_agree_with_the_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    scores = [score_of(rng.normal([0, 0, 0.5, 1], size=(12, 4))), score_of(rng.choice(LEVELS, (12, 4)))]
    exact = step_down(scores)
    monkeypatch.setattr(module, "MAX_EXACT_BITS", 0)
    drawn = step_down(scores)
    assert drawn.p_adjusted == pytest.approx(exact.p_adjusted, abs=0.02)
    assert drawn.critical == pytest.approx(exact.critical, rel=0.05)


@pytest.mark.slow
def test_normal_variables_stand_for_the_signs_of_many_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    table = rng.choice(LEVELS, (300, 5))
    table[:, 4] = np.clip(table[:, 4] - 0.05, 0, 1)
    holed = np.where(rng.random(table.shape) < 0.01, np.nan, table)
    signs = step_down([score_of(table), score_of(holed, "u")])
    monkeypatch.setattr(module, "NORMAL_FROM", 100)
    normal = step_down([score_of(table), score_of(holed, "u")])
    assert normal.p_adjusted == pytest.approx(signs.p_adjusted, abs=0.03)
    assert normal.critical == pytest.approx(signs.critical, rel=0.03)


@pytest.mark.slow
@given(families(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_prompts_and_checkpoints_and_the_sign_do_not_matter(
    scores: list[FamilyScore], random: object
) -> None:
    (first, *_) = scores
    plain = step_down([first])
    rows = list(range(len(first.clusters)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    columns = first.values.shape[1]
    turned = FamilyScore(
        task=first.task,
        clusters=[first.clusters[row] for row in rows],
        values=-first.values[rows][:, ::-1],
        pairs=[(columns - 1 - b, columns - 1 - a) for a, b in first.pairs],
    )
    other = step_down([turned])
    assert other.p_adjusted == pytest.approx(plain.p_adjusted)
    assert other.critical == pytest.approx(plain.critical)
    assert list(other.is_too_few) == list(plain.is_too_few)


@given(families())
@settings(max_examples=30, deadline=None)
def test_a_pair_is_significant_exactly_where_its_t_is_above_its_critical_value(
    scores: list[FamilyScore],
) -> None:
    result = step_down(scores)
    assert (result.p_adjusted >= result.p - 1e-12).all()
    sizes = iter(range(len(result.p)))
    for score in scores:
        for earlier, later in score.pairs:
            index = next(sizes)
            if not result.is_tested[index]:
                assert (result.p_adjusted[index], result.critical[index]) == (1.0, np.inf)
                continue
            sums: dict[str, float] = {}
            for name, d in zip(
                score.clusters, score.values[:, later] - score.values[:, earlier], strict=True
            ):
                if not np.isnan(d):
                    sums[name] = sums.get(name, 0.0) + d
            z = statistic(list(sums.values()))
            assert (z > z_of(result)[index] * (1 + 1e-6)) == (result.p_adjusted[index] <= 0.05)
            if result.is_too_few[index]:
                assert result.p_adjusted[index] > 0.05


def test_fewer_than_six_clusters_are_not_in_the_family() -> None:
    table = np.array([[1.0, 0.0]] * 12)
    result = step_down([score_of(table, clusters=list("aabbccddeeee")), score_of(table[:6])])
    assert (list(result.is_tested), list(result.units)) == ([False, True], [5, 6])
    assert list(result.is_too_few) == [True, False]
    assert list(result.p_adjusted) == pytest.approx([1.0, 2 / 64])


def test_where_all_answers_are_equal_no_difference_is_seen_if_one_could_have_been() -> None:
    result = step_down([score_of(np.full((6, 2), 0.5)), score_of(np.full((8, 3), 0.5), "u")])
    assert not result.is_too_few.any()
    assert list(result.p_adjusted) == [1.0] * 4
    few = step_down([score_of(falling(6), task) for task in "abcdefgh"])
    assert few.is_too_few.all()
    assert few.p_adjusted == pytest.approx([1 - (1 - 2 / 64) ** 8] * 8, abs=0.02)


def test_a_change_of_two_prompts_of_sixty_could_not_have_been_seen() -> None:
    table = np.ones((60, 2))
    table[:2, 1] = 0.0
    result = step_down([score_of(table)])
    assert (result.p_adjusted[0], bool(result.is_too_few[0])) == (0.5, True)


def test_means_of_equal_answers_do_not_differ_by_their_rounding() -> None:
    tenths = np.array([0.1 + 0.2, 0.3])
    result = step_down([score_of(np.tile(tenths, (8, 1)))])
    assert result.p[0] == 1.0


@each_row("factor", [1e-310, 1e-200, 1e200])
def test_the_unit_of_the_values_does_not_matter(factor: float) -> None:
    """A likelihood of a long text is as small as 1e-200."""
    table = np.random.default_rng(6).normal([0, 1], size=(12, 2))
    plain, scaled = step_down([score_of(table)]), step_down([score_of(table * factor)])
    assert (scaled.p[0], scaled.critical[0]) == pytest.approx((plain.p[0], plain.critical[0]))
    assert not scaled.is_too_few[0]


def test_a_family_without_pairs_is_empty() -> None:
    assert not step_down([]).is_tested.size
    assert not step_down([score_of([[1.0]] * 8)]).is_tested.any()


def test_a_lower_level_draws_more_flips() -> None:
    rng = np.random.default_rng(5)
    table = rng.normal([0, 2], size=(40, 2))
    assert step_down([score_of(table)]).p_adjusted[0] == pytest.approx(1e-4)
    assert step_down([score_of(table)], 1e-3).p_adjusted[0] == pytest.approx(1 / 20001)


@each_row("freedom", [5, 7, 11, 59])
def test_the_normal_quantile_of_t_is_right_to_half_a_per_cent(freedom: int) -> None:
    t = np.linspace(0.1, 4, 40)
    exact = -special.ndtri(special.stdtr(freedom, -t))
    wallace = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(t**2 / freedom))
    assert wallace == pytest.approx(exact, rel=0.005)


def test_random_flips_put_no_p_below_the_smallest_possible_one() -> None:
    """Six changed prompts of 30: two of 64 patterns are as extreme, so no draw may give less than 1/32."""
    values = np.zeros((30, 2))
    values[:6, 1] = 1.0
    noise = np.random.default_rng(4).normal(size=(30, 2))
    for seed in range(6):
        result = step_down([score_of(values), score_of(noise, "other")], alpha=0.03, seed=seed)
        assert result.p[0] >= 1 / 32
        assert result.p_adjusted[0] >= result.p[0]
        reached = 6 / sqrt(6)
        t = reached * sqrt(29 / (30 - reached**2))
        assert result.critical[0] >= t * (1 - 1e-6)
        assert result.is_too_few[0]
