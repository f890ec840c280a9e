"""Rules about the text of an answer: broken output, markup, numbers."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.judges.rules.text_rules import Broken, Number, PlainText, TargetCopy

A = "今天的月亮像一块刚出炉的烧饼，我想咬一口"
VARIED = "".join(chr(0x4E00 + i) for i in range(150))


@each_row(
    ("text", "cap"),
    [("", 0.0), ("<think>嗯", 0.0), ("……", 0.0), ("很好" * 30, 0.0), ("\ufffd" + VARIED, None), (A, None)],
    ids=["empty", "open thought", "no word", "loop", "one lost character", "whole"],
)
def test_broken_output_is_worth_nothing(rule_input, text: str, cap: float | None) -> None:
    result = Broken().evaluate(rule_input(text))
    assert (result.cap, result.value) == (cap, float(cap == 0))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [("【回答】月亮很圆", ["label"]), ("# 月亮\n- 圆\n- 亮", ["heading", "list items"]), (A, None)],
)
def test_labels_and_markup_are_capped(rule_input, text: str, kinds: list[str] | None) -> None:
    result = PlainText().evaluate(rule_input(text))
    assert (result.cap, result.details.get("kinds")) == (None if kinds is None else 0.5, kinds)


@each_row(
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
def test_a_wrong_number_is_capped(rule_input, text: str, value: float, cap: float | None) -> None:
    sample = {"input": "3^7-log2(64)=?", "metadata": {"number": 2181}}
    result = Number().evaluate(rule_input(text, **sample))
    assert (result.value, result.cap) == (value, cap)


def test_a_sample_without_a_number_or_a_reference_is_not_applicable(rule_input) -> None:
    assert Number().evaluate(rule_input("2181")).value is None
    assert TargetCopy().evaluate(rule_input(A)).value is None
