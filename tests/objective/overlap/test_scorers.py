"""Overlap as plug-ins of a plan."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen import registry
from hengwen.engine.evaluate import GroupEvaluator, ScorerEvaluator
from hengwen.engine.job import Item
from hengwen.errors import ConfigError
from hengwen.objective import bleu, corpus_bleu, rouge
from hengwen.protocols import GroupScorer, SampleValidator, Scorer
from hengwen.records import Response, Sample

SAMPLE = Sample(id="1", references=("今晚月色很美",))
ANSWER = Response(sample_id="1", text="今晚月色真美")


@each_row("name", ["bleu", "chrf", "ter", "rouge"])
def test_each_scores_one_answer_under_its_names(name: str) -> None:
    scorer = registry.build("scorers", name, {})
    assert isinstance(scorer, Scorer)
    assert isinstance(scorer, SampleValidator)
    assert not isinstance(scorer, GroupScorer)
    outcomes = ScorerEvaluator(scorer).score(Item.build(SAMPLE, ANSWER))
    assert [outcome.name for outcome in outcomes] == list(scorer.names)
    assert all(outcome.scale.holds(outcome.value) for outcome in outcomes)
    assert {outcome.signature for outcome in outcomes} == {scorer.signature}


def test_the_numbers_are_those_of_the_functions() -> None:
    (score,) = registry.build("scorers", "bleu", {"smooth": "none"}).score(SAMPLE, ANSWER)
    result = bleu(ANSWER.text, SAMPLE.references, smooth="none")
    assert (score.value, score.details["signature"]) == (result.score, result.signature)
    scores = registry.build("scorers", "rouge", {"kind": "rouge2", "beta": 2}).score(SAMPLE, ANSWER)
    expected = rouge(ANSWER.text, SAMPLE.references, "rouge2", beta=2)
    assert {s.name: s.value for s in scores} == {
        "rouge_2.f": expected.f,
        "rouge_2.precision": expected.precision,
        "rouge_2.recall": expected.recall,
    }


@each_row("name", ["bleu", "chrf", "ter", "rouge"])
@each_row(
    ("sample", "text", "message"),
    [
        (SAMPLE, "", "the hypothesis is empty"),
        (Sample(id="2"), "你好", "there is no reference"),
        (Sample(id="3", references=("",)), "你好", "the reference is empty"),
    ],
)
def test_what_is_not_defined_is_a_failure_with_its_reason(
    name: str, sample: Sample, text: str, message: str
) -> None:
    scorer = registry.build("scorers", name, {})
    outcomes = ScorerEvaluator(scorer).score(Item.build(sample, Response(sample_id=sample.id, text=text)))
    assert all(outcome.status == "scorer_error" and message in outcome.message for outcome in outcomes)
    if not any(sample.references):
        with pytest.raises(ValueError, match=message):
            scorer.check_sample(sample)


@each_row("name", ["corpus_bleu", "corpus_chrf", "corpus_ter"])
def test_a_corpus_has_one_value_with_its_interval(name: str) -> None:
    scorer = registry.build("scorers", name, {})
    assert isinstance(scorer, GroupScorer)
    items = [
        (
            Sample(id=str(i), references=(f"今晚月色很美{i}",)),
            Response(sample_id=str(i), text=f"今晚月色真美{i}"),
        )
        for i in range(5)
    ]
    (score,) = GroupEvaluator(scorer).score(items)
    assert (score.name, score.signature) == (scorer.names[0], scorer.signature)
    details: dict = {**score.details}
    low, high = details["ci"]
    assert low <= score.value <= high
    assert (details["n"], details["clusters"], details["level"]) == (5, 5, 0.95)
    assert name.removeprefix("corpus_") in details["signature"]


def test_corpus_bleu_is_no_mean_and_has_no_interval_for_the_repeats_of_one_sample() -> None:
    items = [
        (SAMPLE, Response(sample_id="1", text=text, repeat=r))
        for r, text in enumerate(("今晚月色很美", "今晚"), 1)
    ]
    (score,) = registry.build("scorers", "corpus_bleu", {}).score_set(items)
    assert score.value == corpus_bleu(["今晚月色很美", "今晚"], ["今晚月色很美"] * 2).score
    assert score.details["ci"] is None


def test_a_sample_without_reference_is_named() -> None:
    scorer = registry.build("scorers", "corpus_bleu", {})
    (failure,) = GroupEvaluator(scorer).score([(Sample(id="x7"), ANSWER)])
    assert failure.message == "ValueError: sample 'x7': there is no reference to compare with"


@each_row(
    ("name", "options", "message"),
    [
        ("bleu", {"tokenize": "zhh"}, "tokenize must be auto"),
        ("chrf", {"beta": 0}, "beta must be a whole number >= 1, got 0"),
        ("chrf", {"lowercase": 1}, "lowercase must be true or false"),
        ("ter", {"tokenize": "zh"}, "tokenize must be auto, tercom, char or whitespace, got 'zh'"),
        ("ter", {"max_characters": 0}, "max_characters must be a whole number >= 1"),
        ("rouge", {"kind": "L"}, "kind must be rouge1 to rouge9"),
        ("corpus_bleu", {"level": 95}, r"level must lie in \(0, 1\), got 95"),
        ("corpus_ter", {"scope": "repeats"}, "scope must be checkpoint, got 'repeats'"),
        ("corpus_chrf", {"resamples": 0}, "resamples must be a whole number"),
    ],
)
def test_wrong_options_name_the_plugin(name: str, options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=f"scorer '{name}': .*{message}"):
        registry.build("scorers", name, options)


def test_the_tokenizer_of_a_task_is_chosen_from_all_its_references() -> None:
    samples = [Sample(id="1", references=("ありがとう",)), SAMPLE]
    for name in ("bleu", "corpus_bleu"):
        scorer = registry.build("scorers", name, {})
        assert "|tok:char|" in scorer.for_samples(samples).signature
        assert scorer.for_samples([Sample(id="2")]) is scorer
        named = registry.build("scorers", name, {"tokenize": "zh"})
        assert named.for_samples(samples) is named
