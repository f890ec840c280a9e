"""Fill missing values of a table with the sum of a row effect and a column effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_ROUNDS = 500
"""Maximum number of rounds in which missing values are replaced by fitted values."""


def fill_missing(table: Floats) -> Floats:
    """Return a table in which each missing value is replaced by its least-squares fit: row + column."""
    missing = np.isnan(table)
    if not missing.any():
        return table
    filled = np.where(missing, np.nanmean(table, axis=1, keepdims=True), table)
    scale = float(np.abs(filled).max()) or 1.0
    for _ in range(MAX_ROUNDS):
        fitted = np.where(missing, additive_part(filled), table)
        change = float(np.abs(fitted - filled).max())
        filled = fitted
        if change <= 1e-12 * scale:
            break
    return filled


def additive_part(table: Floats) -> Floats:
    """Return the mean of the row plus the mean of the column minus the mean of the table, for each cell."""
    by_row, by_column = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    return np.asarray(by_row + by_column - table.mean(), np.float64)
