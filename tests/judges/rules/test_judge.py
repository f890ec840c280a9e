"""The rules judge: clauses, the ladder, what it cannot see, and that it says what it is."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen import registry
from hengwen.errors import ConfigError
from hengwen.judges import RulesJudge
from hengwen.judges.rules.judge import CAPS, CLAUSES_BY_NAME
from hengwen.prompts import load_rubric
from hengwen.protocols import EvaluationContext, Judge
from hengwen.records import Failure, Response, Sample, Score

PERSONA = load_rubric("persona_generic")
REFERENCE = "今天也要好好吃饭呀，不然我会担心你的。"
FINE = "今天也要好好吃饭哦，别让我为你担心。"
LYRIC = "\n".join(
    ["(verse)", "风把旧街吹成了黄昏", "灯一盏一盏替你开门", "我把名字写进雨里", "雨把名字还给人"]
)


@pytest.mark.slow
@each_row(
    ("text", "options", "value", "clauses"),
    [
        (FINE, {"references": (REFERENCE,)}, 1.0, {}),
        ("我在窗台上等了你一个下午。", {}, 0.75, {}),
        ("", {}, 0.0, {"empty_or_broken": "empty"}),
        ("……！", {}, 0.0, {"empty_or_broken": "no letter or digit"}),
        ("<think>该怎么说", {}, 0.0, {"empty_or_broken": "thinks without end"}),
        ("<think>嗯</think>", {}, 0.0, {"empty_or_broken": "empty"}),
        ("你好\ufffd\ufffd", {}, 0.0, {"empty_or_broken": "2 garbled (U+FFFD)"}),
        ("风" * 200 + "\ufffd", {}, 0.0, {"empty_or_broken": "loops on '风'"}),
        ("好的好的" * 12, {}, 0.0, {"empty_or_broken": "loops on '好的'"}),
        ("\x00\x01\x02\x03a", {}, 0.0, {"empty_or_broken": "mostly control characters"}),
        (FINE, {"earlier": ("别的", FINE + "呀~")}, 0.0, {"near_duplicate": "similarity 1.00 to repeat 2"}),
        (FINE, {"earlier": ("别的", "再来一句")}, 0.75, {}),
        (
            REFERENCE,
            {"references": ("别的", REFERENCE)},
            0.5,
            {"copy_of_reference": "the reference word for word"},
        ),
        (REFERENCE + "呢！", {"references": (REFERENCE,)}, 0.5, {"copy_of_reference": None}),
        (REFERENCE, {"references": (REFERENCE,), "metadata": {"exempt_copy": True}}, 1.0, {}),
        ("是2181呀。", {"references": ("是2181。",), "metadata": {"answer": 2181}}, 1.0, {}),
        ("等于２，１８１哦", {"metadata": {"answer": "2,181"}}, 1.0, {}),
        ("等于两千一百八十一哦", {"metadata": {"answer": 2181}}, 1.0, {}),
        ("等于2180哦", {"metadata": {"answer": 2181}}, 0.25, {"wrong_number": "2180 instead of 2181"}),
        ("我不知道呀", {"metadata": {"answer": 2181}}, 0.5, {"wrong_number": "no number, expected 2181"}),
        ("一个也没有", {"metadata": {"answer": 1}}, 0.75, {}),
        ("我在上海呀", {"metadata": {"answer": "上海"}}, 0.75, {}),
        ("【回答】我在窗台上等你", {}, 0.5, {"plain_text": "label 【回答】"}),
        ("墨团：我在窗台上等你", {}, 0.5, {"plain_text": "label 墨团:"}),
        ("墨团：我在窗台上等你", {"persona": "一只叫墨团的猫"}, 0.5, {"plain_text": "label 墨团:"}),
        ("晚饭：我吃了鱼和虾", {"persona": "一只叫墨团的猫"}, 0.75, {}),
        ("# 标题\n正文在此", {}, 0.5, {"plain_text": "heading # 标题"}),
        ("- 鱼\n- 虾", {}, 0.5, {"plain_text": "2 list items"}),
        ("我**最**喜欢鱼", {}, 0.5, {"plain_text": "bold **最**"}),
        ("```\n喵喵\n```", {}, 0.5, {"plain_text": "code fence ```"}),
        ("好吃<br>真好吃", {}, 0.5, {"plain_text": "HTML tag <br>"}),
        ("作为一个ＡＩ语言模型，我不会饿", {}, 0.25, {"taboo": "says '作为一个AI语言模型'"}),
        ("Well, I’m just a Language  Model", {}, 0.25, {"taboo": "says 'I'm just a language model'"}),
        ("我饿了呀", {"taboo": ["饿"]}, 0.25, {"taboo": "says '饿'"}),
        ("我饿了喵", {"markers": ["喵"]}, 1.0, {}),
        ("我饿了呀", {"markers": ["喵"]}, 0.75, {"markers": "no persona marker"}),
        ("我饿", {}, 0.5, {"length": "2 characters, wanted 4-800"}),
        ("饿", {}, 0.25, {"length": "1 characters, wanted 4-800"}),
        (
            "风吹过街角有人唱" + "abcdefg hijk " * 3,
            {"references": ("xyz",)},
            0.5,
            {"reference_similarity": None},
        ),
        ("我饿了呀\n" * 4 + "我要吃鱼去了", {}, 0.75, {}),
        ("我饿了呀想吃鱼了\n" * 4 + "再见啦", {}, 0.75, {}),
        ("我饿了呀想吃鱼了\n" * 6 + "再见啦", {}, 0.0, {"empty_or_broken": "loops on '我饿了呀想吃鱼了'"}),
        (
            "饿\n一二\n饿\n三四\n饿\n饿\n饿\n饿\n饿\n饿",
            {},
            0.25,
            {"repeated_lines": "70% of 10 lines repeat"},
        ),
    ],
)
def test_a_clause_that_objects_caps_the_level_and_is_named(judge_by_rules, text, options, value, clauses):
    level = judge_by_rules(text, **options).outcomes[0]
    assert level.value == value, level.reason
    assert bool(level.details["caps"]) == bool(clauses), level.reason
    for clause, evidence in clauses.items():
        assert clause in level.details["caps"]
        assert evidence is None or level.details["clauses"][clause] == evidence
        assert clause in level.reason


LYRICS = {
    "section tags are no fault": (LYRIC, 0.75),
    "bracketed tags are no fault": (LYRIC.replace("(verse)", "[Verse 1]"), 0.75),
    "Chinese tags are no fault": (LYRIC.replace("(verse)", "【主歌】"), 0.75),
    "a chorus that returns is no fault": ("\n".join([LYRIC, "(chorus)", "唱吧", "唱吧", LYRIC]), 0.75),
    "a title in Markdown is": ("# 旧街\n" + LYRIC, 0.5),
    "an introduction is": ("歌词：\n" + LYRIC, 0.5),
    "one line without end is": ("(verse)\n" + "啦啦啦啦啦\n" * 40, 0.0),
    "one lost character is": (
        LYRIC.replace("灯", "\ufffd", 1) + "\n" + "街角的风还在等一个没有回来的人" * 4,
        0.5,
    ),
}


@each_row(("text", "value"), LYRICS.values())
def test_lyrics_are_judged_as_lyrics(judge_by_rules, text, value):
    level = judge_by_rules(text, rubric="lyric_craft").outcomes[0]
    assert level.value == value, level.reason


def test_what_the_rules_cannot_see_is_not_applicable(judge_by_rules):
    outcomes = {outcome.name: outcome for outcome in judge_by_rules(LYRIC, rubric="lyric_craft").outcomes}
    assert list(outcomes) == [
        "lyric_craft." + part for part in ("level", *load_rubric("lyric_craft").criteria)
    ]
    for part in ("theme", "imagery"):
        blind = outcomes[f"lyric_craft.{part}"]
        assert isinstance(blind, Failure)
        assert (blind.status, blind.kind) == ("not_applicable", "judge")
        assert blind.message == f"the rules judge cannot see {part}: no clause speaks for it"
    assert outcomes["lyric_craft.fluency"].value == 0.75


def test_criteria_follow_the_clauses_that_speak_for_them(judge_by_rules):
    outcomes = judge_by_rules("# 喵\n等于2180喵", metadata={"answer": 2181}, markers=["喵"]).outcomes
    values = {outcome.name.split(".")[1]: outcome.value for outcome in outcomes}
    assert values == {
        "level": 0.25,
        "task_fit": 0.25,
        "voice": 1.0,
        "content": 0.75,
        "language": 0.75,
        "format": 0.5,
    }


def test_a_criterion_whose_clauses_have_nothing_to_look_at_is_not_applicable(judge_by_rules, small):
    rules = small.rules.model_copy(update={"criteria": {"wit": ["reference_similarity", "wrong_number"]}})
    rubric = small.model_copy(update={"rules": rules})
    wit = judge_by_rules("abcdefg", rubric=rubric).outcomes[1]
    assert wit.message == (
        "the rules judge cannot see wit here: reference_similarity, wrong_number found nothing to look at"
    )
    assert judge_by_rules("abcdefg", rubric=rubric, references=("abcdefgh",)).outcomes[1].value == 5


def test_without_a_rules_block_only_objections_count(judge_by_rules, small):
    bare = small.model_copy(update={"rules": None})
    outcomes = judge_by_rules("【回答】well, **hello**", rubric=bare).outcomes
    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert {outcome.status for outcome in outcomes} == {"not_applicable"}
    assert "the rubric has no rules block" in outcomes[0].message
    assert judge_by_rules("", rubric=bare).outcomes[0].value == 1
    assert judge_by_rules("hello you", rubric=bare, earlier=("hello you!",)).outcomes[0].value == 1
    assert judge_by_rules("it is 5", rubric=bare, metadata={"answer": 4}).outcomes[0].value == 2
    assert isinstance(judge_by_rules("it is 4", rubric=bare, metadata={"answer": 4}).outcomes[0], Failure)
    assert judge_by_rules("hello you", rubric=bare, markers=["you"]).outcomes[0].value == 5


@pytest.mark.parametrize(
    ("values", "worst", "number", "copy", "fine", "best"),
    [
        ((0, 1), 0, 0, 0, 1, 1),
        ((1, 2, 3), 1, 2, 2, 2, 3),
        ((1, 2, 3, 4), 1, 2, 2, 3, 4),
        ((1, 2, 3, 4, 5), 1, 2, 3, 4, 5),
    ],
)
def test_the_ladder_fits_any_number_of_levels(judge_by_rules, small, values, worst, number, copy, fine, best):
    levels = {float(value): small.levels[1].model_copy(update={"label": f"L{value}"}) for value in values}
    rubric = small.model_copy(
        update={"levels": levels, "rules": small.rules.model_copy(update={"length": None})}
    )
    rubric.__dict__.pop("labels", None)
    rubric.__dict__.pop("scale", None)

    def level(text, **options):
        return judge_by_rules(text, rubric=rubric, **options).outcomes[0].value

    assert level("") == worst
    assert level("it is 5", metadata={"answer": 4}) == number
    assert level("so it is", references=("so, it is!",)) == copy
    assert level("so it is") == fine
    assert level("so it is", markers=["so"]) == best


def test_the_best_level_needs_every_credit_and_one_about_what_is_said(judge_by_rules):
    assert judge_by_rules("我在窗台上等你").outcomes[0].value == 0.75, (
        "format and length alone are not enough"
    )
    assert judge_by_rules("我在窗台上等你喵", markers=["喵"]).outcomes[0].value == 1
    unlike = "昨夜的雨打湿了石阶，我在窗台上想你喵"
    mixed = judge_by_rules(unlike, markers=["喵"], references=("我在海边看日出，浪花很大，也想带你来窗台",))
    assert mixed.outcomes[0].value == 0.75, mixed.reason


@each_row("language", ["en", "zh"])
@each_row("text", ["", FINE, "【回答】好的好的", "作为AI助手，我在"])
def test_every_reason_says_that_this_is_a_baseline(judge_by_rules, language, text):
    start = "baseline by rules, not a language model: "
    verdict = judge_by_rules(text, language=language, references=(REFERENCE,))
    scores = [outcome for outcome in verdict.outcomes if isinstance(outcome, Score)]
    assert len(scores) == 6
    assert verdict.reason.startswith(start)
    assert all(score.reason.startswith(start) for score in scores)


def test_scores_are_of_the_judge_kind_and_can_be_written_as_json(judge_by_rules):
    level = judge_by_rules(FINE, references=(REFERENCE,)).outcomes[0]
    assert (level.kind, level.scale, level.details["label"], level.details["model"]) == (
        "judge",
        PERSONA.scale,
        "A",
        "rules",
    )
    assert json.loads(json.dumps(dict(level.details)))["clauses"]["reference_similarity"].startswith(
        "similarity 0."
    )


def test_earlier_thoughts_do_not_count_as_repeats(judge_by_rules):
    thought = "<think>" + "同样的想法" * 9 + "</think>"
    assert (
        judge_by_rules(thought + "我去抓鱼啦", earlier=(thought + "天黑了，晚安",)).outcomes[0].value == 0.75
    )
    assert judge_by_rules(thought + "我去抓鱼啦", earlier=("我去抓鱼啦",)).outcomes[0].value == 0
    exempt = {"exempt_duplicate": True}
    assert judge_by_rules("我去抓鱼啦", earlier=("我去抓鱼啦",), metadata=exempt).outcomes[0].value == 0.75


def test_the_signature_says_all_that_can_move_a_level(small):
    def sign(**changes):
        return RulesJudge(**{"rubric": small, **changes}).signature

    assert sign().startswith(f"small|rubric:2.{small.hash}|rules:")
    assert sign().endswith("|v:1")
    other_rules = small.model_copy(update={"rules": small.rules.model_copy(update={"plain_text": True})})
    variants = [
        sign(),
        sign(markers=["喵"]),
        sign(taboo=["喵"]),
        sign(persona="墨团"),
        sign(name="x"),
        sign(rubric=other_rules),
        sign(rubric=small.model_copy(update={"rules": None})),
    ]
    assert len(set(variants)) == len(variants)
    assert sign(language="en") == sign(language="zh"), "the language moves no level"


@each_row("option", ["markers", "taboo"])
@each_row("value", ["喵", [""], [3]])
def test_markers_and_taboo_are_lists_of_texts(option, value):
    with pytest.raises(ConfigError, match=f"judge 'rules': {option} must be a list of texts"):
        registry.build(
            "judges", "rules", {option: value}, rubric=PERSONA, language="zh", persona="", name=None
        )


def test_the_registry_builds_it():
    judge = registry.build(
        "judges", "rules", {"markers": ["喵"]}, rubric=PERSONA, language="zh", persona="", name="p"
    )
    assert isinstance(judge, Judge)
    assert judge.names[0] == "p.level"
    with pytest.raises(ConfigError, match="did you mean 'markers'"):
        registry.build(
            "judges", "rules", {"marker": []}, rubric=PERSONA, language="zh", persona="", name=None
        )


def test_every_clause_has_a_cap_that_the_ladder_knows(judge_by_rules):
    assert CAPS == ("worst", "second_worst", "middle", "second_best")
    assert all(function.__doc__ for function in CLAUSES_BY_NAME.values())


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.text(max_size=60) | st.text(alphabet="啦啦la \n【】:：*#<>think/012,，二十\ufffd", max_size=120),
    st.lists(st.text(max_size=10), max_size=2),
    st.none() | st.integers() | st.floats() | st.text(max_size=5),
)
def test_any_answer_gets_outcomes_on_the_scale_and_the_same_each_time(text, references, answer):
    judge = RulesJudge(rubric=PERSONA, markers=["喵"])
    sample = Sample(id="1", references=tuple(references), metadata={"answer": answer})
    response = Response(sample_id="1", text=text, repeat=2)
    earlier = [Response(sample_id="1", text=text[: len(text) // 2])]
    once, twice = (
        asyncio.run(judge.judge(sample, response, EvaluationContext(earlier=earlier))) for _ in range(2)
    )
    assert once == twice
    assert [outcome.name for outcome in once.outcomes] == list(judge.names)
    assert isinstance(once.outcomes[0], Score)
