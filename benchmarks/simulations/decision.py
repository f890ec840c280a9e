"""How often a decision names a fall from the peak, and keeps the best checkpoint on its list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure size, power and the share of lists with the best, of 6 checkpoints and 3 scores."""
    from tests.results.simulations import DECLINE, SHAPES, share_fallen, share_with_best

    equal = [0.0] * len(DECLINE)
    limits = {12: (0.05, 0.35), 26: (0.5, 0.85), 60: (0.97, None)}
    for prompts, (low, high) in limits.items():
        share = share_fallen(samples, "normal", DECLINE, prompts)
        case = f"decline of .75 SD, {prompts} prompts: fallen from the peak"
        yield Figure(case=case, value=share, unit="", low=low, high=high)
        for shape in SHAPES:
            share = share_fallen(samples, shape, equal, prompts)
            yield Figure(case=f"equal, {shape}, {prompts} prompts: fallen", value=share, unit="", high=0.05)
            share = share_with_best(samples, shape, DECLINE, prompts)
            case = f"decline, {shape}, {prompts} prompts: the best is not worse"
            yield Figure(case=case, value=share, unit="", low=0.9)
