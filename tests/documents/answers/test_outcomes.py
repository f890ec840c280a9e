"""Reasons of fixed rules are in the language of the report; reasons of models and people stay as they are."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hengwen import registry
from hengwen.documents.answers.all_answers import reason_of
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.judge import RulesJudge
from hengwen.judges.rules.rule import RuleScorer, RuleSet
from hengwen.judges.rules.text_rules import Broken, NearDuplicate, Number, PlainText, TargetCopy
from hengwen.prompts import load_rubric
from hengwen.protocols import EvaluationContext
from hengwen.records import Failure, Outcome, Response, Sample, Score
from hengwen.text.language import Bilingual

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


SCORERS: dict[str, dict[str, Any]] = {
    "exact": {},
    "contains": {"words": ["猫", "狗"]},
    "regex": {"pattern": "^.{3,}$"},
    "json_valid": {"keys": ["a"]},
    "length": {"most": 5},
    "bleu": {},
    "chrf": {},
    "ter": {},
    "rouge": {"kind": "rouge5"},
    "repetition": {},
    "type_token_ratio": {},
    "lyric": {},
    "near_duplicates": {},
    "self_bleu": {},
    "ngram_entropy": {},
    "corpus_bleu": {},
    "corpus_chrf": {},
}
TEXTS = [
    *ANSWERS,
    "{a}",
    '{"a": 1} x',
    '{"b": 1}',
    '{"a": 1,}',
    "[1]",
    '{"a" 1}',
    "NaN",
    '"\x01"',
    "(verse)\n雨落在窗前",
]


def reasons_of(name: str, scorer: Any, text: str) -> Iterator[Bilingual]:
    """Yield the reasons of a scorer for an answer, or why it gave no score."""
    sample = Sample(
        id="1", input="几只猫？", references=["三只猫在睡"], metadata={"template": "(verse)\nccccR"}
    )
    response = Response(sample_id="1", text=text)
    try:
        if hasattr(scorer, "score_set"):
            scores = scorer.score_set([(sample, response), (sample, replace(response, repeat=2))])
        else:
            scores = scorer.score(sample, response)
    except ValueError as error:
        scores = [Failure(name=name, status="scorer_error", message=f"ValueError: {error}", signature="s")]
    yield from map(reason_of, scores)


@pytest.mark.parametrize("name", SCORERS)
def test_every_reason_of_a_scorer_is_in_the_language_of_the_report(name: str) -> None:
    scorer = registry.build("scorers", name, SCORERS[name])
    for zh, en in chain.from_iterable(reasons_of(name, scorer, text) for text in TEXTS):
        assert not re.search("[a-z]{2,} [a-z]{2,}", zh), (zh, en)


def test_the_kind_of_a_leak_is_said_in_the_language_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("今天我们一起去海边看日落吧\n", "utf-8")
    scorer = registry.build("scorers", "leakage", {"corpus": str(tmp_path / "train.txt"), "near": 0.5})
    texts = (
        "今天我们一起去海边看日落吧",
        "今天我们一起去海边看日落呢",
        "今天我们一起去海边看日落还有月亮",
        "猫在睡觉",
    )
    words = [reason.zh for text in texts for reason in reasons_of("leakage", scorer, text)]
    assert words == [
        "与语料第 1 条逐字相同",
        "与语料第 1 条只差语气词",
        "与语料第 1 条大部分相同",
        "与语料没有共同的 5-gram",
    ]


def test_what_a_judge_wrote_stays_as_it_is() -> None:
    score = Score(name="craft.level", value=1, signature="s", kind="judge", reason="the output is whole")
    assert reason_of(score) == ("the output is whole", "the output is whole")
