"""Compute entropy from counts, with bit-identical results for one sequence and for a batch."""

from __future__ import annotations

import math
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.relevance_metrics.core.pattern_codes import code_counts, pattern_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
