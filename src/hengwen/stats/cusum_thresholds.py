"""Simulate the alarm thresholds of a CUSUM (cumulative sum) chart that compares scores with a baseline.

The chart raises an alarm when its statistic exceeds a threshold. A baseline of 100 scores only approximates
the true mean and distribution of scores. With thresholds that ignore this error of the baseline, 13 to 16 of
100 streams without any change raise an alarm, instead of 5. So each simulated stream draws its scores from a
bootstrap resample of the baseline, while the chart keeps the mean and the standard deviation of the given
baseline. The simulated false alarms then include those that occur because the baseline is only a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIMULATIONS = 10_000
"""Number of simulated streams. With 10,000 streams, a simulated false-alarm rate of .05 has a standard error
of .0022."""
MAX_REDRAWN = 10_000
"""Largest size of a bootstrap resample of the baseline; its mean has a standard error of .01 standard
deviations."""
_CHUNK_CELLS = 1_000_000
"""Number of resampled baseline scores that are in memory at a time."""
_BLOCK = 128
"""Number of scores of each stream that are drawn at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDistribution:
    """Scores of a baseline, with one pseudo-observation of half weight at each end of the range.

    The pseudo-observations stand for scores that are possible but rare. Without pseudo-observations, a
    baseline in which 97 % of the scores are the highest possible score often has too small a standard
    deviation, or a standard deviation of 0.
    """

    scores: NDArray[np.float64]
    """At least one finite score, shape (n,)."""
    ends: tuple[float, float]
    """Lowest and highest possible score; if these are unknown, lowest and highest score of the baseline."""

    @property
    def mean(self) -> float:
        """Mean of the scores and of the pseudo-observations at both ends of the range."""
        return float(self.scores.sum() + sum(self.ends) / 2) / (len(self.scores) + 1)

    @property
    def sd(self) -> float:
        """Standard deviation of the scores and of the pseudo-observations at both ends of the range."""
        span = self.ends[1] - self.ends[0]
        if span == 0:
            return 0.0
        mean = self.mean
        squares = np.square((self.scores - mean) / span).sum()  # division by span prevents underflow
        squares += sum(((end - mean) / span) ** 2 for end in self.ends) / 2
        return float(np.sqrt(squares / len(self.scores))) * span

    def pool(self) -> NDArray[np.float64]:
        """Return the standardized values from which simulated streams are drawn, shape (2n + 2,)."""
        values = np.concatenate((self.scores, self.scores, self.ends))
        return (values - self.mean) / self.sd


def cusum_thresholds(
    baseline: BaselineDistribution,
    *,
    reference_value: float,
    horizon: int,
    level: float,
    seed: int,
    simulations: int = SIMULATIONS,
) -> tuple[float, float]:
    """Return the thresholds of the upper and the lower CUSUM statistic of standardized scores."""
    pool = baseline.pool()
    size = min(len(baseline.scores), MAX_REDRAWN) + 1
    chunk = max(1, min(simulations, _CHUNK_CELLS // size))
    rng = np.random.default_rng(seed)
    maxima = [
        _cusum_maxima(rng, pool, (min(chunk, simulations - start), size), reference_value, horizon)
        for start in range(0, simulations, chunk)
    ]
    rank = min(int(np.ceil((1 - level) * (simulations + 1))), simulations) - 1
    up, down = np.sort(np.concatenate(maxima, axis=1), axis=1)[:, rank].tolist()
    return up, down


def _cusum_maxima(
    rng: np.random.Generator,
    pool: NDArray[np.float64],
    shape: tuple[int, int],
    reference_value: float,
    horizon: int,
) -> NDArray[np.float64]:
    """Return the largest value of each CUSUM statistic in each simulated stream, shape (2, streams)."""
    streams, size = shape
    redrawn = pool[rng.integers(len(pool), size=shape)].ravel()
    offsets = np.arange(streams) * size
    sums = np.zeros((2, streams))
    maxima = np.zeros((2, streams))
    for start in range(0, horizon, _BLOCK):
        for columns in rng.integers(size, size=(min(_BLOCK, horizon - start), streams)):
            scores = redrawn[columns + offsets]
            sums[0] += scores
            sums[1] -= scores
            sums -= reference_value
            np.maximum(sums, 0, out=sums)
            np.maximum(maxima, sums, out=maxima)
    return maxima
