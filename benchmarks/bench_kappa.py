"""How often the interval of quadratic kappa holds the true kappa, and what certificates take.

    python benchmarks/bench_kappa.py

Five levels, of which people give .05, .10, .20, .35 and .30; the judge is a noisy copy with a shift.
Three intervals from the same bootstrap by prompt: ours (t on Fisher's z), percentiles, and BCa.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from hengwen.judges.calibration.figures import figure, resample_clusters
from hengwen.judges.calibration.statistics import cells_of, statistics

LEVELS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
CUTS = ndtri(np.cumsum([0.05, 0.1, 0.2, 0.35, 0.3])[:-1])
SIMULATIONS, RESAMPLES = 1000, 1000
DESIGNS = [
    # prompts, labels a prompt, latent correlation, share of what people vary that is the prompt's
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
    """Human and judge's levels: (simulations, prompts * each)."""
    shared = rng.normal(size=(simulations, prompts, 1))
    human = np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.normal(size=(simulations, prompts, each))
    judge = rho * human + np.sqrt(1 - rho**2) * rng.normal(size=human.shape) + 0.2
    return tuple(LEVELS[np.searchsorted(CUTS, side)].reshape(simulations, -1) for side in (human, judge))


def kappa(human: np.ndarray, judge: np.ndarray) -> float:
    """Of one series."""
    cells = cells_of(human, judge, np.zeros(len(human), dtype=np.intp), LEVELS)
    return float(statistics(cells, cells.total)["quadratic_kappa"][0])


def intervals(
    human: np.ndarray, judge: np.ndarray, prompts: int, seed: int
) -> dict[str, tuple[float, float]]:
    """The three intervals of one series."""
    index = np.repeat(np.arange(prompts), len(human) // prompts)
    cells = cells_of(human, judge, index, LEVELS)
    drawn = resample_clusters(prompts, RESAMPLES, seed) @ cells.counts
    value = statistics(cells, cells.total)["quadratic_kappa"][0]
    again = statistics(cells, drawn)["quadratic_kappa"]
    less = statistics(cells, cells.total - cells.counts)["quadratic_kappa"]
    ours = figure(
        float(value), again, kind="coefficient", n=len(human), clusters=prompts, reason="", level=0.95
    )
    again = again[~np.isnan(again)]
    off = less.mean() - less
    middle = ndtri(np.clip(np.mean(again < value) + np.mean(again == value) / 2, 1e-4, 1 - 1e-4))
    pull = (off**3).sum() / (6 * (off**2).sum() ** 1.5 + 1e-300)
    ends = [ndtr(middle + (middle + z) / (1 - pull * (middle + z))) for z in (-1.96, 1.96)]
    return {
        "ours": (ours.low or 0.0, ours.high or 0.0),
        "percentiles": tuple(np.quantile(again, [0.025, 0.975])),
        "BCa": tuple(np.quantile(again, ends)),
    }


def main() -> None:
    """Print one row a design."""
    print("prompts each  true | covers, lower bound below the truth, mean lower bound | bound >= .5")
    for prompts, each, rho, icc in DESIGNS:
        rng = np.random.default_rng(0)
        big = draw(rng, 1, 400_000, 1, rho, 0.0)
        true = kappa(big[0][0], big[1][0])
        pairs = zip(*draw(rng, SIMULATIONS, prompts, each, rho, icc), strict=True)
        found = [intervals(human, judge, prompts, seed) for seed, (human, judge) in enumerate(pairs)]
        said = []
        for name in ("ours", "percentiles", "BCa"):
            ends = np.array([one[name] for one in found])
            low, high = ends[:, 0] <= true, true <= ends[:, 1]
            said.append(f"{name} {np.mean(low & high):.3f} {np.mean(low):.3f} {ends[:, 0].mean():.2f}")
        passed = np.mean([one["ours"][0] >= 0.5 for one in found])
        print(f"{prompts:7d} {each:4d} {true:5.2f} | {' | '.join(said)} | {passed:.2f}", flush=True)


if __name__ == "__main__":
    main()
