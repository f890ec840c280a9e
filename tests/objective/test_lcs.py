"""Longest common subsequences agree with rapidfuzz, by every way to find them."""

from __future__ import annotations

import random

import pytest
from rapidfuzz.distance import LCSseq

from hengwen.objective import text as lcs
from hengwen.objective.text import lcs_length


@pytest.mark.slow
@pytest.mark.parametrize("max_matches", [0, 10**9])
@pytest.mark.parametrize("kinds", [2, 30, 300])
def test_long_texts_give_the_same_length(
    monkeypatch: pytest.MonkeyPatch, max_matches: int, kinds: int
) -> None:
    monkeypatch.setattr(lcs, "_SMALL", 10)
    monkeypatch.setattr(lcs, "_MAX_MATCHES", max_matches)
    monkeypatch.setattr(lcs, "_MIN_CELLS_PER_MATCH", 1)
    draw = random.Random(kinds)
    for _ in range(60):
        a, b = (
            "".join(chr(0x4E00 + draw.randrange(kinds)) for _ in range(draw.randrange(4, 400))) for _ in "ab"
        )
        start, end = a[:40], b[:90]
        assert lcs_length(start + a + end, start + b + end) == len(start + end) + LCSseq.similarity(a, b)
        assert lcs_length(a, b) == lcs_length(list(a), list(b)) == LCSseq.similarity(a, b)


def test_texts_beyond_the_limit_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="texts of 300000 and 300000 characters or tokens are too long"):
        lcs_length("ab" * 150_000, "ba" * 150_000)
    wide = "".join(map(chr, range(0x4E00, 0x4F00))) * 300 + "好" * 4000
    with pytest.raises(ValueError, match="too long to compare"):
        lcs_length(wide, wide[::-1] + "x")
