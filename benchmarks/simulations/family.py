"""How often reports name differences between equal checkpoints, and find those of unequal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.results import family_simulations as reports

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure the family error, the power, and verdicts on equal means with another shape."""
    for kind in reports.KINDS:
        for prompts in (12, 30):
            share = reports.family_error(kind, prompts, 4, 2, samples)
            yield figure(f"equal, {kind}, {prompts} prompts, 4 checkpoints x 2 scores: any", share, 0.072)
    for prompts, checkpoints in ((20, 3), (20, 12), (30, 40)):
        share = reports.family_error("exponential", prompts, checkpoints, 1, samples)
        yield figure(f"equal, exponential, {prompts} prompts, {checkpoints} checkpoints: any", share, 0.072)
    share = reports.partial_error(20, 4, samples)
    yield figure("one of 4 checkpoints worse, 20 prompts: any among the others", share, 0.072)
    for kind, prompts, checkpoints, fall in reports.FALLS:
        tested, claimed = reports.power(kind, prompts, checkpoints, 1, fall, samples)
        case = f"fall of {fall:g}, {kind}, {prompts} prompts, {checkpoints} checkpoints"
        yield figure(f"{case}: p up to .05", tested)
        yield figure(f"{case}: worse", claimed)
    for checkpoints in (2, 6, 12):
        tested, claimed = reports.six_prompts(checkpoints, samples)
        case = f"6 prompts fall by a level, {checkpoints} checkpoints x 3 scores"
        yield figure(f"{case}: p up to .05", tested)
        yield figure(f"{case}: worse", claimed)
    for prompts in (8, 12, 26, 60):
        for name, shape in (("levels", reports.other_shape), ("points", reports.other_shape_of_points)):
            tested, claimed = shape(prompts, samples)
            yield figure(f"equal means, another shape, {name}, {prompts} prompts: p up to .05", tested)
            yield figure(f"equal means, another shape, {name}, {prompts} prompts: verdict", claimed)


def figure(case: str, value: float, high: float | None = None) -> Figure:
    """Return a simulated share."""
    return Figure(case=case, value=value, unit="", high=high)
