"""How often attacks keep a judge with noisy verdicts from being admitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure the size and the power of the test of the attacks."""
    from tests.judges.trust.simulations import share_failed

    for flip_rate in (0.05, 0.1, 0.2):
        for fooled, low, high in ((0.0, None, 0.015), (0.1, None, None), (0.2, 0.5, None), (0.3, 0.85, None)):
            share = share_failed(samples, flip_rate, fooled)
            case = f"flip rate {flip_rate:g}, {fooled:.0%} of attacks fool the judge: not admitted"
            yield Figure(case=case, value=share, unit="", low=low, high=high)
