"""Encode ordinal patterns (the order of the scores in a window) as numbers, by comparisons without sorting.

The code of the window (x[t], x[t+d], ..), where d is the delay, is the sum of j! * S_j. S_j is the number of
earlier scores in the window that are greater than score j of the window. This Lehmer code has exactly one
value for each pattern, where the pattern is the stable argsort of the window.
"""

from __future__ import annotations

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
