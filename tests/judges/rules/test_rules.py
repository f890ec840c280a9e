"""Rules beside a judge: what each finds, what it caps, what the judge is told of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen import registry
from hengwen.errors import ConfigError
from hengwen.judges.rules.copy_rules import NearDuplicate, TargetCopy, TrainingLeak
from hengwen.judges.rules.input import RuleInput
from hengwen.judges.rules.rule_set import RuleScorer, RuleSet, evaluate_unless_exempt, evidence_sentences
from hengwen.judges.rules.text_rules import Broken, Number, PlainText
from hengwen.objective.duplicates.similarity import similarity
from hengwen.records import Failure, Response, Sample, Score

A = "今天的月亮像一块刚出炉的烧饼，我想咬一口"
A1 = "今天的月亮像一块刚出炉的烧饼，我想咬一小口"
A2 = "今天的月亮像一块刚出锅的烧饼，我想咬一小口"
VARIED = "".join(chr(0x4E00 + i) for i in range(150))
OTHER = "机箱里有点热，谁来给我吹吹风"


def seen(text: str, *, earlier: tuple[str, ...] = (), **sample: object) -> RuleInput:
    before = [Response(sample_id="1", text=old, repeat=i) for i, old in enumerate(earlier, 1)]
    return RuleInput(
        sample=Sample(**{"id": "1", "input": "说说月亮", **sample}),
        response=Response(sample_id="1", text=text, repeat=len(before) + 1),
        earlier=before,
    )


def test_every_rule_can_be_made_by_name() -> None:
    for name in registry.BUILTINS["rules"]:
        rule = registry.build("rules", name, {})
        assert rule.name == name
        assert rule.score_name.startswith(f"{name}.")
        assert rule.signature.startswith(f"{name}|rule:cap|")


@pytest.mark.parametrize(
    ("rule", "options", "said"),
    [
        (
            "near_duplicate",
            {"zero_from": 0},
            "rule 'near_duplicate': zero_from must be a number above 0 to 1",
        ),
        ("near_duplicate", {"zero_from": 0.6}, "review_from 0.7 is above zero_from 0.6"),
        ("near_duplicate", {"also": 0.8}, "also must be a list of thresholds"),
        ("near_duplicate", {"also": [0.85]}, "also must name other thresholds than zero_from 0.85"),
        ("near_duplicate", {"also": [1.5]}, "also must be a number above 0 to 1, got 1.5"),
        ("target_copy", {"cap": 2}, "cap must be a number from 0 to 1, got 2"),
        ("plain_text", {"cap": "half"}, "cap must be a number from 0 to 1, got 'half'"),
        ("number", {"cap": True}, "cap must be a number from 0 to 1, got True"),
        ("leakage", {"near_cap": -1}, "near_cap must be a number from 0 to 1, got -1"),
        ("broken", {"cap": 0}, "rule 'broken': .*unexpected keyword argument 'cap'"),
    ],
)
def test_a_wrong_option_is_evidence_sentences(rule: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        registry.build("rules", rule, options)


def test_a_chain_is_compared_with_every_earlier_answer_and_the_first_keeps_its_score() -> None:
    a, a1, a2 = "abcdefghij", "abcdefghiX", "YbcdefghiX"  # a letter of ten: 1 - 2 / 20; two: 1 - 4 / 20
    rule = NearDuplicate()
    assert rule.evaluate(seen(a)).value is None
    second = rule.evaluate(seen(a1, earlier=(a,)))
    assert (second.value, second.cap, second.details["dup_of"]) == (0.9, 0, 1)
    third = rule.evaluate(seen(a2, earlier=(a, a1)))
    assert (third.value, third.cap, third.details["dup_of"]) == (0.9, 0, 2), "A' counts, a repeat itself"
    alone = rule.evaluate(seen(a2, earlier=(a,)))
    assert (alone.value, alone.cap, "dup_of" in alone.details, alone.flags) == (0.8, None, False, ("review",))
    assert alone.extra_caps == {0.8: 0.0, 0.9: None}


@pytest.mark.parametrize(("at", "cap"), [(0.85, None), (0.75, 0.0)])
def test_the_threshold_is_where_it_is_set(at: float, cap: float | None) -> None:
    found = NearDuplicate(zero_from=at, also=[]).evaluate(seen("abxd", earlier=("abcd",)))  # 1 - 2 / 8
    assert (found.value, found.cap) == (0.75, cap)
    assert found.flags == (("review",) if cap is None else ("duplicate",))


def test_thoughts_are_neither_repeats_nor_copies() -> None:
    thought = "<think>" + "同样的想法" * 9 + "</think>"
    assert NearDuplicate().evaluate(seen(thought + A, earlier=(thought + OTHER,))).cap is None
    assert NearDuplicate().evaluate(seen(thought + A, earlier=(A,))).cap == 0
    assert TargetCopy().evaluate(seen(thought + A, references=(A,))).cap == 0.5


@pytest.mark.parametrize(
    ("text", "kind", "cap"),
    [(A, "exact", 0.5), (A + "呀～", "particle_only", 0.5), (A1, "none", None)],
    ids=["exact", "particles", "another"],
)
def test_a_copy_of_the_reference_is_capped_and_suspected(text: str, kind: str, cap: float | None) -> None:
    found = TargetCopy().evaluate(seen(text, references=(OTHER, A)))
    assert (found.details["kind"], found.cap, found.value) == (kind, cap, float(cap is not None))
    assert ("leak_suspect" in found.flags) == (cap is not None)


@pytest.mark.parametrize(
    ("text", "kind", "cap"),
    [
        ("晚上好呀，今天的月亮很圆呢！", "exact", 0.5),
        ("晚上好，今天的月亮很圆", "particle_only", 0.5),
        ("晚上好，今天的月亮很大", "near", 0.75),
        ("我不想吃鱼", "none", None),
    ],
)
def test_what_stands_in_the_training_set_is_capped(tmp_path, text: str, kind: str, cap: float | None) -> None:
    corpus = tmp_path / "train.txt"
    corpus.write_text("晚上好呀，今天的月亮很圆呢\n我想吃鱼\n", "utf-8")
    found = TrainingLeak(str(corpus)).evaluate(seen(text))
    assert (found.details["kind"], found.cap) == (kind, cap)


def test_without_a_corpus_leakage_is_not_assessed_and_the_judge_is_told_so() -> None:
    found = TrainingLeak().evaluate(seen(A))
    assert (found.value, found.cap) == (None, None)
    assert evidence_sentences({"leakage": found}, "en") == [
        "whether it stands in the training set: not assessed (there is no corpus)"
    ]
    (outcome,) = RuleScorer(TrainingLeak()).score(seen(A).sample, seen(A).response)
    assert isinstance(outcome, Failure)
    assert outcome.status == "not_applicable"


@pytest.mark.parametrize(
    ("text", "cap"),
    [("", 0.0), ("<think>嗯", 0.0), ("……", 0.0), ("很好" * 30, 0.0), ("\ufffd" + VARIED, None), (A, None)],
    ids=["empty", "open thought", "no word", "loop", "one lost character", "whole"],
)
def test_broken_output_is_worth_nothing(text: str, cap: float | None) -> None:
    found = Broken().evaluate(seen(text))
    assert (found.cap, found.value) == (cap, float(cap == 0))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [("【回答】月亮很圆", ["label"]), ("# 月亮\n- 圆\n- 亮", ["heading", "list items"]), (A, None)],
)
def test_labels_and_markup_are_capped(text: str, kinds: list[str] | None) -> None:
    found = PlainText().evaluate(seen(text))
    assert (found.cap, found.details.get("kinds")) == (None if kinds is None else 0.5, kinds)


@pytest.mark.parametrize(
    ("text", "value", "cap"),
    [
        ("等于 2181 哦", 1, None),
        ("两千一百八十一！", 1, None),
        ("是 2180 吧", 0, 0.25),
        ("3 的 7 次方？太难啦", 0, None),
        ("不会算，唱首歌行吗", 0, None),
    ],
    ids=["right", "in Chinese", "wrong", "only the question's", "none"],
)
def test_a_wrong_number_is_capped(text: str, value: float, cap: float | None) -> None:
    asked = {"input": "3^7-log2(64)=?", "metadata": {"number": 2181}}
    found = Number().evaluate(seen(text, **asked))
    assert (found.value, found.cap) == (value, cap)


def test_a_sample_without_a_number_or_a_reference_is_not_applicable() -> None:
    assert Number().evaluate(seen("2181")).value is None
    assert TargetCopy().evaluate(seen(A)).value is None


def test_an_exempt_sample_is_left_alone() -> None:
    one = seen(A, earlier=(A,), references=(A,), metadata={"exempt": ["near_duplicate", "target_copy"]})
    for rule in (NearDuplicate(), TargetCopy()):
        fact = evaluate_unless_exempt(rule, one)
        assert (fact.value, fact.cap, fact.visible_to_judge) == (None, None, False)
    assert evaluate_unless_exempt(Broken(), one).value == 0


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"exempt": ["near_duplicat"]}, "unknown rule 'near_duplicat'; did you mean 'near_duplicate'"),
        ({"exempt": "number"}, "must be a list of rules"),
        ({"number": "many"}, "metadata.number must be one number, got 'many'"),
    ],
)
def test_wrong_metadata_is_found_before_anything_is_weighed(metadata: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        list(RuleScorer(Number()).check_sample(Sample(id="1", metadata=metadata)))


def test_a_code_score_says_what_was_found() -> None:
    scorer = RuleScorer(NearDuplicate())
    one = seen(A1, earlier=(A, OTHER))
    (score,) = scorer.score_after(one.sample, one.response, one.earlier)
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
"""In every answer of the next test, and in no sentence of ours."""


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(
        ["【{}】好的", "# {}\n好的", "{0}{0}{0}{0}{0}{0}", "**{}**", "<b>{}</b>", "{}：好", "{} 7"]
    )
)
def test_what_a_judge_is_told_never_quotes_the_answer(corpus: str, form: str) -> None:
    text = form.format(WORD)
    facts = everything(corpus).evaluate(
        Sample(id="1", references=(text,), metadata={"number": 5}),
        Response(sample_id="1", text=text, repeat=2),
        [Response(sample_id="1", text=text)],
    )
    for language in ("zh", "en"):
        said = evidence_sentences(facts, language)
        assert said
        assert WORD not in "".join(said)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([A, A1, A2, OTHER, "", "# 标题"]),
    st.floats(0.7, 1),
    st.floats(0.7, 1),
)
def test_what_a_judge_is_told_does_not_depend_on_a_threshold(
    corpus: str, text: str, one: float, other: float
) -> None:
    books = [everything(corpus, zero_from=at, also=()) for at in (one, other)]
    asked = Sample(id="1", references=(A1,)), Response(sample_id="1", text=text, repeat=2)
    earlier = [Response(sample_id="1", text=A)]
    first, second = (evidence_sentences(book.evaluate(*asked, earlier), "zh") for book in books)
    assert first == second
    assert books[0].evidence_signature == books[1].evidence_signature
    assert (books[0].signature == books[1].signature) == (f"{one:g}" == f"{other:g}")
