"""How much of a model's change may be the new judge on longer answers?

The judge's change on the earlier answers is regressed on their length, and carried to the length of the later
answers. What is left of the model's change is tested again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MIN_CLUSTERS = 3
PER_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgedAnswer:
    """One answer with its prompt's cluster, its length in characters, and values by the old and new judge."""

    prompt: str
    cluster: str
    length: int
    new: float
    old: float | None = None
    """Value that the old judge gave; None for answers of the later checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthAdjustment:
    """The model's change without the part that a judge's change by length would explain."""

    slope: float
    """Change of the judge's value, from then to now, for each 100 characters of an answer."""
    lengths: tuple[float, float]
    """Mean length of the earlier and of the later answers, in characters."""
    remaining: float
    """The model's change minus ``slope`` times the change of length."""
    p: float
    """Two-sided p-value of ``remaining``, by the jackknife over clusters of prompts; not corrected."""


def length_adjustment(
    earlier: Sequence[RejudgedAnswer], later: Sequence[RejudgedAnswer]
) -> LengthAdjustment | None:
    """Return the model's change without that by length; None if it cannot be estimated."""
    rated = [answer for answer in earlier if answer.old is not None]
    before, after = _by_prompt(earlier), _by_prompt(later)
    prompts = [name for name in before if name in after]
    clusters = {answer.prompt: answer.cluster for answer in earlier}
    names = sorted({clusters[name] for name in prompts} | {answer.cluster for answer in rated})
    if len(names) < MIN_CLUSTERS or not prompts:
        return None
    code = {name: index for index, name in enumerate(names)}
    x = np.array([answer.length / PER_CHARACTERS for answer in rated])
    y = np.array([answer.new - (answer.old or 0.0) for answer in rated])
    pairs = np.array([[*before[name], *after[name]] for name in prompts])
    regression = _sums(
        [code[answer.cluster] for answer in rated], [np.ones(len(x)), x, y, x * x, x * y], code
    )
    changes = _sums(
        [code[clusters[name]] for name in prompts],
        [np.ones(len(pairs)), pairs[:, 2] - pairs[:, 0], pairs[:, 3] - pairs[:, 1]],
        code,
    )
    totals = regression.sum(axis=1, keepdims=True), changes.sum(axis=1, keepdims=True)
    slopes = _slopes(np.hstack([totals[0], totals[0] - regression]))
    counts, values, steps = np.hstack([totals[1], totals[1] - changes])
    if not np.isfinite(slopes).all() or (counts <= 0).any():
        return None
    results = (values - slopes * steps) / counts
    n = len(names)
    error = float(np.sqrt((n - 1) / n * np.square(results[1:] - results[1:].mean()).sum()))
    if error == 0:
        return None
    from scipy.special import stdtr

    lengths = pairs[:, [1, 3]].mean(axis=0) * PER_CHARACTERS
    return LengthAdjustment(
        slope=float(slopes[0]),
        lengths=(float(lengths[0]), float(lengths[1])),
        remaining=float(results[0]),
        p=float(2 * stdtr(n - 1, -abs(results[0]) / error)),
    )


def _by_prompt(answers: Sequence[RejudgedAnswer]) -> Mapping[str, tuple[float, float]]:
    """Return the mean value by the new judge and the mean length of the answers to each prompt."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for answer in answers:
        groups.setdefault(answer.prompt, []).append((answer.new, answer.length / PER_CHARACTERS))
    return {
        name: (float(np.mean([v for v, _ in group])), float(np.mean([x for _, x in group])))
        for name, group in groups.items()
    }


def _sums(codes: Sequence[int], columns: Sequence[Floats], names: Mapping[str, int]) -> Floats:
    return np.stack([np.bincount(codes, weights=column, minlength=len(names)) for column in columns])


def _slopes(sums: Floats) -> Floats:
    """Return the least-squares slope of each column of sums of 1, x, y, x * x and x * y."""
    n, x, y, squares, products = sums
    spread = n * squares - x * x
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (n * products - x * y) / np.where(spread > 1e-9 * n * squares, spread, np.nan)
    return np.asarray(slopes, np.float64)
