"""self-BLEU: each text against all the others, without the square."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from hengwen.objective import self_bleu
from hengwen.objective.diversity.self_bleu import SelfBleu, _clipped_counts, _closest_other, _top_counts
from hengwen.records import Response, Sample


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
    counts = [Counter({("a",): 3, ("b",): 1}), Counter({("a",): 2}), Counter({("a",): 1, ("b",): 1})]
    top_counts = _top_counts(counts)
    assert top_counts == {("a",): (3, 0, 2), ("b",): (1, 0, 1)}
    assert [_clipped_counts(count, top_counts, index) for index, count in enumerate(counts)] == [
        [3, 0, 0, 0, 4, 0, 0, 0],
        [2, 0, 0, 0, 2, 0, 0, 0],
        [2, 0, 0, 0, 2, 0, 0, 0],
    ]


def test_counts_of_longer_ngrams_are_kept_apart() -> None:
    counts = [Counter({("a",): 2, ("a", "a"): 1}), Counter({("a",): 1, ("a", "a", "a", "a"): 1})]
    top_counts = _top_counts(counts)
    assert _clipped_counts(counts[0], top_counts, 0) == [1, 0, 0, 0, 2, 1, 0, 0]
    assert _clipped_counts(counts[1], top_counts, 1) == [1, 0, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(
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
