"""How alike two texts are, and which answers repeat an earlier one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective.duplicates.similarity import THRESHOLD, near_duplicates, normalize_text, similarity

TEXTS = st.text(alphabet="今天真好呀吧的说 ,。！~Aa1😊\n", max_size=30)


@each_row(
    ("text", "expected"),
    [
        ("今天 真好。", "今天真好"),
        ("今天真好呀~", "今天真好"),
        ("走吧！我们走吧……好的说", "走我们走好"),
        ("好的呀呢吧", "好的"),
        ("酒吧里有呀", "酒吧里有"),
        ("ＡＢ　１２", "AB12"),
        ("⭐️😊👍🏽1️⃣", "1"),
        ("3^7-log_2(64)", "37log264"),
        ("café", "café"),
        ("……！？", ""),
        ("啊呀", ""),
        ("", ""),
    ],
)
def test_only_words_are_left(text, expected):
    assert normalize_text(text) == expected


@each_row(
    ("a", "b", "expected"),
    [
        ("abcd", "abcd", 1.0),
        ("abcd", "wxyz", 0.0),
        ("abcd", "abxd", 0.75),  # ratio 1 - 2/8; bigrams 1 of 5
        ("ab", "ba", 0.5),  # ratio 1 - 2/4; bigrams 0 of 2
        ("abcabc", "bcabca", 1.0),  # the same bigrams ab, bc, ca; ratio 10/12
        ("a", "a", 1.0),
        ("", "", 1.0),
        ("", "a", 0.0),
        ("😊", "😭", 0.0),
        ("😊 ", "😊", 1.0),
    ],
)
def test_similarity_by_hand(a, b, expected):
    assert similarity(a, b) == pytest.approx(expected)


def slow_ratio(a: str, b: str) -> float:
    """1 - indel distance / length, by the plain longest common subsequence."""
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if x == y else max(rows[i][j + 1], rows[i + 1][j])
    return 2 * rows[-1][-1] / (len(a) + len(b))


def slow_jaccard(a: str, b: str) -> float:
    def pairs(text: str) -> set[str]:
        return {x + y for x, y in pairwise(text)} or {text}

    return len(pairs(a) & pairs(b)) / len(pairs(a) | pairs(b))


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(TEXTS, TEXTS)
def test_similarity_is_the_larger_of_two_plain_measures(a, b):
    x, y = normalize_text(a), normalize_text(b)
    if x or y:
        assert similarity(a, b) == pytest.approx(max(slow_ratio(x, y), slow_jaccard(x, y)))
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, a) == 1


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.lists(TEXTS, max_size=6), st.sampled_from([0.5, 0.7, THRESHOLD, 1.0]))
def test_near_duplicates_agrees_with_all_pairs(texts, threshold):
    duplicates = near_duplicates(texts, threshold)
    for index, text in enumerate(texts):
        like = [i for i in range(index) if similarity(texts[i], text) >= threshold]
        assert (duplicates[index].of if duplicates[index] else None) == (like[0] if like else None)
        if duplicates[index]:
            assert duplicates[index].similarity == similarity(texts[like[0]], text)


def test_a_chain_is_measured_against_every_earlier_text():
    first, second = "abcdefghij", "abcdefghijk"
    duplicates = near_duplicates([first, second, second])
    assert [duplicate and duplicate.of for duplicate in duplicates] == [None, 0, 0]


@each_row("threshold", [0, -1, 1.01, float("nan")])
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must be above 0 and at most 1"):
        near_duplicates(["a"], threshold)
