"""Peer reviews with a group of judges that lean alike: how far each ranking is from the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure Kendall's tau-b with the true order, of all judges and of both sides."""
    from tests.peer_review.clique_simulations import PANELS, taus

    for panel in PANELS:
        mean = taus(panel, samples)
        for case, value in mean._asdict().items():
            yield Figure(case=f"{panel.name}: {case}", value=value, unit="")
