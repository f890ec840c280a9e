"""Diversity metrics, counted by hand."""

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective.diversity.metrics import (
    compression_ratio,
    distinct_n,
    ngram_entropy,
    repetition_rate,
    type_token_ratio,
)


@each_row(
    ("texts", "n", "expected"),
    [
        (["风吹过", "风吹来"], 2, 3 / 4),
        (["风风风"], 1, 1 / 3),
        (["a b", "b c"], 2, 1.0),
        (["a b a b"], 2, 2 / 3),
        (["风，吹！过。"], 2, 1.0),
    ],
    ids=["shared pair", "one character", "no gram crosses texts", "words", "punctuation is no token"],
)
def test_the_share_of_distinct_grams_is_counted_over_all_texts(
    texts: list[str], n: int, expected: float
) -> None:
    assert distinct_n(texts, n) == pytest.approx(expected)


def test_text_without_an_n_gram_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(ValueError, match="fewer than 2 tokens"):
        distinct_n(["", "啊", "！！！"], 2)


@each_row(
    ("texts", "n", "bits", "share"),
    [
        (["风吹风来"], 1, 1.5, 0.75),
        (["风吹", "风来"], 2, 1.0, 1.0),
        (["哈哈哈"], 1, 0.0, 0.0),
        (["a a b"], 1, log2(3) - 2 / 3, 1 - 2 / 3 / log2(3)),
    ],
)
def test_entropy_by_hand(texts: list[str], n: int, bits: float, share: float) -> None:
    assert ngram_entropy(texts, n) == pytest.approx(bits)
    assert ngram_entropy(texts, n, normalize=True) == pytest.approx(share)


def test_the_entropy_of_one_gram_cannot_be_normalised() -> None:
    assert ngram_entropy(["风吹"], 2) == 0
    with pytest.raises(ValueError, match="only one 2-gram"):
        ngram_entropy(["风吹"], 2, normalize=True)


def test_repetition_is_within_a_text() -> None:
    assert repetition_rate("风吹过风吹过", 3) == pytest.approx(1 / 4)  # 风吹过 twice of four
    assert repetition_rate("风吹过山岗", 4) == 0
    with pytest.raises(ValueError, match="fewer than 4 tokens"):
        repetition_rate("风吹过", 4)


def test_type_token_ratio_whole_and_by_window() -> None:
    assert type_token_ratio("a rose is a rose") == 3 / 5
    assert type_token_ratio("a b a c", window=3) == pytest.approx((2 / 3 + 1) / 2)
    with pytest.raises(ValueError, match="the text has 2 tokens, fewer than the window of 3"):
        type_token_ratio("a b", window=3)


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="ab 风吹", min_size=1, max_size=30), st.integers(1, 5))
def test_the_moving_window_agrees_with_all_windows(text: str, window: int) -> None:
    tokens = text.replace("风", " 风 ").replace("吹", " 吹 ").split()
    if len(tokens) >= window:
        shares = [len(set(tokens[i : i + window])) / window for i in range(len(tokens) - window + 1)]
        assert type_token_ratio(text, window=window) == pytest.approx(sum(shares) / len(shares))


def test_repeated_texts_compress_better() -> None:
    varied = compression_ratio(["风吹过山岗", "月照着海洋", "我想你了"])
    assert compression_ratio(["风吹过山岗"] * 3) > varied
    with pytest.raises(ValueError, match="every text is empty"):
        compression_ratio(["", ""])
