"""N-grams are counted exactly, in memory and in files, and each text is read once."""

from __future__ import annotations

import zlib
from collections import Counter
from math import fsum, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.objective import compression_ratio, distinct_n, ngram_entropy
from hengwen.objective.diversity import metrics as packed_ngrams
from hengwen.objective.diversity.metrics import count_ngrams
from hengwen.objective.diversity.scorers import NgramEntropy
from hengwen.objective.text import mixed_tokens
from hengwen.records import Response, Sample

TEXTS = st.lists(st.text(alphabet="风吹来 ab\u0301！", max_size=14), min_size=1, max_size=8)


def counted(texts: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(
        gram
        for tokens in map(mixed_tokens, texts)
        for gram in zip(*(tokens[start:] for start in range(n)), strict=False)
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=120)
@given(TEXTS, st.integers(1, 5), st.booleans())
def test_counts_are_those_of_a_counter(texts: list[str], n: int, in_files: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if in_files:
            patch.setattr(packed_ngrams, "MAX_ROWS", 2)
            patch.setattr(packed_ngrams, "CHUNK_TOKENS", 4)
        counts, expected = count_ngrams(iter(texts), n), counted(texts, n)
    assert (counts.distinct, counts.total) == (len(expected), expected.total())
    assert counts.frequencies == Counter(expected.values())


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(1, 3))
def test_metrics_are_bit_for_bit_those_of_a_counter(texts: list[str], n: int) -> None:
    counts = counted(texts, n)
    if not counts:
        return
    total = counts.total()
    bits = max(0.0, log2(total) - fsum(count * log2(count) for count in counts.values()) / total)
    assert distinct_n(iter(texts), n) == len(counts) / total
    assert ngram_entropy(iter(texts), n) == bits


def test_compression_does_not_depend_on_how_texts_are_joined() -> None:
    texts = [f"第{number}行，风吹过山岗 " * (number % 7) for number in range(3000)]
    raw = "\n".join(texts).encode()
    assert compression_ratio(iter(texts)) == len(raw) / len(zlib.compress(raw, 9))


def test_a_single_ngram_has_no_normalised_entropy() -> None:
    with pytest.raises(ValueError, match="there is only one 2-gram"):
        NgramEntropy().score_set([(Sample(id="a"), Response(sample_id="a", text="风吹"))])
