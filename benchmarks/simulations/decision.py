"""How often a decision names a fall, keeps the best on its list, and is misled by lost answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure size, power and the share of lists with the best, of 6 checkpoints and 3 scores."""
    from tests.results.simulations import DECLINE, SHAPES, share_fallen, share_with_best, verdicts_on_lost

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
    for prompts in (30, 60, 100, 200):
        for odds in (0.3, 0.6):
            lost, tested, named = verdicts_on_lost(samples, prompts, odds=odds)
            case = f"equal, {prompts} prompts x 3, bad answers lost with odds {odds:g}"
            yield Figure(case=f"{case}: share lost", value=lost, unit="")
            yield Figure(case=f"{case}: tested", value=tested, unit="", high=0.15)
            yield Figure(case=f"{case}: different if not counted", value=named, unit="")
