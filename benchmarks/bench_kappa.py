"""Simulate how often three intervals contain the true quadratic kappa, and how often a judge is certified.

    python benchmarks/bench_kappa.py [--simulations 1000]

Five levels with human shares .05, .10, .20, .35 and .30; the judge's levels are the human levels with noise
and a shift. All three intervals come from the same bootstrap over prompts: Hengwen's (Student's t for
Fisher's z), the percentile interval, and the bias-corrected and accelerated (BCa) interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from harness.figures import HENGWEN, Figure, print_entries, script_parser
from hengwen.judges.calibration.statistics import (
    agreement_statistics,
    bootstrap_estimate,
    pair_cells,
    resample_clusters,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
CUTS = ndtri(np.cumsum([0.05, 0.1, 0.2, 0.35, 0.3])[:-1])
RESAMPLES = 1000
DESIGNS = [
    # prompts, labels per prompt, latent correlation, share of the latent human variance between prompts
    (30, 1, 0.85, 0.0),
    (50, 1, 0.85, 0.0),
    (50, 1, 0.6, 0.0),
    (50, 1, 0.78, 0.0),
    (80, 1, 0.78, 0.0),
    (120, 1, 0.78, 0.0),
    (100, 1, 0.85, 0.0),
    (17, 3, 0.85, 0.4),
    (10, 3, 0.85, 0.4),
    (10, 5, 0.6, 0.4),
    (6, 8, 0.85, 0.4),
    (5, 8, 0.85, 0.4),
    (5, 8, 0.6, 0.4),
]


def draw(
    rng: np.random.Generator, simulations: int, prompts: int, each: int, rho: float, icc: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return human and judge levels, both of shape (simulations, prompts * labels per prompt)."""
    shared = rng.normal(size=(simulations, prompts, 1))
    human = np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.normal(size=(simulations, prompts, each))
    judge = rho * human + np.sqrt(1 - rho**2) * rng.normal(size=human.shape) + 0.2
    return tuple(LEVELS[np.searchsorted(CUTS, side)].reshape(simulations, -1) for side in (human, judge))


def kappa(human: np.ndarray, judge: np.ndarray) -> float:
    """Return the quadratic kappa of one simulation."""
    cells = pair_cells(human, judge, np.zeros(len(human), dtype=np.intp), LEVELS)
    return float(agreement_statistics(cells, cells.total)["quadratic_kappa"][0])


def intervals(
    human: np.ndarray, judge: np.ndarray, prompts: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return the three intervals of one simulation."""
    index = np.repeat(np.arange(prompts), len(human) // prompts)
    cells = pair_cells(human, judge, index, LEVELS)
    weights = resample_clusters(prompts, RESAMPLES, seed) @ cells.counts
    value = agreement_statistics(cells, cells.total)["quadratic_kappa"][0]
    resampled = agreement_statistics(cells, weights)["quadratic_kappa"]
    jackknife = agreement_statistics(cells, cells.total - cells.counts)["quadratic_kappa"]
    estimate = bootstrap_estimate(
        float(value),
        resampled,
        kind="coefficient",
        n=len(human),
        clusters=prompts,
        reason="",
        confidence=0.95,
    )
    resampled = resampled[~np.isnan(resampled)]
    deviations = jackknife.mean() - jackknife
    bias = ndtri(np.clip(np.mean(resampled < value) + np.mean(resampled == value) / 2, 1e-4, 1 - 1e-4))
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5 + 1e-300)
    ends = [ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in (-1.96, 1.96)]
    return {
        HENGWEN: (estimate.low or 0.0, estimate.high or 0.0),
        "percentiles": tuple(np.quantile(resampled, [0.025, 0.975])),
        "BCa": tuple(np.quantile(resampled, ends)),
    }


def figures(simulations: int) -> Iterator[Figure]:
    """Simulate each design."""
    for prompts, each, rho, icc in DESIGNS:
        rng = np.random.default_rng(0)
        human, judge = draw(rng, 1, 400_000, 1, rho, 0.0)
        true = kappa(human[0], judge[0])
        pairs = zip(*draw(rng, simulations, prompts, each, rho, icc), strict=True)
        results = [intervals(human, judge, prompts, seed) for seed, (human, judge) in enumerate(pairs)]
        case = f"{prompts} prompts x {each}, kappa {true:.2f}"
        for name in results[0]:
            ends = np.array([result[name] for result in results])
            low, high = ends[:, 0] <= true, true <= ends[:, 1]
            for label, value in (
                ("coverage", np.mean(low & high)),
                ("lower bound below the truth", np.mean(low)),
                ("mean lower bound", ends[:, 0].mean()),
            ):
                yield Figure(case=f"{case}: {label}", system=name, value=float(value), unit="")
        passed = np.mean([result[HENGWEN][0] >= 0.5 for result in results])
        yield Figure(case=f"{case}: certified (bound at least .5)", value=float(passed), unit="")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    options = parser.parse_args()
    print_entries(figures(options.simulations), as_json=options.json)


if __name__ == "__main__":
    main()
