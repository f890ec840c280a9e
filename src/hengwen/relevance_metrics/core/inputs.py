"""Scores as numeric arrays, or as small integers; errors say how to correct the input."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike, NDArray


_WAY_OUT = "pass numbers, one for each score"


def as_scores(x: ArrayLike, *, axis: int = -1) -> NDArray[Any]:
    """Return the scores as a numeric array with the sequence on its last axis."""
    array = _as_numeric(x)
    if array.ndim == 0:
        raise TypeError(f"scores must be a sequence, got one value {array.item()!r}; wrap it in a list")
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis {axis} is out of range for scores with {array.ndim} axes")
    return np.moveaxis(array, axis, -1) if array.ndim > 1 else array


def as_sequence(x: ArrayLike) -> NDArray[Any]:
    """Return one sequence of scores, without NaN, as a 1-D array."""
    array = as_scores(x)
    if array.ndim != 1:
        raise ValueError(f"scores must be one sequence, got shape {array.shape}; pass one row at a time")
    refuse_nan(array)
    return array


def as_rows(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the sequences of a batch as the rows of a matrix; a single sequence becomes one row."""
    return scores.reshape(prod(scores.shape[:-1]), scores.shape[-1])


def has_nan(array: NDArray[Any]) -> bool:
    """Return whether any score is NaN."""
    return array.dtype.kind == "f" and array.size > 0 and bool(np.isnan(np.max(array)))


def refuse_nan(array: NDArray[Any], way_out: str = "drop it or fill it in") -> None:
    """Raise a ValueError with the index of the first NaN if there is any."""
    if has_nan(array):
        indices = np.argwhere(np.isnan(array))[0].tolist()
        index = indices[0] if len(indices) == 1 else tuple(indices)
        raise ValueError(f"score {index} is NaN, which has no order; {way_out}")


def check_choice(name: str, value: object, allowed: Collection[object]) -> None:
    """Raise a ValueError if the value of an option is not allowed."""
    if not any(value is option or (isinstance(value, str) and value == option) for option in allowed):
        raise ValueError(f"unknown {name} {value!r}; known: {', '.join(map(repr, allowed))}")


def _as_numeric(x: ArrayLike) -> NDArray[Any]:
    if isinstance(x, np.ma.MaskedArray):
        x = np.ma.filled(x.astype(np.float64), np.nan) if np.ma.is_masked(x) else x.data
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError(
            "scores must have equal lengths in a batch, got a ragged list; pass rows one by one"
        ) from None
    kind = array.dtype.kind
    if kind in "iuf":
        return array
    if kind == "b":
        return array.astype(np.uint8)
    if kind == "O" and array.ndim:
        return _from_objects(array)
    value = array.flat[0] if array.size else array.dtype
    if kind in "US":
        value = next((item for item in array.flat if not _is_number(item)), value)
    raise TypeError(f"scores must be numbers, got {_repr(value)}; {_WAY_OUT}")


def _from_objects(array: NDArray[Any]) -> NDArray[Any]:
    for index, value in enumerate(array.flat):
        if value is None or isinstance(value, str | bytes | complex | list | tuple):
            raise TypeError(f"scores must be numbers, got {value!r} at position {index}; {_WAY_OUT}")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"scores must be numbers, got objects such as {array.flat[0]!r}; {_WAY_OUT}"
        ) from None


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _repr(value: Any) -> str:
    """Return the repr of the plain Python value behind a numpy scalar."""
    return repr(value.item() if isinstance(value, np.generic) else value)


_SAMPLE_SIZE = 2048
_MAX_LEVELS = 64


def few_levels(row: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return small integers (uint8) that are ordered like the scores; None if there are too many levels."""
    if not len(row):
        return np.zeros(0, np.uint8)
    if row.dtype.kind in "iu":
        low = row.min()
        if int(row.max()) - int(low) < 256:
            shifted: NDArray[np.uint8] = (row.astype(np.int64, copy=False) - low.astype(np.int64)).astype(
                np.uint8
            )
            return shifted
    levels = np.unique(row[:_SAMPLE_SIZE])
    if len(levels) > _MAX_LEVELS:
        return None
    ranks = np.zeros(len(row), np.uint8)
    for level in levels[:-1]:
        ranks += row > level
    return ranks if np.array_equal(levels[ranks], row) else None


def ranks_of(rows: NDArray[Any]) -> NDArray[Any]:
    """Return dense ranks (equal scores share a rank) of each row, as unsigned integers."""
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    dtype = np.min_scalar_type(rows.shape[1])
    steps = np.zeros(rows.shape, dtype)
    np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1, dtype=dtype, out=steps[:, 1:])
    out = np.empty(rows.shape, dtype)
    np.put_along_axis(out, order, steps, axis=1)
    return out
