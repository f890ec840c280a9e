"""Judges that agree with people within checkpoints, and judges that see only which checkpoint is bad.

The slow tests assert these figures, and ``benchmarks/bench_monitoring.py`` prints them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hengwen.judges.calibration.agreement import measure_agreement, measure_within
from hengwen.judges.calibration.joining import JudgedAnswer, RatedAnswer

LEVELS = [0.0, 0.25, 0.5, 0.75, 1.0]
CUTS = np.array([-1.2, -0.4, 0.4, 1.2])


@dataclass(frozen=True)
class Design:
    """Prompts and checkpoints; ``rho`` is the latent correlation of judge and people within a checkpoint."""

    prompts: int
    checkpoints: int
    rho: float
    spread: float
    """Half the distance of the worst and the best checkpoint, in latent standard deviations."""
    icc: float = 0.5
    """Share of the latent variance that is the prompt's, at every checkpoint."""

    @property
    def name(self) -> str:
        """The design in words."""
        return (
            f"{self.prompts} prompts x {self.checkpoints}, correlation {self.rho:g}, spread {self.spread:g}"
        )

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of the levels of people and judge, of shape (prompts, checkpoints)."""
        shape = self.prompts, self.checkpoints
        shift = np.linspace(-self.spread, self.spread, self.checkpoints)
        human = self.icc**0.5 * rng.normal(size=(self.prompts, 1))
        human = human + (1 - self.icc) ** 0.5 * rng.normal(size=shape)
        judge = self.rho * human + (1 - self.rho**2) ** 0.5 * rng.normal(size=shape)
        return np.searchsorted(CUTS, human + shift), np.searchsorted(CUTS, judge + shift)

    def truth(self) -> float:
        """Return kappa within checkpoints, of many prompts."""
        many = Design(200_000, self.checkpoints, self.rho, self.spread, self.icc)
        rng = np.random.default_rng(9)
        human, judge = many.draw(rng)
        others = judge[rng.permutation(many.prompts)]
        return float(1 - np.square(human - judge).mean() / np.square(human - others).mean())


DESIGNS = (
    Design(12, 4, 0.0, 1.5),
    Design(12, 4, 0.7, 1.5),
    Design(60, 2, 0.5, 1.0),
    Design(30, 4, 0.8, 1.0, icc=0.3),
    Design(25, 2, 0.9, 0.5),
)


def rated_pairs(human: NDArray[np.intp], judge: NDArray[np.intp]) -> list[RatedAnswer]:
    """Return the labelled answers of a table of levels."""
    return [
        RatedAnswer(
            JudgedAnswer(task="t", id=f"p{prompt}", checkpoint=f"c{checkpoint}", value=LEVELS[level]),
            LEVELS[level],
            LEVELS[human[prompt, checkpoint]],
            (),
        )
        for (prompt, checkpoint), level in np.ndenumerate(judge)
    ]


def rates(design: Design, samples: int, threshold: float = 0.5) -> dict[str, float]:
    """Return coverage, and how often a lower bound reaches the threshold: within, and over all answers."""
    rng, truth = np.random.default_rng(3), design.truth()
    covered = within_passes = pooled_passes = 0
    for _ in range(samples):
        pairs = rated_pairs(*design.draw(rng))
        within = measure_within(pairs, levels=LEVELS, resamples=200, confidence=0.95, seed=0)
        pooled = measure_agreement(
            [pair.human for pair in pairs],
            [pair.value for pair in pairs],
            levels=LEVELS,
            clusters=[pair.answer.prompt for pair in pairs],
            resamples=200,
        ).quadratic_kappa
        assert within is not None
        kappa = within.quadratic_kappa
        assert kappa.low is not None
        assert kappa.high is not None
        assert pooled.low is not None
        covered += kappa.low <= truth <= kappa.high
        within_passes += kappa.low >= threshold
        pooled_passes += pooled.low >= threshold
    counts = {"coverage": covered, "within": within_passes, "pooled": pooled_passes}
    return {name: count / samples for name, count in counts.items()}
