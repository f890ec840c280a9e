"""The work that one answer can cause: calls of functions, and cells of comparisons, counted and not timed."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable
from math import log2
from typing import Any

import pytest
from rapidfuzz.distance import Indel, LCSseq
from rows import each_row

from hengwen import registry
from hengwen.judges.rules.judge import RulesJudge
from hengwen.judges.rules.rule import RuleInput
from hengwen.objective.overlap.rouge import rouge
from hengwen.prompts import load_rubric
from hengwen.protocols import EvaluationContext, GroupScorer, Scorer
from hengwen.records import Response, Sample

pytestmark = pytest.mark.slow

N = 2000
"""Characters of a text."""
MAX_STEPS_PER_CHARACTER = 30 * log2(N)
DRAW = random.Random(7)
HAN = [chr(code) for code in range(0x4E00, 0x9FA5)]


def repeat(unit: str) -> str:
    return (unit * (N // len(unit) + 1))[:N]


def drawn(characters: str | list[str]) -> str:
    return "".join(DRAW.choices(characters, k=N))


TEXTS = {
    "one letter": repeat("a"),
    "one character": repeat("好"),
    "two characters": repeat("好的"),
    "particles": repeat("啊的说")[:-1] + "好",
    "random Han": drawn(HAN),
    "random Han of few kinds": drawn(HAN[:200]),
    "random letters": drawn("abcdefghijklmnopqrstuvwxyz "),
    "random ASCII": drawn([chr(code) for code in range(32, 127)]),
    "two letters at random": drawn("ab"),
    "lines of two letters": drawn("ab\n"),
    "line feeds": repeat("\n"),
    "blanks": repeat(" "),
    "lines of one letter": repeat("a\n"),
    "the same line": repeat("今天天气真好，我们去公园玩吧\n"),
    "different lines": "".join(f"第{i}行，今天{i}真好\n" for i in range(N))[:N],
    "no line break": repeat("".join(HAN[:600])),
    "brackets": "[" * (N // 2) + "]" * (N // 2),
    "angles": repeat("<"),
    "table": repeat("| a | b |\n"),
    "list": repeat("- a\n"),
    "digits": repeat("1,"),
    "numerals": repeat("万亿"),
    "thoughts": repeat("</think>"),
    "marks": "e" + "\u0301" * (N // 2) + "\u0316" * (N // 2 - 1),
    "ligatures": repeat("\ufdfa")[: N // 18],
    "lone surrogates": repeat("\ud800"),
    "sections": repeat("(verse)\n月光\n"),
    "lyric": "(verse)\n" + drawn("月光海洋风起云涌远方来日落\n")[:-8],
    "JSON": '{"a":' * (N // 5),
    "regular expression": "a" * (N - 1) + "!",
}
SHORT = "今天天气真好，我们去公园散步吧。\n数字 42 也对。"
TEMPLATE = "(verse)\nccccR\nccccR\n(chorus)\ncccccR"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], int]:
    """Count the calls of a function, and a step for 64 cells of each table that rapidfuzz fills."""
    cells = 0

    def counted(compare: Callable[..., Any]) -> Callable[..., Any]:
        def counting(a: Any, b: Any, **options: Any) -> Any:
            nonlocal cells
            cells += len(a) * len(b)
            return compare(a, b, **options)

        return counting

    monkeypatch.setattr(LCSseq, "similarity", counted(LCSseq.similarity))
    monkeypatch.setattr(Indel, "normalized_similarity", counted(Indel.normalized_similarity))

    def count(run: Callable[[], Any]) -> int:
        nonlocal cells
        calls = cells = 0

        def profile(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            run()
        except ValueError:  # becomes a Failure
            pass
        finally:
            sys.setprofile(before)
        return calls + cells // 64

    return count


def reversed_text(text: str) -> str:
    return text[::-1] + "x"


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "lyric": [{}, {"rules": "muchin"}, {"parse": "lenient"}],
    "rouge": [{}, {"kind": "rouge2"}],  # ROUGE-Lsum compares pairs of lines, see below
    "bleu": [{"tokenize": "zh"}, {"tokenize": "13a"}],
    "contains": [{"words": ["zzz"]}],
    "regex": [{"pattern": "b+c"}],
    "near_duplicates": [{}, {"threshold": 0.6}],
    "length": [{"least": 1}],
}
"""Options to try; a scorer that is not named here has its defaults."""
SCORERS = [
    (name, options)
    for name in registry.BUILTINS["scorers"]
    for options in OPTIONS.get(name, [{}])
    if name != "leakage"
]


@each_row(("name", "options"), SCORERS)
def test_a_scorer_takes_n_log_n_steps(steps, name: str, options: dict[str, Any]) -> None:
    scorer = registry.build("scorers", name, options)

    def score(answer: str, other: str) -> object:
        sample = Sample(id="1", references=(other,), metadata={"template": other})
        response = Response(sample_id="1", text=answer)
        if isinstance(scorer, GroupScorer):
            return scorer.score_set([(sample, response), (sample, Response(sample_id="1", text=other))])
        assert isinstance(scorer, Scorer)
        return scorer.score(sample, response)

    steps(lambda: score(TEXTS["lyric"], TEXTS["lyric"]))  # tables are built once
    for title, text in TEXTS.items():
        for answer, other in ((text, TEMPLATE), (SHORT, text), (text, reversed_text(text))):
            assert (steps(lambda: score(answer, other)) / N, title) < (MAX_STEPS_PER_CHARACTER,)  # noqa: B023


@each_row("sentences", ["newline", "punctuation"])
@each_row("title", ["different lines", "lines of two letters"])
def test_rouge_lsum_refuses_too_many_pairs_of_lines_at_once(steps, title: str, sentences: str) -> None:
    text = "".join("".join(DRAW.sample(line, len(line))) for line in TEXTS[title].splitlines(True) * 40)
    options: Any = {"kind": "rougeLsum", "sentences": sentences}
    rouge(SHORT, SHORT, **options)
    assert steps(lambda: rouge(text, text[::-1], **options)) / len(text) < MAX_STEPS_PER_CHARACTER


def test_the_rules_judge_takes_n_log_n_steps(steps) -> None:
    judge = RulesJudge(rubric=load_rubric("muice_live"), persona="沐雪", markers=["喵"], taboo=["AI"])

    def evaluate(text: str, other: str) -> object:
        sample = Sample(id="1", references=(other,), metadata={"number": 42})
        earlier = [Response(sample_id="1", text=other)]
        return asyncio.run(
            judge.judge(
                sample, Response(sample_id="1", text=text, repeat=2), EvaluationContext(earlier=earlier)
            )
        )

    steps(lambda: evaluate(SHORT, TEMPLATE))
    for title, text in TEXTS.items():
        assert (steps(lambda: evaluate(text, reversed_text(text))) / N, title) < (MAX_STEPS_PER_CHARACTER,)  # noqa: B023


@each_row("name", sorted({*registry.BUILTINS["rules"]} - {"leakage"}))
def test_a_rule_takes_n_log_n_steps(steps, name: str) -> None:
    rule = registry.build("rules", name, {})

    def evaluate(text: str, other: str) -> object:
        sample = Sample(id="1", input=other, references=(other,), metadata={"number": 42})
        response = Response(sample_id="1", text=text, repeat=2)
        return rule.evaluate(
            RuleInput(sample=sample, response=response, earlier=[Response(sample_id="1", text=other)])
        )

    steps(lambda: evaluate(SHORT, TEMPLATE))
    for title, text in TEXTS.items():
        assert (steps(lambda: evaluate(text, reversed_text(text))) / N, title) < (MAX_STEPS_PER_CHARACTER,)  # noqa: B023
