"""Compute the union of longest common subsequences (LCS) for ROUGE-Lsum, with one row of bits per token."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hengwen.objective.lcs import lcs_length

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CELLS = 2_000_000_000
"""Maximum product of the numbers of tokens of two compared sentences: 250 MB of bits."""
MAX_STEPS = 200_000_000
"""Maximum work for all pairs of different sentences, in steps of about 10 ns (see ``_steps``)."""
_STEPS_PER_TOKEN, _STEPS_PER_PAIR = 30, 60


def union_hits(reference: Sequence[Sequence[str]], hypothesis: Sequence[Sequence[str]]) -> int:
    """Return the number of matched tokens of the reference sentences; each token counts at most once."""
    if len(reference) == len(hypothesis) == 1:
        return lcs_length(reference[0], hypothesis[0])
    left, right = Counter(t for s in reference for t in s), Counter(t for s in hypothesis for t in s)
    matched = _matched_indices(reference, hypothesis)
    hits = 0
    for sentence in map(tuple, reference):
        for index in matched[sentence]:
            token = sentence[index]
            if left[token] > 0 and right[token] > 0:
                hits += 1
                left[token] -= 1
                right[token] -= 1
    return hits


def _matched_indices(
    reference: Sequence[Sequence[str]], hypothesis: Sequence[Sequence[str]]
) -> dict[tuple[str, ...], list[int]]:
    """Return, for each distinct reference sentence, the token indices that are part of an LCS."""
    others = list(dict.fromkeys(map(tuple, hypothesis)))
    with_token: dict[str, list[int]] = {}
    for number, other in enumerate(others):
        for token in dict.fromkeys(other):
            with_token.setdefault(token, []).append(number)
    steps = 0
    partners: dict[tuple[str, ...], set[int]] = {}
    for sentence in dict.fromkeys(map(tuple, reference)):
        numbers = partners[sentence] = set()
        for token in dict.fromkeys(sentence):
            steps += len(with_token.get(token, ()))
            numbers.update(with_token.get(token, ()))
        steps += sum(_steps(len(sentence), len(others[number])) for number in numbers)
        if steps > MAX_STEPS:
            sizes = f"{sum(map(len, reference))} and {sum(map(len, hypothesis))} tokens"
            raise ValueError(f"texts of {sizes} are too long for rougeLsum, use rougeL")
    return {
        sentence: sorted(set().union(*(lcs_indices(sentence, others[number]) for number in numbers)))
        for sentence, numbers in partners.items()
    }


def _steps(a: int, b: int) -> int:
    """Return the work of ``lcs_indices`` for two lengths, in units of about 10 ns."""
    return a * b // 32 + _STEPS_PER_TOKEN * (a + b) + _STEPS_PER_PAIR


def lcs_indices(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return the indices in ``a`` of one longest common subsequence with ``b``, in descending order."""
    if len(a) * len(b) > MAX_CELLS:
        raise ValueError(
            f"sentences of {len(a)} and {len(b)} tokens are too long for rougeLsum, "
            "split them into lines or use rougeL"
        )
    rows = _rows(a, b)
    indices = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            indices.append(i - 1)
            i -= 1
            j -= 1
        elif _is_longer(rows[i - 1], rows[i], j):
            j -= 1
        else:
            i -= 1
    return indices


def _rows(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return rows of bits; bit j of row i is set if b[:j + 1] has a longer LCS with a[:i] than b[:j] has."""
    positions: dict[str, int] = {}
    for index, token in enumerate(b):
        positions[token] = positions.get(token, 0) | 1 << index
    full = (1 << len(b)) - 1
    complement = full  # complement of the row, as in Hyyrö's recurrence
    rows = [0]
    for token in a:
        matches = complement & positions.get(token, 0)
        complement = ((complement + matches) | (complement - matches)) & full
        rows.append(full ^ complement)
    return rows


def _is_longer(above: int, row: int, width: int) -> bool:
    """Return whether the LCS of the first ``width`` tokens is longer in this row than in the row above."""
    mask = (1 << width) - 1
    return (row & mask).bit_count() > (above & mask).bit_count()
