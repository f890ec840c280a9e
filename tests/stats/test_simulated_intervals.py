"""Simulated coverage of intervals and realised power, with fixed seeds; a few hundred samples each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rows import each_row

from . import interval_simulations as simulations

pytestmark = pytest.mark.slow

SAMPLES = 400
"""The Monte-Carlo error of a share of .95 is .011."""


@each_row("prompts", [5, 20, 30, 100])
@each_row("name", [*simulations.DISCRETE, *simulations.CONTINUOUS])
def test_independent_prompts_are_covered_in_93_of_100_samples(name: str, prompts: int) -> None:
    least = 0.75 if name == simulations.EXCEPTION else 0.92
    assert simulations.coverage(name, prompts, SAMPLES) >= least


@each_row("change", simulations.CHANGES)
def test_differences_of_continuous_scores_are_covered_in_93_of_100_samples(change: str) -> None:
    assert simulations.difference_coverage("90 % at the top", change, 12, SAMPLES) >= 0.92, "t: about .7"


@each_row("name", ["ceil90", "pass95"])
def test_differences_of_levels_are_covered_in_93_of_100_samples(name: str) -> None:
    assert simulations.level_difference_coverage(name, 0.0, 12, SAMPLES) >= 0.92, "t: .86 and .60"


@each_row("correlation", [0.3, 0.9])
@each_row("design", simulations.CLUSTERS)
@each_row("continuous", [False, True])
def test_clusters_at_a_ceiling_are_covered_in_91_of_100_samples(
    design: str, correlation: float, continuous: bool
) -> None:
    covered = simulations.cluster_coverage(design, 0.95, correlation, SAMPLES, continuous=continuous)
    assert covered >= 0.91


@each_row(
    ("design", "top"), [("6 of 20", 0.95), ("30 of 3", 0.8), ("1 to 5", 0.8), ("28 of 1 and 2 of 20", 0.8)]
)
def test_clusters_below_the_limit_pass_a_gate_in_at_most_five_of_a_hundred(design: str, top: float) -> None:
    assert simulations.cluster_false_passes(design, top, 0.9, SAMPLES) <= 0.06


def test_corrected_means_and_the_balance_test_hold_for_conversations_at_a_ceiling() -> None:
    assert simulations.ppi_coverage(SAMPLES) >= 0.93
    assert simulations.balance_rejections(SAMPLES) <= 0.06


@each_row("prompts", [30, 100, 300])
def test_a_rare_collapse_rarely_passes_as_not_inferior(prompts: int) -> None:
    assert simulations.noninferior_false_passes(prompts, 0.025, SAMPLES) <= 0.06


@each_row(("prompts", "low", "high"), [(60, 0.2, 0.4), (100, 0.4, 0.6), (300, 0.9, 1.0)])
def test_equal_levels_pass_with_enough_prompts(prompts: int, low: float, high: float) -> None:
    assert low <= simulations.noninferior_passes(prompts, 0.05, SAMPLES) <= high


@each_row("alpha", [0.05, 0.005])
@each_row("name", ["normal", "even", "ceil90", "pass95", "pass80"])
def test_the_stated_difference_is_found_about_as_often_as_promised(name: str, alpha: float) -> None:
    power, stated = simulations.realised_power(name, 26, 40, alpha)
    assert 0.65 <= power <= 0.95
    assert stated >= 0.9


def test_real_lyric_totals_have_intervals_of_at_most_1_4_times_t(shared: Callable[[str], Path]) -> None:
    totals: dict[str, dict[str, list[float]]] = {}
    for line in shared("data/muchin-checkpoints-expected.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        totals.setdefault(row["checkpoint"], {}).setdefault(row["id"], []).append(row["document"]["total"])
    rows = [[sum(values) / len(values) for values in by_id.values()] for by_id in totals.values()]
    ratios = simulations.width_ratios(rows, (0.0, 110.0))
    assert len(ratios) == 6
    assert sum(ratios) / 6 <= 1.4
