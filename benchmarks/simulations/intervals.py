"""Intervals of a mean, gates, corrected means and smallest detectable differences."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPTS = (5, 6, 10, 20, 30, 50, 100, 300)
LEVELS = (0.05, 0.005)


def figures(samples: int) -> Iterator[Figure]:
    """Measure coverage, false passes of gates, and realised power."""
    yield from _prompts(samples)
    yield from _differences(samples)
    yield from _clusters(samples)
    yield from _decisions(samples)


def _figure(case: str, value: float, low: float | None = None, high: float | None = None) -> Figure:
    return Figure(case=case, value=value, unit="", low=low, high=high)


def _prompts(samples: int) -> Iterator[Figure]:
    from tests.stats import interval_simulations as intervals

    for name in (*intervals.DISCRETE, *intervals.CONTINUOUS):
        low = None if name == intervals.EXCEPTION else 0.93
        for prompts in PROMPTS:
            share = intervals.coverage(name, prompts, samples)
            yield _figure(f"covered, {name}, {prompts} prompts", share, low)
            share = intervals.coverage(name, prompts, samples, plain=True)
            yield _figure(f"covered by t, {name}, {prompts} prompts", share)
    for prompts in (5, 30, 100):
        share = intervals.unbounded_coverage(prompts, samples)
        yield _figure(f"covered by t, lognormal without a scale, {prompts} prompts", share)


def _differences(samples: int) -> Iterator[Figure]:
    from tests.stats import interval_simulations as intervals

    for prompts in (8, 12, 26, 60, 100):
        low = 0.93 if prompts > 8 else None
        for name, change in product(intervals.CONTINUOUS, intervals.CHANGES):
            share = intervals.difference_coverage(name, change, prompts, samples)
            yield _figure(f"difference covered, {name}, {change}, {prompts} prompts", share, low)
        for name, fall in product(intervals.SHARES, (0.0, 0.1, 0.3)):
            share = intervals.level_difference_coverage(name, fall, prompts, samples)
            yield _figure(f"difference covered, {name}, fall of {fall:g}, {prompts} prompts", share, low)


def _clusters(samples: int) -> Iterator[Figure]:
    from tests.stats import interval_simulations as intervals

    for design, top, correlation in product(intervals.CLUSTERS, (0.95, 0.8, 0.5), (0.3, 0.6, 0.9)):
        case = f"clusters {design}, {top:g} at the top, correlation {correlation:g}"
        low = 0.91 if top > 0.5 else None
        for kind in (False, True):
            share = intervals.cluster_coverage(design, top, correlation, samples, continuous=kind)
            yield _figure(f"covered, {'continuous' if kind else 'passes'}, {case}", share, low)
        share = intervals.cluster_false_passes(design, top, correlation, samples)
        yield _figure(f"gate passes falsely, {case}", share)
    for correlation in (0.9, 0.989):  # .989: two passes of a cluster correlate .9 after the cut
        share = intervals.cluster_false_passes("28 of 1 and 2 of 20", 0.7, correlation, samples)
        yield _figure(f"gate passes falsely, 28 of 1 and 2 of 20, .7 at the top, {correlation:g}", share)


def _decisions(samples: int) -> Iterator[Figure]:
    from tests.stats import interval_simulations as intervals

    yield _figure("corrected mean covered, 12 conversations", intervals.ppi_coverage(samples), 0.93)
    yield _figure("balance test rejects, 24 conversations", intervals.balance_rejections(samples), high=0.06)
    for prompts in (12, 30, 60, 100, 300):
        share = intervals.noninferior_false_passes(prompts, 0.025, samples)
        yield _figure(f"noninferior passes falsely, 3 % collapse, {prompts} prompts", share, high=0.06)
        share = intervals.noninferior_false_passes(prompts, 0.025, samples, plain=True)
        yield _figure(f"t alone passes falsely, 3 % collapse, {prompts} prompts", share)
        share = intervals.noninferior_passes(prompts, 0.05, samples)
        yield _figure(f"noninferior passes, equal levels, margin .05, {prompts} prompts", share)
    for name, prompts, alpha in product(("normal", *intervals.SHARES), (12, 26, 60), LEVELS):
        power, stated = intervals.realised_power(name, prompts, max(1, samples // 10), alpha)
        case = f"{name}, {prompts} prompts, level {alpha:g}"
        yield _figure(f"stated difference found, {case}", power)
        yield _figure(f"difference stated, {case}", stated)
