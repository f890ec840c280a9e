"""The rubrics that come with the package: whole in both languages, clear, their own words."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import combinations

import pytest
from rows import each_row

from hengwen.judges import RulesJudge
from hengwen.judges.rubric.model_judge import parse_verdict, verdict_schema
from hengwen.objective.duplicates.similarity import similarity
from hengwen.prompts import load_rubric
from hengwen.prompts.render import render_judge_prompt, system_turn
from hengwen.prompts.rubric import packaged_rubrics
from hengwen.records import Failure, Response, Sample, Scale

NAMES = packaged_rubrics()
MUICE = ["muice_live", "muice_new_topic"]
SEED = {
    "relevance": "seeds/002_f3d9f379663465b9.txt",
    "muice_live": "seeds/004_873db047e97b039a.txt",
    "muice_new_topic": "seeds/004_873db047e97b039a.txt",
}


def texts(rubric):
    """All texts of a rubric, by key."""
    by_key = {"title": rubric.title, "instructions": rubric.instructions}
    by_key |= {f"level {value:g}": level for value, level in rubric.levels.items()}
    by_key |= rubric.criteria
    for number, example in enumerate(rubric.examples, 1):
        parts = {name: getattr(example, name) for name in ("input", "reference", "response", "reason")}
        by_key |= {f"example {number} {name}": text for name, text in parts.items() if text}
    return by_key


def test_the_packaged_rubrics_are_these():
    assert {"lyric_craft", "muice_live", "muice_new_topic", "persona_generic", "relevance"} <= set(NAMES)


@each_row(
    ("name", "levels", "criteria", "uses"),
    [
        (
            "relevance",
            (1, 2, 3, 4, 5),
            ["accuracy", "completeness", "engagement", "brand_fit", "audience_fit", "prompt_fit"],
            ["input", "response", "references", "persona"],
        ),
        (
            "muice_live",
            (0, 0.25, 0.5, 0.75, 1),
            ["task_fit", "logic", "content", "reference", "language", "voice", "format"],
            ["input", "response", "references", "persona"],
        ),
        (
            "muice_new_topic",
            (0, 0.25, 0.5, 0.75, 1),
            ["task_fit", "logic", "content", "language", "voice", "format"],
            ["input", "response", "persona"],
        ),
    ],
)
def test_levels_criteria_and_parts(name, levels, criteria, uses):
    rubric = load_rubric(name)
    assert rubric.scale == Scale(low=levels[0], high=levels[-1], levels=levels)
    assert list(rubric.labels) == list("EDCBA")
    assert list(rubric.criteria) == criteria
    assert rubric.uses == uses
    assert rubric.better_than_reference == ("references" in uses)


@pytest.mark.slow
@each_row("name", NAMES)
@each_row("language", ["zh", "en"])
def test_no_two_texts_say_the_same(name, language):
    by_key = {key: text.in_language(language) for key, text in texts(load_rubric(name)).items()}
    alike = [(a, b) for (a, x), (b, y) in combinations(by_key.items(), 2) if similarity(x, y) > 0.75]
    assert not alike


@each_row("name", NAMES)
def test_both_languages_say_as_much(name):
    """A clause that is missing on one side shows: English takes 2 to 5 letters for a Chinese character."""
    ratios = {key: len(text.en) / len(text.zh) for key, text in texts(load_rubric(name)).items()}
    assert not {key: ratio for key, ratio in ratios.items() if not 2 <= ratio <= 5}


@each_row("name", NAMES)
def test_examples_show_several_levels_and_the_best(name):
    rubric = load_rubric(name)
    levels = [example.level for example in rubric.examples]
    assert len(set(levels)) == len(levels) >= 2
    assert rubric.scale.high in levels
    assert not [
        example for example in rubric.examples if "references" not in rubric.uses and example.reference
    ]


@each_row("name", NAMES)
@each_row("language", ["zh", "en"])
def test_the_prompt_holds_every_text_and_label(name, language):
    rubric = load_rubric(name)
    system = system_turn("judge", rubric, language)
    assert not [key for key, text in texts(rubric).items() if text.in_language(language) not in system]
    colon = "：" if language == "zh" else ": "
    for level in rubric.levels.values():
        assert f"\n{level.label}{colon}{level.in_language(language)}\n" in system
    assert ("、" if language == "zh" else ", ").join(list(rubric.labels)[::-1]) in system
    assert "{{" not in system
    assert "{%" not in system


@each_row("name", NAMES)
def test_a_verdict_in_the_form_asked_for_is_read(name):
    rubric = load_rubric(name)
    shape = {"reason": "ok", "criteria": dict.fromkeys(rubric.criteria, "b"), "level": "C"}
    assert list(verdict_schema(rubric)["required"]) == list(shape)
    assert rubric.labels[parse_verdict(json.dumps(shape), rubric).level] == rubric.scale.levels[2]


@each_row("name", NAMES)
def test_a_reference_is_shown_only_where_the_rubric_uses_it(name):
    rubric = load_rubric(name)
    sample = Sample(id="1", input="hi", references=("the reference text",))
    turns = render_judge_prompt(rubric, sample, Response(sample_id="1", text="x"), persona="a cat")
    uses_references = "references" in rubric.uses
    assert ("the reference text" in turns[1][1]) == uses_references
    assert ("# 关于参考" in turns[0][1]) == uses_references
    assert ("a cat" in turns[1][1]) == ("persona" in rubric.uses)


@each_row("name", MUICE)
@each_row(("language", "who"), [("zh", "沐雪"), ("en", "Muice")])
def test_without_a_persona_the_judge_knows_who_is_meant(name, language, who):
    assert who in load_rubric(name).instructions.in_language(language)


def test_training_data_counts_only_by_evidence_in_the_task():
    rubric = load_rubric("muice_new_topic")
    assert "没有附比对结果时，不要猜测" in rubric.instructions.zh
    assert "Without such a result do not guess" in rubric.instructions.en
    assert not [text for text in (*rubric.levels.values(), *rubric.criteria.values()) if "train" in text.en]


@pytest.mark.parametrize(("name", "source"), SEED.items())
def test_the_published_sentences_are_not_repeated(name, source, shared):
    """Ten characters of Chinese, or eight words of English, in a row would be somebody else's sentence."""
    published = shared(source).read_text("utf-8")
    words = re.findall(r"\w+", published.lower())
    runs = {" ".join(words[i : i + 8]) for i in range(len(words))}
    for key, text in texts(load_rubric(name)).items():
        ours = re.findall(r"\w+", text.en.lower())
        assert not runs & {" ".join(ours[i : i + 8]) for i in range(len(ours) - 7)}, key
        assert not [text.zh[i : i + 10] for i in range(len(text.zh) - 9) if text.zh[i : i + 10] in published]


REFERENCE = "没关系的啦，谁第一次做饭不是手忙脚乱的，下次把火开小一点就好！"


@each_row(
    ("name", "text", "options", "value"),
    [
        (
            "muice_live",
            "谁第一次做饭不是手忙脚乱的呢，下次把火开小点就好，别怕！",
            {"references": (REFERENCE,)},
            1,
        ),
        ("muice_live", REFERENCE + "喵", {"references": (REFERENCE,)}, 0.5),
        ("muice_live", "是2180哦", {"metadata": {"answer": 2181}}, 0.25),
        ("muice_live", "是2181哦", {"references": ("2181",), "metadata": {"answer": 2181}}, 1),
        ("muice_live", "【回答】我在呢，今天想聊点什么？", {}, 0.5),
        ("muice_live", "作为一个AI助手，我没有感情。", {}, 0.25),
        ("muice_live", "作为AI，我也想吃一口你的蛋糕呀！", {}, 0.75),
        ("muice_live", "", {}, 0),
        ("muice_new_topic", "今天沐沐给我换了新风扇，你们听得见吗？", {}, 0.75),
        ("muice_new_topic", "# 早间播报\n今天天气很好，大家早上好", {}, 0.5),
        ("muice_new_topic", "早上好呀大家好", {}, 0.5),
        ("relevance", "周六上午九点到十二点，把车推来链条巷，免费检查刹车。", {}, 4),
        ("relevance", "## 雨季提醒\n- 周六上午九点\n- 链条巷免费检查刹车，欢迎大家过来", {}, 4),
        ("relevance", "周六来[品牌名称]，免费检查刹车，大家都来看看吧！", {}, 2),
        ("relevance", "Come to [Your Brand] on Saturday for a free brake check!", {}, 2),
        ("relevance", "来链条巷吧", {}, 2),
    ],
)
def test_the_rules_judge_reads_the_rules_blocks(name, text, options, value):
    judge = RulesJudge(rubric=load_rubric(name))
    sample = Sample(id="1", input="?", **options)
    level = asyncio.run(judge.judge(sample, Response(sample_id="1", text=text))).outcomes[0]
    assert level.value == value, level.reason


@each_row("name", NAMES)
def test_the_rules_judge_says_what_it_cannot_see(name):
    """No clause is credited with seeing what only a reader can: engagement, audience, theme."""
    rubric = load_rubric(name)
    answer = Response(sample_id="1", text="周六上午九点到十二点，把车推来链条巷，免费检查刹车。")
    outcomes = asyncio.run(RulesJudge(rubric=rubric).judge(Sample(id="1"), answer)).outcomes
    blind = {outcome.name.partition(".")[2] for outcome in outcomes if isinstance(outcome, Failure)}
    assert blind >= {"engagement", "audience_fit", "completeness", "theme", "imagery"} & set(rubric.criteria)
    assert "level" not in blind
