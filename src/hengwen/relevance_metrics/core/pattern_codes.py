"""Ordinal patterns as codes, and the entropy of their counts; a batch gives the same bits as one sequence."""

from __future__ import annotations

import math
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
