"""Intervals of scores of whole sets, from the set without each prompt in turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective.diversity.compare_sets import interval_details, ngram_details
from hengwen.objective.diversity.metrics import distinct_n, ngram_entropy
from hengwen.objective.diversity.scorers import Compression, DistinctN, NgramEntropy, SelfBleu
from hengwen.objective.duplicates.training_set import NearDuplicates
from hengwen.records import Response, Sample

WORDS = ["风", "吹", "过", "山", "岗", "月", "照", "江", "水", "流", "花", "开", "落", "雨", "停"]


def items_of(prompts: int, repeats: int = 2):
    """Answers of several prompts; some prompts repeat themselves more than others."""
    return [
        (
            Sample(id=f"p{prompt}", input="x"),
            Response(
                sample_id=f"p{prompt}",
                repeat=repeat,
                text="".join(WORDS[(prompt * repeat * i + i) % (4 + prompt)] for i in range(12)),
            ),
        )
        for prompt in range(prompts)
        for repeat in range(1, repeats + 1)
    ]


@each_row(
    ("scorer", "function"),
    [
        (DistinctN(n=2), lambda items: distinct_n([r.text for _, r in items], 2)),
        (NgramEntropy(n=1), lambda items: ngram_entropy([r.text for _, r in items], 1, normalize=True)),
    ],
)
def test_the_fast_way_is_the_slow_way(scorer, function) -> None:
    items = items_of(9)
    (score,) = scorer.score_set(items)
    slow = interval_details(items, score.value, function)
    assert score.details["ci"] == pytest.approx(slow["ci"])
    assert score.details["level"] == 0.95
    assert score.details["ci"][0] < score.value < score.details["ci"][1]


@given(texts=st.lists(st.text("风吹 ab,", max_size=8), min_size=6, max_size=12), n=st.integers(1, 3))
def test_any_texts_have_the_interval_of_the_slow_way_or_none(texts, n: int) -> None:
    items = [
        (Sample(id=f"p{i % 7}", input="x"), Response(sample_id=f"p{i % 7}", repeat=1 + i // 7, text=text))
        for i, text in enumerate(texts)
    ]
    functions = {
        "distinct_n": lambda items: distinct_n([r.text for _, r in items], n),
        "ngram_entropy": lambda items: ngram_entropy([r.text for _, r in items], n, normalize=True),
    }
    for name, function in functions.items():
        try:
            value = function(items)
        except ValueError:
            continue
        slow, fast = interval_details(items, value, function), ngram_details(items, value, n, name)
        assert slow.keys() == fast.keys()
        assert fast.get("ci") == pytest.approx(slow.get("ci"))


@pytest.mark.parametrize(
    "kind", [Compression, SelfBleu, NearDuplicates, DistinctN, NgramEntropy], ids=lambda kind: kind.__name__
)
def test_only_a_whole_checkpoint_of_six_prompts_has_an_interval(kind) -> None:
    assert "ci" in kind(scope="checkpoint").score_set(items_of(6))[0].details
    assert "ci" not in kind(scope="checkpoint").score_set(items_of(5))[0].details
    assert "ci" not in kind(scope="repeats").score_set(items_of(6))[0].details


def test_too_many_answers_have_no_interval(monkeypatch) -> None:
    from hengwen.objective.diversity import compare_sets as group_interval

    monkeypatch.setattr(group_interval, "MAX_RESCORED", 10)
    monkeypatch.setattr(group_interval, "MAX_ANSWERS", 10)
    for scorer in (Compression(), DistinctN()):
        assert "ci" not in scorer.score_set(items_of(6))[0].details
