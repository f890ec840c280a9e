"""self-BLEU: each text against all the others, without the square."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from sacrebleu.metrics import BLEU

from hengwen.objective import self_bleu
from hengwen.objective.diversity import metrics as packed_ngrams
from hengwen.objective.diversity.scorers import SelfBleu, _closest_other, _matches
from hengwen.records import Response, Sample


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.lists(st.text(alphabet="今晚月色真a ", min_size=1, max_size=12), min_size=2, max_size=5))
def test_it_is_the_mean_of_sacrebleu_against_the_others(texts: list[str]) -> None:
    if not all(text.strip() for text in texts):
        return
    peer = BLEU(tokenize="zh", effective_order=True)
    values = [min(peer.sentence_score(t, texts[:i] + texts[i + 1 :]).score, 100) for i, t in enumerate(texts)]
    assert self_bleu(texts, tokenize="zh") == pytest.approx(sum(values) / len(values), abs=1e-9)


def test_by_hand() -> None:
    assert self_bleu(["风吹", "风来"]) == pytest.approx(50)  # 1/2, and 0 of 1 smoothed to 1/2
    assert self_bleu(["今晚月色真美"] * 4) == pytest.approx(100)


def test_what_is_not_defined_is_said() -> None:
    with pytest.raises(ValueError, match="needs two texts or more, got 1"):
        self_bleu(["风"])
    with pytest.raises(ValueError, match="text 2 of 2 is empty"):
        self_bleu(["风", " "])


def test_the_scorer_scores_the_repeats() -> None:
    scorer = SelfBleu()
    items = [(Sample(id="1"), Response(sample_id="1", text="晚上好", repeat=r)) for r in (1, 2, 3)]
    (score,) = scorer.score_set(items)
    assert (score.name, score.value, score.details["n"]) == ("self_bleu.repeats", pytest.approx(100), 3)
    assert score.scale.higher_is_better is False
    assert score.signature == scorer.signature
    assert scorer.signature.startswith(
        "self_bleu|scope:repeats|width:keep|case:mixed|eff:yes|tok:auto|smooth:exp"
    )


def test_a_text_is_clipped_by_the_largest_count_in_another_text() -> None:
    lengths, matches = _matches(["aaab", "aa", "ab"])
    assert lengths == [4, 2, 2]
    # aaab: 2 of 3 a, and b; aa, ab; none of aaa and aab; nothing of aaab
    assert matches == [[3, 2, 0, 0], [2, 1, 0, 0], [2, 1, 0, 0]]


def test_a_text_shorter_than_an_ngram_has_none() -> None:
    assert _matches(["a", "a"]) == ([1, 1], [[1, 0, 0, 0], [1, 0, 0, 0]])


def counted_in_python(texts: list[str]) -> list[list[int]]:
    counts = [[Counter(t[i : i + n] for i in range(len(t) - n + 1)) for n in range(1, 5)] for t in texts]
    return [
        [
            sum(
                min(count, max(other[n][gram] for j, other in enumerate(counts) if j != i))
                for gram, count in own[n].items()
            )
            for n in range(4)
        ]
        for i, own in enumerate(counts)
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(alphabet="abc", max_size=9), min_size=2, max_size=6), st.booleans())
def test_matches_are_the_same_in_memory_and_in_files(texts: list[str], in_files: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if in_files:
            patch.setattr(packed_ngrams, "MAX_ROWS", 3)
            patch.setattr(packed_ngrams, "CHUNK_TOKENS", 5)
        assert _matches(texts)[1] == counted_in_python(texts)


@each_row(
    ("lengths", "length", "closest"),
    [
        ([2, 4], 2, 4),
        ([2, 4], 4, 2),
        ([1, 3, 5], 3, 1),
        ([1, 3, 4], 3, 4),
        ([3, 3, 4], 3, 3),
        ([1, 4, 9], 9, 4),
    ],
)
def test_the_closest_other_length_is_the_shorter_of_two(
    lengths: list[int], length: int, closest: int
) -> None:
    assert _closest_other(lengths, length) == closest
