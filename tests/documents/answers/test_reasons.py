"""Reasons of fixed rules are in the language of the report; reasons of models and people stay as they are."""

import asyncio
import re
from dataclasses import replace

import pytest

from hengwen.documents.answers.reasons import reason_of
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.copy_rules import NearDuplicate, TargetCopy
from hengwen.judges.rules.judge import RulesJudge
from hengwen.judges.rules.rule_set import RuleScorer, RuleSet
from hengwen.judges.rules.text_rules import Broken, Number, PlainText
from hengwen.prompts import load_rubric
from hengwen.protocols import EvaluationContext
from hengwen.records import Outcome, Response, Sample, Score

RULES = (Broken(), NearDuplicate(), TargetCopy(), PlainText(), Number())
QUESTION = Sample(id="1", input="几只猫？", references=["三只猫在睡"], metadata={"number": 3})
EARLIER = EvaluationContext(earlier=[Response(sample_id="1", text="今天我们一起去海边看日落吧朋友")])
ANSWERS = [
    "三只猫在睡",
    "五只猫",
    "有3只猫",
    "今天我们一起去海边看日落吧朋友",
    "【周末推荐】\n- 一\n- 二\n- 三",
    "## 标题\n**粗** <b>粗</b>\n|一|二|\n```\n三\n```",
    "<think>想",
    "",
    "好" * 40,
    "坏\ufffd了",
    "一\n一\n一\n一\n一",
    "你好) taboo (喵",
]
NAMES = (
    r"[a-z]+_[a-z_]+|number|broken|leakage|markers|taboo|length|"
    r"HTML|U\+FFFD|\[[a-z_, ]+\]|b>|logic|live|persona_fit"
)
"""What is the same in both languages: names of rules and criteria, flags, what is quoted."""


def outcomes_of(sample: Sample, text: str) -> list[Outcome]:
    """Return what the rules judge, its caps and the rules say of an answer."""
    rubric = load_rubric("muice_live")
    judge = CappedJudge(RulesJudge(rubric=rubric, markers=["喵"], taboo=["AI"]), RuleSet(RULES))
    response = Response(sample_id="1", text=text, repeat=2)
    verdict = asyncio.run(judge.judge(sample, response, EARLIER))
    return [
        *verdict.outcomes,
        *(outcome for rule in RULES for outcome in RuleScorer(rule).score(sample, response, EARLIER)),
    ]


@pytest.mark.parametrize("text", ANSWERS)
@pytest.mark.parametrize("sample", [QUESTION, replace(QUESTION, metadata={})], ids=["number", "none"])
def test_every_reason_of_rules_is_in_the_language_of_the_report(sample: Sample, text: str) -> None:
    for outcome in outcomes_of(sample, text):
        zh, en = reason_of(outcome)
        quoted = re.sub(NAMES, "", zh)
        assert not re.search("[a-zA-Z]{2,}", quoted), (zh, en)
        assert not re.search("规则|照抄|重复|降为|标签", en), en


def test_what_a_judge_wrote_stays_as_it_is() -> None:
    score = Score(name="craft.level", value=1, signature="s", kind="judge", reason="the output is whole")
    assert reason_of(score) == ("the output is whole", "the output is whole")
