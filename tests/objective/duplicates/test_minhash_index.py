"""Near duplicates of many texts: the exact index misses nothing, MinHash very little."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.objective.duplicates.exact_index import candidates, first_match
from hengwen.objective.duplicates.scorers import NearDuplicates
from hengwen.objective.duplicates.similarity import near_duplicates, normalize_text, similarity
from hengwen.records import Response, Sample

CHARACTERS = (
    "今天真好晚上月色风吹过山岗我想你一起走看海星光路灯夏夜雨声歌梦远方城市花开春水流年时间记忆温柔等待"
)


def plain(texts: list[str], threshold: float) -> list[int | None]:
    """Every pair, as the rule is written."""
    return [
        next((j for j in range(i) if similarity(texts[j], text) >= threshold), None)
        for i, text in enumerate(texts)
    ]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.text(alphabet="ab今晚c，呀", max_size=14), max_size=9),
    st.sampled_from([0.5, 0.67, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0]),
)
def test_the_index_agrees_with_every_pair(texts: list[str], threshold: float) -> None:
    found = near_duplicates(texts, threshold)
    assert [one and one.of for one in found] == plain(texts, threshold)


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
    for place, character in edits:
        if character == "-" and len(edited) > 1:
            edited.pop(place % len(edited))
        elif character != "-":
            edited.insert(place % (len(edited) + 1), character)
    other = "".join(edited)
    if other != text and similarity(text, other) >= threshold:
        lists = list(candidates([text, other], threshold))
        assert any(0 in numbers for numbers in lists[1])


@pytest.mark.parametrize("threshold", [0.7, 0.75, 0.8, 6 / 7, 0.9])
def test_ties_at_the_threshold_count_in_all_short_texts(threshold: float) -> None:
    texts = ["".join(letters) for size in range(1, 6) for letters in product("ab", repeat=size)]
    for first in texts:
        for second in texts:
            found = near_duplicates([first, second], threshold)[1] is not None
            assert found == (similarity(first, second) >= threshold), (first, second)


def family(rng: random.Random, count: int) -> list[str]:
    texts = ["".join(rng.choice(CHARACTERS) for _ in range(rng.randint(8, 60))) for _ in range(count)]
    for place in range(count // 2, count):
        text = list(texts[rng.randrange(count // 2)])
        for _ in range(max(1, len(text) // 14)):
            spot = rng.randrange(len(text))
            text[spot : spot + 1] = rng.choice(
                (rng.choice(CHARACTERS), "", text[spot] + rng.choice(CHARACTERS))
            )
        texts[place] = "".join(text)
    return texts


@pytest.mark.parametrize("threshold", [0.8, 0.85, 0.9])
def test_minhash_reports_only_repeats_and_misses_few(threshold: float) -> None:
    texts = family(random.Random(11), 1200)
    exact, quick = (near_duplicates(texts, threshold, exact=how) for how in (True, False))
    assert sum(one is not None for one in exact) > 200
    differ = [place for place, (a, b) in enumerate(zip(exact, quick, strict=True)) if a != b]
    assert len(differ) <= 0.01 * sum(one is not None for one in exact)
    for one, text in zip(quick, texts, strict=True):
        assert one is None or similarity(texts[one.of], text) == one.similarity >= threshold


def test_minhash_finds_sets_of_bigrams_that_repeat() -> None:
    texts = ["哈哈哈", "哈" * 40, "好", "好", "呵"]
    found = near_duplicates(texts, exact=False)
    assert [one and one.of for one in found] == plain(texts, 0.85) == [None, 0, None, 2, None]


def test_many_equal_texts_cost_little() -> None:
    found = near_duplicates(["晚上好，主人", "我想吃鱼"] * 20_000)
    assert found[:2] == [None, None]
    assert {one.of for one in found[2::2] if one} == {0}
    assert {one.of for one in found[3::2] if one} == {1}


def test_texts_without_letters_repeat_only_themselves() -> None:
    found = near_duplicates(["！", "？", "！ ", "", "啊", ""])
    assert [one and one.of for one in found] == plain(["！", "？", "！ ", "", "啊", ""], 0.85)
    assert found[2] == (0, 1.0)
    assert normalize_text("啊") == ""


@given(
    st.lists(st.lists(st.integers(0, 60), max_size=25).map(lambda x: sorted(set(x))), max_size=5),
    st.integers(1, 9),
)
def test_the_first_match_is_the_smallest(lists: list[list[int]], step: int) -> None:
    wanted = min((number for numbers in lists for number in numbers if number % step == 0), default=None)
    assert first_match(lists, lambda number: number % step == 0) == wanted


def test_the_scorer_names_what_repeats_and_what_deserves_a_look() -> None:
    texts = [
        "晚上好，主人",
        "我想吃鱼",
        "晚上好呀，主人~",
        "今天的月亮真圆啊很好看",
        "今天的月亮真大啊不好看",
    ]
    items = [
        (Sample(id="7"), Response(sample_id="7", text=text, repeat=r)) for r, text in enumerate(texts, 1)
    ]
    scorer = NearDuplicates()
    (score,) = scorer.score_set(items)
    assert (score.name, score.value) == ("near_duplicates.repeats", 1 / 5)
    assert scorer.signature == "near_duplicates|at:0.85|scope:repeats|v:1"
    assert score.details["duplicates"] == [{"answer": "7#3", "of": "7#1", "similarity": 1.0}]
    assert [one["answer"] for one in score.details["review"]] == ["7#5"]
    assert score.details["shares"] == {"0.8": 0.4, "0.85": 0.2, "0.9": 0.2}
    with pytest.raises(ValueError, match="two answers or more, got 1"):
        scorer.score_set(items[:1])
