"""Rules as scorers and as a set: options, exemptions, code scores, evidence for a judge."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen import registry
from hengwen.errors import ConfigError
from hengwen.judges.rules.rule import RuleScorer, RuleSet, evaluate_unless_exempt, evidence_sentences
from hengwen.judges.rules.text_rules import Broken, NearDuplicate, Number, PlainText, TargetCopy, TrainingLeak
from hengwen.objective.duplicates.similarity import similarity
from hengwen.protocols import EvaluationContext
from hengwen.records import Response, Sample, Score

A = "今天的月亮像一块刚出炉的烧饼，我想咬一口"
A1 = "今天的月亮像一块刚出炉的烧饼，我想咬一小口"
A2 = "今天的月亮像一块刚出锅的烧饼，我想咬一小口"
OTHER = "机箱里有点热，谁来给我吹吹风"


def test_every_rule_can_be_made_by_name() -> None:
    for name in registry.BUILTINS["rules"]:
        rule = registry.build("rules", name, {})
        assert rule.name == name
        assert rule.score_name.startswith(f"{name}.")
        assert rule.signature.startswith(f"{name}|rule:cap|")


@each_row(
    ("rule", "options", "message"),
    [
        (
            "near_duplicate",
            {"zero_from": 0},
            "rule 'near_duplicate': zero_from must be a number above 0 to 1",
        ),
        ("near_duplicate", {"zero_from": 0.6}, "review_from 0.7 is above zero_from 0.6"),
        ("near_duplicate", {"extra_thresholds": 0.8}, "extra_thresholds must be a list of thresholds"),
        (
            "near_duplicate",
            {"extra_thresholds": [0.85]},
            "extra_thresholds must name other thresholds than zero_from 0.85",
        ),
        (
            "near_duplicate",
            {"extra_thresholds": [1.5]},
            "extra_thresholds must be a number above 0 to 1, got 1.5",
        ),
        ("target_copy", {"cap": 2}, "cap must be a number from 0 to 1, got 2"),
        ("plain_text", {"cap": "half"}, "cap must be a number from 0 to 1, got 'half'"),
        ("plain_text", {"names": ["墨团"]}, r"names must be a text, got \['墨团'\]"),
        ("number", {"cap": True}, "cap must be a number from 0 to 1, got True"),
        ("leakage", {"near_cap": -1}, "near_cap must be a number from 0 to 1, got -1"),
        ("broken", {"cap": 0}, "rule 'broken': .*no option 'cap'"),
    ],
)
def test_a_wrong_option_is_refused(rule: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry.build("rules", rule, options)


def test_an_exempt_sample_is_left_alone(rule_input) -> None:
    exempt = ["near_duplicate", "target_copy"]
    answer = rule_input(A, earlier=(A,), references=(A,), metadata={"exempt": exempt})
    for rule in (NearDuplicate(), TargetCopy()):
        result = evaluate_unless_exempt(rule, answer)
        assert (result.value, result.cap, result.visible_to_judge) == (None, None, False)
    assert evaluate_unless_exempt(Broken(), answer).value == 0


@each_row(
    ("metadata", "message"),
    [
        ({"exempt": ["near_duplicat"]}, "unknown rule 'near_duplicat'; did you mean 'near_duplicate'"),
        ({"exempt": "number"}, "must be a list of rules"),
        ({"number": "many"}, "metadata.number must be one number, got 'many'"),
    ],
)
def test_wrong_metadata_is_found_before_anything_is_evaluated(
    metadata: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        list(RuleScorer(Number()).check_sample(Sample(id="1", metadata=metadata)))


def test_a_code_score_says_what_was_found(rule_input) -> None:
    scorer = RuleScorer(NearDuplicate())
    answer = rule_input(A1, earlier=(A, OTHER))
    (score,) = scorer.score(answer.sample, answer.response, EvaluationContext(earlier=answer.earlier))
    assert isinstance(score, Score)
    assert score.name == scorer.names[0]
    assert score.value == similarity(A, A1)
    assert score.details["dup_of"] == 1
    assert score.details["flags"] == ["duplicate"]
    assert score.reason.endswith("to answer 1, which it repeats [duplicate]")
    assert score.scale is not None
    assert not score.scale.higher_is_better


def everything(corpus: str, **near: float) -> RuleSet:
    return RuleSet(
        (
            Broken(),
            NearDuplicate(**near),
            TargetCopy(),
            PlainText(),
            Number(),
            TrainingLeak(corpus, near=near.get("zero_from", 0.8)),
        )
    )


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("train") / "train.txt"
    path.write_text(f"{A}\n{OTHER}\n", "utf-8")
    return str(path)


WORD = "QZXJWV"
"""In every answer of the next test, and in no sentence of a rule."""


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(
        ["【{}】好的", "# {}\n好的", "{0}{0}{0}{0}{0}{0}", "**{}**", "<b>{}</b>", "{}：好", "{} 7"]
    )
)
def test_what_a_judge_is_told_never_quotes_the_answer(corpus: str, template: str) -> None:
    text = template.format(WORD)
    results = everything(corpus).evaluate(
        Sample(id="1", references=(text,), metadata={"number": 5}),
        Response(sample_id="1", text=text, repeat=2),
        [Response(sample_id="1", text=text)],
    )
    for language in ("zh", "en"):
        sentences = evidence_sentences(results, language)
        assert sentences
        assert WORD not in "".join(sentences)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([A, A1, A2, OTHER, "", "# 标题"]),
    st.floats(0.7, 1),
    st.floats(0.7, 1),
)
def test_what_a_judge_is_told_does_not_depend_on_a_threshold(
    corpus: str, text: str, zero_from: float, other: float
) -> None:
    rule_sets = [
        everything(corpus, zero_from=threshold, extra_thresholds=()) for threshold in (zero_from, other)
    ]
    sample, response = Sample(id="1", references=(A1,)), Response(sample_id="1", text=text, repeat=2)
    earlier = [Response(sample_id="1", text=A)]
    first, second = (
        evidence_sentences(rules.evaluate(sample, response, earlier), "zh") for rules in rule_sets
    )
    assert first == second
    assert rule_sets[0].evidence_signature == rule_sets[1].evidence_signature
    assert (rule_sets[0].signature == rule_sets[1].signature) == (f"{zero_from:g}" == f"{other:g}")
