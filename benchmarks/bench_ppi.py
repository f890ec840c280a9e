"""Simulate the interval of a judge's mean that is corrected by human labels: how wide and how often right.

    python benchmarks/bench_ppi.py [--simulations 4000]

20 or 50 labels on five levels with human shares .05, .10, .20, .35 and .30; the judge's levels are the human
levels with noise and an upward shift. The intervals should contain the true mean in .95 of cases. ``judge
alone`` is the normal interval of the judge's mean; ``plain PPI++`` (prediction-powered inference) tunes its
parameter lambda as Hengwen does, and uses the normal interval without a correction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from harness.figures import HENGWEN, Figure, print_entries, script_parser
from hengwen.judges.calibration import ppi_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
SHARES = np.array([0.05, 0.1, 0.2, 0.35, 0.3])
CUTS = ndtri(np.cumsum(SHARES)[:-1])
DESIGNS = [
    # labels, labels per prompt, other prompts, answers per other prompt, prompt's share of the variance,
    # whether the other answers are to the same prompts
    ("independent, 150 others", 50, 1, 150, 1, 0.0, False),
    ("independent, 450 others", 50, 1, 450, 1, 0.0, False),
    ("3 per prompt, 150 others", 50, 3, 50, 3, 0.3, False),
    ("3 per prompt, similar", 50, 3, 50, 3, 0.6, False),
    ("3 of 5 repeats labelled", 50, 3, 17, 2, 0.3, True),
    ("20 labels, 180 others", 20, 1, 180, 1, 0.0, False),
]


def draw(
    rng: np.random.Generator, prompts: int, each: int, rho: float, icc: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return human and judge levels, both of shape (prompts, answers per prompt)."""
    noise = rng.normal(size=(prompts, each))
    human = np.sqrt(icc) * rng.normal(size=(prompts, 1)) + np.sqrt(1 - icc) * noise
    judge = rho * human + np.sqrt(1 - rho**2) * rng.normal(size=human.shape) + 0.3
    return LEVELS[np.searchsorted(CUTS, human)], LEVELS[np.searchsorted(CUTS, judge)]


def naive(human: np.ndarray, judge: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Return the normal interval of PPI++ (prediction-powered inference) without corrections."""
    n, rest = len(human), len(others)
    slope = np.cov(human, judge)[0, 1] / max(np.var(judge, ddof=1), 1e-12) / (1 + n / rest)
    mean = human.mean() - slope * (judge.mean() - others.mean())
    error = np.sqrt(np.var(human - slope * judge, ddof=1) / n + slope**2 * np.var(others, ddof=1) / rest)
    return mean - 1.96 * error, mean + 1.96 * error


def figures(simulations: int) -> Iterator[Figure]:
    """Simulate each design and correlation."""
    for name, *design in DESIGNS:
        for rho in (0.0, 0.36, 0.6, 0.85):
            case = f"{name}, latent correlation {rho:g}"
            for system, label, value in simulated(rho, *design, simulations=simulations):
                yield Figure(case=f"{case}: {label}", system=system, value=float(value), unit="")


def simulated(
    rho: float,
    labels: int,
    each: int,
    other_prompts: int,
    other_each: int,
    icc: float,
    shared: bool,
    *,
    simulations: int,
) -> Iterator[tuple[str, str, float]]:
    """Simulate a design; yield systems, names and values of its figures."""
    prompts = -(-labels // each)
    names = np.repeat(np.arange(prompts), each)[:labels].astype(str).tolist()
    first = 0 if shared else 1000
    other_names = np.repeat(first + np.arange(other_prompts), other_each).astype(str).tolist()
    true = float(SHARES @ LEVELS)
    rng = np.random.default_rng(20261121)
    rows = []
    for _ in range(simulations):
        human, judge = draw(rng, prompts, each + other_each if shared else each, rho, icc)
        if shared:
            human, judge, others = human[:, :each], judge[:, :each], judge[:, each:]
        else:
            _, others = draw(rng, other_prompts, other_each, rho, icc)
        human, judge, others = human.ravel()[:labels], judge.ravel()[:labels], others.ravel()
        estimate = ppi_mean(human, judge, others, clusters=names, other_clusters=other_names)
        judge_values = np.concatenate([judge, others])
        half = 1.96 * judge_values.std(ddof=1) / np.sqrt(len(judge_values))
        plain = naive(human, judge, others)
        rows.append(
            (
                estimate.low <= true <= estimate.high,
                estimate.high - estimate.low,
                estimate.labels_low <= true <= estimate.labels_high,
                estimate.labels_high - estimate.labels_low,
                plain[0] <= true <= plain[1],
                abs(judge_values.mean() - true) <= half,
            )
        )
    covers, width, labels_cover, labels_width, plain_covers, judge_covers = np.mean(rows, axis=0)
    yield HENGWEN, "coverage", covers
    yield "labels alone", "coverage", labels_cover
    yield "plain PPI++", "coverage", plain_covers
    yield "judge alone", "coverage", judge_covers
    yield HENGWEN, "mean width", width
    yield "labels alone", "mean width", labels_width


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__)
    parser.add_argument("--simulations", type=int, default=4000)
    options = parser.parse_args()
    print_entries(figures(options.simulations), as_json=options.json)


if __name__ == "__main__":
    main()
