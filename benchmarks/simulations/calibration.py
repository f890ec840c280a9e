"""Agreement of judges with people within checkpoints: coverage, and certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure the coverage of kappa within checkpoints, and how often a judge is certified."""
    from tests.judges.calibration.simulations import DESIGNS, rates

    for design in DESIGNS:
        shares = rates(design, samples)
        case = f"{design.name} (kappa within {design.truth():.2f})"
        yield Figure(case=f"{case}: covered", value=shares["coverage"], unit="", low=0.9)
        yield Figure(case=f"{case}: certified", value=shares["within"], unit="")
        yield Figure(case=f"{case}: kappa of all answers reaches .5", value=shares["pooled"], unit="")
