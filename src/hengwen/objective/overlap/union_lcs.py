"""The union of longest common subsequences, the heart of ROUGE-Lsum, on rows of bits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CELLS = 2_000_000_000
"""Tokens of one reference sentence times those of one hypothesis sentence: 250 MB of bits."""


def union_hits(reference: Sequence[Sequence[str]], hypothesis: Sequence[Sequence[str]]) -> int:
    """Return how many tokens of the reference sentences are met, none of either text counted twice.

    Args:
        reference: Its sentences, each a sequence of tokens.
        hypothesis: Its sentences.

    Raises:
        ValueError: Two sentences are too long to compare.

    Notes:
        Of several longest subsequences the one that rouge-score takes: going back from the ends of both
        sentences, an equal pair is taken; else the hypothesis steps back where that loses nothing and
        stepping back in the reference would, else the reference does.

    Examples:
        >>> union_hits([list("abcde")], [list("abfgh"), list("acie")])  # ab and ace: a b c e
        4
    """
    if len(reference) == len(hypothesis) == 1:
        return LCSseq.similarity(reference[0], hypothesis[0])
    left, right = Counter(t for s in reference for t in s), Counter(t for s in hypothesis for t in s)
    hits = 0
    for sentence in reference:
        met = sorted(set().union(*(lcs_indices(sentence, other) for other in hypothesis)))
        for place in met:
            token = sentence[place]
            if left[token] > 0 and right[token] > 0:
                hits += 1
                left[token] -= 1
                right[token] -= 1
    return hits


def lcs_indices(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return the places in ``a`` of one longest common subsequence with ``b``, from the last to the first.

    Examples:
        >>> lcs_indices("abcd", "xbd")
        [3, 1]
    """
    if len(a) * len(b) > MAX_CELLS:
        raise ValueError(
            f"sentences of {len(a)} and {len(b)} tokens are too long for rougeLsum, "
            "split them into lines, or take rougeL"
        )
    rows = _rows(a, b)
    places = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            places.append(i - 1)
            i -= 1
            j -= 1
        elif _raised(rows[i - 1], rows[i], j):
            j -= 1
        else:
            i -= 1
    return places


def _rows(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Row i has bit j set where b[:j + 1] has a longer common subsequence with a[:i] than b[:j] has."""
    where: dict[str, int] = {}
    for place, token in enumerate(b):
        where[token] = where.get(token, 0) | 1 << place
    full = (1 << len(b)) - 1
    falls = full  # the complement, as in Hyyrö's recurrence
    rows = [0]
    for token in a:
        matches = falls & where.get(token, 0)
        falls = ((falls + matches) | (falls - matches)) & full
        rows.append(full ^ falls)
    return rows


def _raised(above: int, row: int, width: int) -> bool:
    """Whether the subsequence within the first ``width`` tokens is longer than that of the row above."""
    mask = (1 << width) - 1
    return (row & mask).bit_count() > (above & mask).bit_count()
