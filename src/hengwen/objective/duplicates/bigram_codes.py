"""Bigrams of many texts as arrays of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def bigram_codes(
    texts: Sequence[str],
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the sorted bigram codes of each text, their occurrence numbers, and the number of codes."""
    lengths = np.array([len(text) for text in texts])
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(raw, dtype=np.uint32).astype(np.uint64)
    following = np.append(points[1:], np.uint64(0))
    ends = np.cumsum(lengths) - 1
    following[ends] = 0
    keep = np.ones(len(points), dtype=bool)
    keep[ends[lengths > 1]] = False  # a text of one character is its own bigram
    owner = np.repeat(np.arange(len(texts)), lengths)[keep]
    codes = (points << np.uint64(32) | following)[keep]
    order = np.lexsort((codes, owner))
    codes, owner = codes[order], owner[order]
    fresh = np.ones(len(codes), dtype=bool)
    fresh[1:] = (codes[1:] != codes[:-1]) | (owner[1:] != owner[:-1])
    run_start = np.maximum.accumulate(np.where(fresh, np.arange(len(codes)), 0))
    return codes, np.arange(len(codes)) - run_start, np.maximum(lengths - 1, 1)
