"""Simulate the alarm thresholds of a CUSUM (cumulative sum) chart that compares scores with a baseline.

With thresholds that ignore the error of a baseline of 100 scores, 13 to 16 of 100 streams without any change
raise an alarm, instead of 5. So each simulated stream draws its scores from a bootstrap resample of the
baseline, while the chart keeps the mean and the standard deviation of the given baseline.

If neighbouring scores of the baseline correlate, resamples and streams do too: they follow the ranks of a
latent AR(1) process. Otherwise .35 of streams with a correlation of .3 would raise an alarm, instead of .05.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

SIMULATIONS = 10_000
"""Number of simulated streams. With 10,000 streams, a simulated false-alarm rate of .05 has a standard error
of .0022."""
MAX_REDRAWN = 10_000
"""Largest size of a bootstrap resample of the baseline; its mean has a standard error of .01 standard
deviations."""
_CHUNK_CELLS = 1_000_000
"""Number of resampled baseline scores that are in memory at a time."""
MAX_CORRELATION = 0.9
"""Largest correlation of neighbours for which thresholds are simulated; a higher one counts as this."""
_BLOCK = 128
"""Number of scores of each stream that are drawn at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDistribution:
    """Scores of a baseline, with one pseudo-observation of half weight at each end of the range."""

    # The pseudo-observations stand for scores that are possible but rare. Without pseudo-observations, a
    # baseline in which 97 % of the scores are the highest possible score often has too small a standard
    # deviation, or a standard deviation of 0.

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
    correlation: float = 0.0,
    simulations: int = SIMULATIONS,
) -> tuple[float, float]:
    """Return the thresholds of the upper and the lower CUSUM statistic of standardized scores."""
    pool = baseline.pool()
    size = min(len(baseline.scores), MAX_REDRAWN) + 1
    chunk = max(1, min(simulations, _CHUNK_CELLS // size))
    rng = np.random.default_rng(seed)
    maxima = [
        _cusum_maxima(
            rng, pool, (min(chunk, simulations - start), size), reference_value, horizon, correlation
        )
        for start in range(0, simulations, chunk)
    ]
    rank = min(int(np.ceil((1 - level) * (simulations + 1))), simulations) - 1
    up, down = np.sort(np.concatenate(maxima, axis=1), axis=1)[:, rank].tolist()
    return up, down


def lag_correlation(scores: NDArray[np.float64]) -> float:
    """Return the correlation of neighbouring scores, without bias in short series; 0 if it is not seen."""
    # It is 0 unless at most one of twenty series of independent scores would have a larger one.
    n = len(scores)
    deviations = scores - scores.mean()
    squares = float(np.square(deviations).sum())
    if n < 5 or squares <= 0:
        return 0.0
    raw = float((deviations[1:] * deviations[:-1]).sum()) / squares
    return min((n * raw + 1) / (n - 3), MAX_CORRELATION) if raw > 1.645 / np.sqrt(n) else 0.0


def _positions(
    rng: np.random.Generator, correlation: float, shape: tuple[int, int], size: int
) -> Iterator[NDArray[np.intp]]:
    """Yield rows of positions in a sorted pool of ``size`` values; neighbouring rows correlate."""
    rows, columns = shape
    if not correlation:
        for start in range(0, rows, _BLOCK):
            yield from rng.integers(size, size=(min(_BLOCK, rows - start), columns))
        return
    from scipy.special import ndtr

    fresh, latent = np.sqrt(1 - correlation**2), rng.standard_normal(columns)
    for _ in range(rows):
        yield np.minimum((ndtr(latent) * size).astype(np.intp), size - 1)
        latent = correlation * latent + fresh * rng.standard_normal(columns)


def _redrawn(
    rng: np.random.Generator, correlation: float, pool: NDArray[np.float64], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return bootstrap resamples of the baseline, one a row; sorted if neighbouring scores correlate."""
    if not correlation:
        return np.asarray(pool[rng.integers(len(pool), size=shape)], np.float64)
    ordered = np.sort(pool)
    rows = [ordered[positions] for positions in _positions(rng, correlation, shape[::-1], len(pool))]
    return np.sort(np.stack(rows, axis=1), axis=1)


def _cusum_maxima(
    rng: np.random.Generator,
    pool: NDArray[np.float64],
    shape: tuple[int, int],
    reference_value: float,
    horizon: int,
    correlation: float,
) -> NDArray[np.float64]:
    """Return the largest value of each CUSUM statistic in each simulated stream, shape (2, streams)."""
    streams, size = shape
    redrawn = _redrawn(rng, correlation, pool, shape).ravel()
    offsets = np.arange(streams) * size
    sums = np.zeros((2, streams))
    maxima = np.zeros((2, streams))
    for positions in _positions(rng, correlation, (horizon, streams), size):
        scores = redrawn[positions + offsets]
        sums[0] += scores
        sums[1] -= scores
        sums -= reference_value
        np.maximum(sums, 0, out=sums)
        np.maximum(maxima, sums, out=maxima)
    return maxima
