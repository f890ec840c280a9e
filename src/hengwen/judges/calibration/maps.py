"""Calibration maps and what they are worth: errors on prompts they were not fitted on, beside the raw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.judges.calibration.figures import (
    RESAMPLES,
    Estimate,
    cluster_index,
    figure,
    resample_clusters,
)
from hengwen.judges.calibration.isotonic import IsotonicMap
from hengwen.judges.calibration.ordinal import OrdinalMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST_LABELS = 30
FOLDS = 5

MapKind = Literal["isotonic", "ordinal"]
KINDS: tuple[MapKind, ...] = ("isotonic", "ordinal")


@dataclass(frozen=True, slots=True, kw_only=True)
class MapReport:
    """A map, fitted on all labels, and its errors on prompts that it did not see."""

    kind: MapKind
    n: int
    folds: int
    raw_error: float
    """Mean squared distance of the judge's value to the human's."""
    error: float
    """The same of the calibrated value, each of a map fitted without the answers of that prompt."""
    gain: Estimate
    """``raw_error - error``: below 0 the map makes it worse."""
    levels: tuple[tuple[float, float], ...]
    """(judge's value, calibrated value) for each level: the raw one is kept beside."""
    map: IsotonicMap | OrdinalMap

    @property
    def helps(self) -> bool | None:
        """Whether the gain is above 0 beyond chance; False: below; None: neither can be told."""
        if self.gain.low is None or self.gain.high is None:
            return None
        return True if self.gain.low > 0 else False if self.gain.high < 0 else None


def fit_maps(
    judge: Sequence[float],
    human: Sequence[float],
    *,
    levels: Sequence[float],
    clusters: Sequence[str] | None = None,
    folds: int = FOLDS,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[MapReport, ...]:
    """Fit both maps, and measure them by cross-validation: all answers of a prompt are in the same fold.

    Args:
        judge: The judge's values, length n >= 30.
        human: What people said of the same answers.
        levels: All levels, ascending.
        clusters: The prompt of each answer; default: all different.
        folds: At least 2, at most as many as prompts.
        resamples: Of the bootstrap behind the gain's interval.
        level: Of that interval.
        seed: Of the folds and the bootstrap.

    Returns:
        The isotonic map, then the ordinal one.

    Raises:
        ValueError: There are fewer than 30 labels, or fewer prompts than folds, or the lengths differ.

    Examples:
        >>> human = [0, 0.5, 1] * 12  # the best for 0.5 is 0.25: an error of 2 / 3 * 0.25 ** 2, 0.0417
        >>> judge = [0.5, 0.5, 1] * 12
        >>> for report in fit_maps(judge, human, levels=[0, 0.5, 1]):
        ...     print(report.kind, round(report.raw_error, 4), round(report.error, 4), report.helps)
        isotonic 0.0833 0.0437 True
        ordinal 0.0833 0.0438 True
        >>> fit_maps(judge[:12], human[:12], levels=[0, 0.5, 1])
        Traceback (most recent call last):
        ValueError: a calibration map needs at least 30 labels, got 12
    """
    x, y = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} judge's values but {len(y)} human")
    if len(x) < LEAST_LABELS:
        raise ValueError(f"a calibration map needs at least {LEAST_LABELS} labels, got {len(x)}")
    index, count = cluster_index(clusters or [str(i) for i in range(len(x))])
    if not 2 <= folds <= count:
        raise ValueError(f"{folds} folds need at least as many prompts, got {count}; label more prompts")
    fold = _folds(count, folds, seed)[index]
    drawn = resample_clusters(count, resamples, seed)
    scale = tuple(float(value) for value in levels)
    return tuple(_report(kind, x, y, scale, index, fold, drawn, level) for kind in KINDS)


def fit_map(
    kind: MapKind, judge: NDArray[np.float64], human: NDArray[np.float64], levels: Sequence[float]
) -> IsotonicMap | OrdinalMap:
    """Fit one map."""
    return IsotonicMap.fit(judge, human) if kind == "isotonic" else OrdinalMap.fit(judge, human, levels)


def _folds(clusters: int, folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each cluster, as even as can be."""
    places = np.arange(clusters) % folds
    return np.random.default_rng(seed).permutation(places)


def _report(
    kind: MapKind,
    judge: NDArray[np.float64],
    human: NDArray[np.float64],
    levels: tuple[float, ...],
    index: NDArray[np.intp],
    fold: NDArray[np.intp],
    drawn: NDArray[np.float64],
    level: float,
) -> MapReport:
    unseen = np.empty_like(human)
    for one in np.unique(fold):
        out = fold == one
        unseen[out] = fit_map(kind, judge[~out], human[~out], levels).predict(judge[out])
    raw, calibrated = np.square(judge - human), np.square(unseen - human)
    gains = np.bincount(index, weights=raw - calibrated)
    sizes = np.bincount(index).astype(float)
    whole = fit_map(kind, judge, human, levels)
    return MapReport(
        kind=kind,
        n=len(human),
        folds=len(np.unique(fold)),
        raw_error=float(raw.mean()),
        error=float(calibrated.mean()),
        gain=figure(
            float((raw - calibrated).mean()),
            (drawn @ gains) / (drawn @ sizes),
            kind="free",
            n=len(human),
            clusters=len(sizes),
            reason="",
            level=level,
        ),
        levels=tuple((value, float(whole.predict([value])[0])) for value in levels),
        map=whole,
    )
