"""Diversity scorers of a plan."""

import pytest
from rows import each_row

from hengwen.objective.diversity.scorers import (
    Compression,
    DistinctN,
    NgramEntropy,
    Repetition,
    TypeTokenRatio,
)
from hengwen.records import Response, Sample


@each_row("options", [{"n": 0}, {"n": True}, {"scope": "all"}])
def test_wrong_options_are_refused_by_name(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        DistinctN(**options)


def test_the_scorer_scores_the_set_under_its_signature() -> None:
    items = [
        (Sample(id=i), Response(sample_id=i, text=text)) for i, text in (("a", "风吹过"), ("b", "风吹来"))
    ]
    (score,) = DistinctN().score_set(items)
    assert (score.name, score.value, score.signature) == (
        "distinct_2.checkpoint",
        0.75,
        "distinct_n|n:2|scope:checkpoint|tok:mixed|v:2",
    )


@each_row(
    ("scorer", "name"),
    [(NgramEntropy(), "entropy_2.checkpoint"), (Compression(scope="repeats"), "compression.repeats")],
)
def test_set_scorers_give_one_value(scorer, name: str) -> None:
    items = [(Sample(id=i), Response(sample_id=i, text=f"风吹过{i}")) for i in "abc"]
    (score,) = scorer.score_set(items)
    assert (score.name, score.signature) == (name, scorer.signature)
    assert scorer.names == (name,)
    assert score.scale.holds(score.value)


@each_row(
    ("scorer", "name", "value"),
    [(Repetition(n=1), "repetition_1.share", 0.5), (TypeTokenRatio(), "type_token_ratio.share", 0.5)],
)
def test_scorers_of_one_answer(scorer, name: str, value: float) -> None:
    (score,) = scorer.score(Sample(id="1"), Response(sample_id="1", text="哈哈呵呵"))
    assert (score.name, score.value) == (name, value)


@each_row("make", [NgramEntropy, Repetition])
def test_n_must_be_a_whole_number(make) -> None:
    with pytest.raises(ValueError, match="n must be a whole number >= 1, got 1.5"):
        make(n=1.5)
