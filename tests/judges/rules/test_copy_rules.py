"""Rules about copies: repeats, references, the training set."""

from __future__ import annotations

import pytest

from hengwen.judges.rules.rule import RuleScorer, evidence_sentences
from hengwen.judges.rules.text_rules import NearDuplicate, TargetCopy, TrainingLeak
from hengwen.records import Failure

A = "今天的月亮像一块刚出炉的烧饼，我想咬一口"
A1 = "今天的月亮像一块刚出炉的烧饼，我想咬一小口"
OTHER = "机箱里有点热，谁来给我吹吹风"


def test_a_chain_is_compared_with_every_earlier_answer_and_the_first_keeps_its_score(rule_input) -> None:
    a, a1, a2 = "abcdefghij", "abcdefghiX", "YbcdefghiX"  # a letter of ten: 1 - 2 / 20; two: 1 - 4 / 20
    rule = NearDuplicate()
    assert rule.evaluate(rule_input(a)).value is None
    second = rule.evaluate(rule_input(a1, earlier=(a,)))
    assert (second.value, second.cap, second.details["dup_of"]) == (0.9, 0, 1)
    third = rule.evaluate(rule_input(a2, earlier=(a, a1)))
    assert (third.value, third.cap, third.details["dup_of"]) == (0.9, 0, 2), "A' counts, a repeat itself"
    alone = rule.evaluate(rule_input(a2, earlier=(a,)))
    assert (alone.value, alone.cap, "dup_of" in alone.details, alone.flags) == (0.8, None, False, ("review",))
    assert alone.extra_caps == {0.8: 0.0, 0.9: None}


@pytest.mark.parametrize(("threshold", "cap"), [(0.85, None), (0.75, 0.0)])
def test_the_threshold_is_where_it_is_set(rule_input, threshold: float, cap: float | None) -> None:
    result = NearDuplicate(zero_from=threshold, extra_thresholds=[]).evaluate(
        rule_input("abxd", earlier=("abcd",))  # similarity 1 - 2 / 8
    )
    assert (result.value, result.cap) == (0.75, cap)
    assert result.flags == (("review",) if cap is None else ("duplicate",))


def test_thoughts_are_neither_repeats_nor_copies(rule_input) -> None:
    thought = "<think>" + "同样的想法" * 9 + "</think>"
    assert NearDuplicate().evaluate(rule_input(thought + A, earlier=(thought + OTHER,))).cap is None
    assert NearDuplicate().evaluate(rule_input(thought + A, earlier=(A,))).cap == 0
    assert TargetCopy().evaluate(rule_input(thought + A, references=(A,))).cap == 0.5


@pytest.mark.parametrize(
    ("text", "kind", "cap"),
    [(A, "exact", 0.5), (A + "呀～", "particle_only", 0.5), (A1, "none", None)],
    ids=["exact", "particles", "another"],
)
def test_a_copy_of_the_reference_is_capped_and_suspected(
    rule_input, text: str, kind: str, cap: float | None
) -> None:
    result = TargetCopy().evaluate(rule_input(text, references=(OTHER, A)))
    assert (result.details["kind"], result.cap, result.value) == (kind, cap, float(cap is not None))
    assert ("leak_suspect" in result.flags) == (cap is not None)


@pytest.mark.parametrize(
    ("text", "kind", "cap"),
    [
        ("晚上好呀，今天的月亮很圆呢！", "exact", 0.5),
        ("晚上好，今天的月亮很圆", "particle_only", 0.5),
        ("晚上好，今天的月亮很大", "near", 0.75),
        ("我不想吃鱼", "none", None),
    ],
)
def test_what_stands_in_the_training_set_is_capped(
    rule_input, tmp_path, text: str, kind: str, cap: float | None
) -> None:
    corpus = tmp_path / "train.txt"
    corpus.write_text("晚上好呀，今天的月亮很圆呢\n我想吃鱼\n", "utf-8")
    result = TrainingLeak(str(corpus)).evaluate(rule_input(text))
    assert (result.details["kind"], result.cap) == (kind, cap)


def test_without_a_corpus_leakage_is_not_assessed_and_the_judge_is_told_so(rule_input) -> None:
    result = TrainingLeak().evaluate(rule_input(A))
    assert (result.value, result.cap) == (None, None)
    assert evidence_sentences({"leakage": result}, "en") == [
        "whether it stands in the training set: not assessed (there is no corpus)"
    ]
    (outcome,) = RuleScorer(TrainingLeak()).score(rule_input(A).sample, rule_input(A).response)
    assert isinstance(outcome, Failure)
    assert outcome.status == "not_applicable"
