"""Scores as numeric arrays, their ordinal patterns as codes, and the entropy of their counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from math import factorial, prod
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from hengwen._internal.plugins import whole_number

if TYPE_CHECKING:
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


def as_sequence(x: ArrayLike, way_out: str = "drop it or fill it in") -> NDArray[Any]:
    """Return one sequence of scores, without NaN, as a 1-D array."""
    array = as_scores(x)
    if array.ndim != 1:
        raise ValueError(f"scores must be one sequence, got shape {array.shape}; pass one row at a time")
    refuse_nan(array, way_out)
    return array


def as_rows(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the sequences of a batch as the rows of a matrix; a single sequence becomes one row."""
    return scores.reshape(prod(scores.shape[:-1]), scores.shape[-1])


def refuse_nan(array: NDArray[Any], way_out: str = "drop it or fill it in") -> None:
    """Raise a ValueError with the index of the first NaN if there is any."""
    if array.dtype.kind == "f" and array.size > 0 and bool(np.isnan(np.max(array))):
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


BLOCK = 32_768
_DENSE_LIMIT = 40_320
_CODE_LIMIT = 20
_COMPARED_KINDS = 6


def window_count(n: int, m: int, delay: int) -> int:
    """Return the number of windows in n scores; the m scores of a window are ``delay`` positions apart."""
    windows = n - (m - 1) * delay
    if windows >= 1:
        return windows
    fits = (n - 1) // delay + 1 if n else 0
    advice = f"lower m to {fits} or add scores" if fits >= 2 else "add scores"
    if fits >= 2 and delay > 1:
        advice = f"lower m to {fits}, lower delay or add scores"
    needed = (m - 1) * delay + 1
    raise ValueError(f"{n} scores are too few for m={m} and delay={delay}, which need {needed}; {advice}")


def pattern_codes(x: NDArray[Any], m: int, delay: int) -> NDArray[Any]:
    """Return the code (number of the ordinal pattern) of each window of m scores along the last axis."""
    windows = window_count(x.shape[-1], m, delay)
    flat = x.reshape(-1)
    reach = (m - 1) * delay
    codes = np.empty(flat.size, code_dtype(m))
    step = max(BLOCK, 2 * reach) if m <= _CODE_LIMIT else flat.size
    # rows are treated as one sequence: computing and dropping windows across two rows is faster than a loop
    for start in range(0, flat.size - reach, step):
        block = block_codes(flat[start : start + step + reach], m, delay)
        codes[start : start + len(block)] = block
    return codes.reshape(x.shape)[..., :windows]


def block_codes(x: NDArray[Any], m: int, delay: int) -> NDArray[Any]:
    """Return the code (number of the ordinal pattern) of each window in a block (a part of a sequence)."""
    windows = len(x) - (m - 1) * delay
    greater = (x[:-delay] > x[delay:]).view(np.uint8).astype(np.min_scalar_type(m), copy=False)
    code = greater[:windows].astype(code_dtype(m))
    for j in range(2, m):
        lag = j * delay
        greater = greater[delay:]
        greater += (x[:-lag] > x[lag:]).view(np.uint8)
        digit = greater[:windows]
        if j < _CODE_LIMIT:
            code += np.multiply(digit, factorial(j), dtype=code.dtype)
        else:
            code = np.unique(code, return_inverse=True)[1] * (j + 1) + digit
    return code


def code_counts(x: NDArray[Any], m: int, delay: int) -> NDArray[np.intp]:
    """Return the counts of the patterns that occur in one sequence, in the order of their codes."""
    windows = window_count(len(x), m, delay)
    if factorial(min(m, 9)) > min(_DENSE_LIMIT, 4 * windows):
        return np.unique(pattern_codes(x, m, delay), return_counts=True)[1]
    total = np.zeros(factorial(m), np.intp)
    step = max(BLOCK, 2 * (m - 1) * delay, 2 * factorial(m))
    for start in range(0, windows, step):
        block = x[start : min(start + step, windows) + (m - 1) * delay]
        total += _count(block_codes(block, m, delay), len(total))
    return total[total > 0]


def _count(codes: NDArray[Any], kinds: int) -> NDArray[np.intp]:
    if kinds > _COMPARED_KINDS:
        return np.bincount(codes, minlength=kinds)
    return np.array([np.count_nonzero(codes == kind) for kind in range(kinds)])


def code_dtype(m: int) -> Any:
    """Return the smallest integer type for the codes of windows of m scores."""
    for dtype, max_order in ((np.uint8, 5), (np.uint16, 8), (np.uint32, 12)):
        if m <= max_order:
            return dtype
    return np.uint64 if m <= _CODE_LIMIT else np.int64


_CELLS = 100_000
_LONG_ROW = 4096
_LANE_ORDER = 4
_LANE_WINDOWS = 255
_ALL_LANES = np.uint64(0x0101010101010101)
_TOP_LANE = np.uint64(56)


def entropy_of(counts: NDArray[Any]) -> float:
    """Return the entropy, in nats, of positive counts."""
    distinct, index = np.unique(counts, return_inverse=True)
    parts = terms(distinct.tolist(), float(counts.sum()))[index]
    return float(np.add.accumulate(parts)[-1])


def batch_entropies(rows: NDArray[Any], m: int, delay: int) -> NDArray[np.float64]:
    """Return the permutation entropy, in nats, of each row; two equal scores count as a rise."""
    if rows.shape[1] > _LONG_ROW:
        return np.array([entropy_of(code_counts(row, m, delay)) for row in rows])
    step = max(1, _CELLS // rows.shape[1])
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    return np.concatenate(
        [np.empty(0), *(code_entropies(pattern_codes(part, m, delay), m) for part in parts)]
    )


def code_entropies(codes: NDArray[Any], m: int) -> NDArray[np.float64]:
    """Return the entropy, in nats, of each row of codes; the codes stand for patterns of m scores."""
    windows = codes.shape[1]
    table = term_table(windows)
    count = _lane_entropies if m <= _LANE_ORDER and windows <= _LANE_WINDOWS else _sorted_entropies
    step = max(1, _CELLS // windows)
    parts = [codes[start : start + step] for start in range(0, len(codes), step)]
    return np.concatenate([np.empty(0), *(count(part, m, table) for part in parts)])


def _lane_entropies(codes: NDArray[np.uint8], m: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy, in nats, of each row of codes; used for a small m and short rows."""
    rows, windows = codes.shape
    padded = np.full((rows, -(-windows // 8) * 8), 255, np.uint8)
    padded[:, :windows] = codes
    lanes = np.ascontiguousarray(padded.view(np.uint64).T).view(np.uint8)
    out = np.zeros(rows)
    for code in range(factorial(m)):
        hits = np.add.reduce((lanes == code).view(np.uint64), axis=0)
        hits *= _ALL_LANES
        hits >>= _TOP_LANE
        out += table.take(hits.view(np.int64))
    return out


def _sorted_entropies(codes: NDArray[Any], _m: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count patterns by sorting the codes and counting equal neighbours; used for a large m or long rows."""
    rows, windows = codes.shape
    ranked = np.sort(codes, axis=1)
    first = np.ones((rows, windows), bool)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=rows * windows)
    sums = np.bincount(starts // windows, table[counts], rows)
    return sums.astype(np.float64, copy=False)


@lru_cache(maxsize=8)
def term_table(windows: int) -> NDArray[np.float64]:
    """Return the term that each count from 0 to ``windows`` adds to the entropy, in nats."""
    return np.append(0.0, terms(list(range(1, windows + 1)), float(windows)))


def terms(counts: list[Any], total: float) -> NDArray[np.float64]:
    """Return the term that each count adds to the entropy, in nats."""
    shares = [count / total for count in counts]
    return np.array([abs(share * math.log(share)) for share in shares])


Base = float | Literal["e"]


@overload
def permutation_entropy(
    x: Sequence[float],
    m: int = 3,
    delay: int = 1,
    *,
    base: Base = "e",
    normalize: bool = False,
    axis: int = -1,
) -> float: ...
@overload
def permutation_entropy(
    x: ArrayLike, m: int = 3, delay: int = 1, *, base: Base = "e", normalize: bool = False, axis: int = -1
) -> float | NDArray[np.float64]: ...


def permutation_entropy(
    x: ArrayLike, m: int = 3, delay: int = 1, *, base: Base = "e", normalize: bool = False, axis: int = -1
) -> float | NDArray[np.float64]:
    """Return the Shannon entropy of the ordinal patterns (orders of the scores in a window) of a sequence.

    Args:
        x: At least (m - 1) * delay + 1 scores in order; an array with several axes is a batch of sequences.
        m: Number of scores in a window, at least 2. For a reliable estimate, the number of scores should be
            well above 5 m!.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        base: Base of the logarithm: ``"e"`` gives nats, ``2`` gives bits.
        normalize: Whether to divide the entropy by the logarithm of m!, its largest possible value.
        axis: Axis of a batch along which the scores of a sequence follow each other.

    Returns:
        A float from 0 (only one pattern occurs) to log m!, or to 1 if normalized; for a batch, an array.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or an option is unknown.

    Notes:
        Bandt and Pompe (2002), Phys. Rev. Lett. 88, 174102. The entropy does not depend on how high the
        scores are: applying a strictly increasing function to all scores does not change the entropy.
        Two equal scores count as a rise, so ties favour rising patterns: for random scores from 1 to 5 and
        m = 3, the entropy is .966 log 3!, not log 3!.

    Examples:
        >>> permutation_entropy([5, 4, 5, 4, 5, 4, 5, 4])
        0.6931471805599453
        >>> permutation_entropy([1, 2, 3, 4, 5])
        0.0
        >>> permutation_entropy([1, 2, 1, 3], m=2, normalize=True).__round__(4)
        0.9183
    """
    _check_window(m, delay)
    if not isinstance(normalize, bool):
        raise ValueError(f"normalize must be True or False, got {normalize!r}")
    unit = log_of_base(base)
    if normalize:
        unit = math.log(math.factorial(m))
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    window_count(scores.shape[-1], m, delay)
    if scores.ndim == 1:
        return entropy_of(code_counts(scores, m, delay)) / unit
    return (batch_entropies(as_rows(scores), m, delay) / unit).reshape(scores.shape[:-1])


def pattern_counts(x: ArrayLike, m: int = 3, delay: int = 1) -> dict[tuple[int, ...], int]:
    """Count the ordinal patterns (orders of the scores in a window) of a sequence.

    Args:
        x: One sequence of at least (m - 1) * delay + 1 scores, in order.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.

    Returns:
        Counts of the patterns that occur, sorted by pattern. A pattern is the stable argsort of its window:
        (0, 1, 2) rises, (2, 1, 0) falls. Two equal scores count as a rise.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, or a score is NaN.

    Examples:
        >>> pattern_counts([5, 4, 5, 4, 5, 4, 5, 4])
        {(0, 2, 1): 3, (1, 0, 2): 3}
    """
    _check_window(m, delay)
    row = as_sequence(x)
    codes = pattern_codes(row, m, delay)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    windows = row[first[:, None] + np.arange(m) * delay]
    patterns = map(tuple, np.argsort(windows, axis=1, kind="stable").tolist())
    return dict(sorted(zip(patterns, counts.tolist(), strict=True)))


def _check_window(m: int, delay: int) -> None:
    whole_number("m", m, 2)
    whole_number("delay", delay)


def log_of_base(base: float | str) -> float:
    """Return the natural logarithm of the base, 1 for ``"e"``."""
    if base == "e":
        return 1.0
    if isinstance(base, str) or not 1 < base < math.inf:
        raise ValueError(f"base must be 'e' or a number above 1, got {base!r}")
    return math.log(base)
