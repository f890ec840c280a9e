"""Near duplicates of many texts: the exact index misses nothing, MinHash very little."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective.duplicates.exact_index import candidates, first_match
from hengwen.objective.duplicates.similarity import near_duplicates, normalize_text, similarity

CHARACTERS = (
    "今天真好晚上月色风吹过山岗我想你一起走看海星光路灯夏夜雨声歌梦远方城市花开春水流年时间记忆温柔等待"
)


def plain(texts: list[str], threshold: float) -> list[int | None]:
    """Every pair, as the rule is written."""
    return [
        next((j for j in range(i) if similarity(texts[j], text) >= threshold), None)
        for i, text in enumerate(texts)
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.text(alphabet="ab今晚c，呀", max_size=14), max_size=9),
    st.sampled_from([0.5, 0.67, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0]),
)
def test_the_index_agrees_with_every_pair(texts: list[str], threshold: float) -> None:
    duplicates = near_duplicates(texts, threshold)
    assert [duplicate and duplicate.of for duplicate in duplicates] == plain(texts, threshold)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.text(alphabet="abcdefgh", min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abxyz-")), max_size=6),
    st.sampled_from([0.7, 0.8, 0.85, 0.9]),
)
def test_an_edited_text_is_always_a_candidate(
    text: str, edits: list[tuple[int, str]], threshold: float
) -> None:
    """Texts without particles and punctuation, so that the similarity is that of the index."""
    edited = list(text)
    for index, character in edits:
        if character == "-" and len(edited) > 1:
            edited.pop(index % len(edited))
        elif character != "-":
            edited.insert(index % (len(edited) + 1), character)
    other = "".join(edited)
    if other != text and similarity(text, other) >= threshold:
        lists = list(candidates([text, other], threshold))
        assert any(0 in numbers for numbers in lists[1])


@pytest.mark.slow
@each_row("threshold", [0.7, 0.75, 0.8, 6 / 7, 0.9])
def test_ties_at_the_threshold_count_in_all_short_texts(threshold: float) -> None:
    texts = ["".join(letters) for size in range(1, 6) for letters in product("ab", repeat=size)]
    for first in texts:
        for second in texts:
            repeats = near_duplicates([first, second], threshold)[1] is not None
            assert repeats == (similarity(first, second) >= threshold), (first, second)


def family(rng: random.Random, count: int) -> list[str]:
    texts = ["".join(rng.choice(CHARACTERS) for _ in range(rng.randint(8, 60))) for _ in range(count)]
    for index in range(count // 2, count):
        text = list(texts[rng.randrange(count // 2)])
        for _ in range(max(1, len(text) // 14)):
            position = rng.randrange(len(text))
            text[position : position + 1] = rng.choice(
                (rng.choice(CHARACTERS), "", text[position] + rng.choice(CHARACTERS))
            )
        texts[index] = "".join(text)
    return texts


@pytest.mark.slow
@each_row("threshold", [0.8, 0.85, 0.9])
def test_minhash_reports_only_repeats_and_misses_few(threshold: float) -> None:
    texts = family(random.Random(11), 1200)
    exact, quick = (near_duplicates(texts, threshold, exact=how) for how in (True, False))
    assert sum(duplicate is not None for duplicate in exact) > 200
    differ = [index for index, (a, b) in enumerate(zip(exact, quick, strict=True)) if a != b]
    assert len(differ) <= 0.01 * sum(duplicate is not None for duplicate in exact)
    for duplicate, text in zip(quick, texts, strict=True):
        assert duplicate is None or similarity(texts[duplicate.of], text) == duplicate.similarity >= threshold


def test_minhash_finds_sets_of_bigrams_that_repeat() -> None:
    texts = ["哈哈哈", "哈" * 40, "好", "好", "呵"]
    duplicates = near_duplicates(texts, exact=False)
    assert (
        [duplicate and duplicate.of for duplicate in duplicates]
        == plain(texts, 0.85)
        == [None, 0, None, 2, None]
    )


@pytest.mark.slow
def test_many_equal_texts_cost_little() -> None:
    duplicates = near_duplicates(["晚上好，主人", "我想吃鱼"] * 20_000)
    assert duplicates[:2] == [None, None]
    assert {duplicate.of for duplicate in duplicates[2::2] if duplicate} == {0}
    assert {duplicate.of for duplicate in duplicates[3::2] if duplicate} == {1}


def test_texts_without_letters_repeat_only_themselves() -> None:
    duplicates = near_duplicates(["！", "？", "！ ", "", "啊", ""])
    assert [duplicate and duplicate.of for duplicate in duplicates] == plain(
        ["！", "？", "！ ", "", "啊", ""], 0.85
    )
    assert duplicates[2] == (0, 1.0)
    assert normalize_text("啊") == ""


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(0, 60), max_size=25).map(lambda x: sorted(set(x))), max_size=5),
    st.integers(1, 9),
)
def test_the_first_match_is_the_smallest(lists: list[list[int]], step: int) -> None:
    expected = min((number for numbers in lists for number in numbers if number % step == 0), default=None)
    assert first_match(lists, lambda number: number % step == 0) == expected
