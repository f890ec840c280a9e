"""Panels with a group of judges that lean alike: how far each ranking is from the true order.

The slow tests assert these figures, and ``benchmarks/bench_monitoring.py`` prints them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import kendalltau
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.peer_review import peer_review

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MODELS = 10


@dataclass(frozen=True)
class Panel:
    """Judges, the last ``group`` of which lean alike."""

    judges: int
    group: int
    logits: float
    """Logits for the answers of the group (a clique), or the standard deviation of a common taste."""
    is_clique: bool

    @property
    def name(self) -> str:
        """The panel in words."""
        kind = "a clique" if self.is_clique else "a common taste"
        return f"{self.group} of {self.judges} judges with {kind} of {self.logits:g}"

    @property
    def members(self) -> set[str]:
        """Names of the judges that lean alike."""
        return {f"m{judge:02d}" for judge in range(self.judges - self.group, self.judges)}

    def leanings(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the logits by which each judge prefers each model, shape (J, m)."""
        tastes = np.zeros((self.judges, MODELS))
        first = self.judges - self.group
        if self.is_clique:
            tastes[first:, first : self.judges] = self.logits
        else:
            tastes[first:] = rng.normal(0, self.logits, MODELS)
        return tastes


PANELS = (
    Panel(10, 3, 1.5, is_clique=True),
    Panel(8, 3, 0.75, is_clique=False),
    Panel(8, 5, 3.0, is_clique=True),
    Panel(8, 5, 1.5, is_clique=False),
)


class Taus(NamedTuple):
    """Mean Kendall tau with the true order over the panels with a noted group, and shares of panels."""

    noted: float
    """Share of panels in which a group is noted."""
    leaning: float
    """Share of the noted groups of which most judges lean."""
    ranking: float
    uniform: float
    without: float
    alone: float

    @property
    def better(self) -> float:
        """The better of the two sides."""
        return max(self.without, self.alone)


def taus(panel: Panel, samples: int) -> Taus:
    """Return how far the rankings of simulated panels are from the true order of the models."""
    rows = []
    for seed in range(samples):
        tastes = panel.leanings(np.random.default_rng([seed, 77]))
        battles = simulated_battles(seed, np.ones(panel.judges), models=MODELS, tastes=tastes)
        review = peer_review(battles, n_boot=20)
        if not review.without:
            continue
        group = review.without[0]
        uniform = peer_review(battles, method="uniform", n_boot=20)
        leaning = len(panel.members & set(group.judges)) / len(group.judges)
        rows.append(
            (
                leaning > 0.5,
                _tau({model.name: model.rank for model in review.models}),
                _tau({model.name: model.rank for model in uniform.models}),
                _tau({model.name: model.rank_without for model in group.models}),
                _tau({model.name: model.rank_alone for model in group.models}),
            )
        )
    return Taus(len(rows) / samples, *np.mean(rows, axis=0).tolist())


def _tau(ranks: Mapping[str, int]) -> float:
    return float(kendalltau([int(name[1:]) for name in ranks], list(ranks.values()))[0])
