"""Numbers in a text: Arabic digits of any width, Chinese numerals, and the verdict on an answer."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective.detectors import (
    as_number,
    find_chinese_numbers,
    find_numbers,
    number_verdict,
)


@each_row(
    ("text", "expected"),
    [
        ("", []),
        ("没有数字", []),
        ("2,181", ["2181"]),
        ("1,234,567.89", ["1234567.89"]),
        ("1,2,3", ["1", "2", "3"]),
        ("12,3456", ["12", "3456"]),
        ("３，１００", ["3100"]),
        ("有3，100个", ["3", "100"]),
        ("2187-6=2181", ["2187", "6", "2181"]),
        ("从-3到+5", ["-3", "5"]),
        ("−1.5", ["-1.5"]),
        ("约1e5个", ["1E+5"]),
        ("v2.0。", ["2.0"]),
    ],
)
def test_numbers_are_found(text, expected):
    assert [str(number) for number in find_numbers(text)] == expected


@each_row(
    ("run", "value"),
    [
        ("十", 10),
        ("二十", 20),
        ("一百零五", 105),
        ("一万两千", 12000),
        ("三亿零四万", 300040000),
        ("二〇二六", 2026),
    ],
)
def test_chinese_numerals_are_read(run, value):
    assert find_chinese_numbers(f"共{run}个") == [(value, run)]


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 99_999_999))
def test_a_chinese_numeral_reads_back_as_its_number(value):
    def below_myriad(number: int) -> str:
        parts = [
            (number // 1000, "千"),
            (number // 100 % 10, "百"),
            (number // 10 % 10, "十"),
            (number % 10, ""),
        ]
        return "".join("零一二三四五六七八九"[digit] + unit for digit, unit in parts if digit)

    high, low = divmod(value, 10_000)
    written = (below_myriad(high) + "万" if high else "") + ("零" if high else "") + below_myriad(low)
    if value:
        assert find_chinese_numbers(written)[0][0] == value


@each_row(
    ("value", "expected"),
    [
        (5, Decimal(5)),
        (0.5, Decimal("0.5")),
        ("１２", Decimal(12)),
        (" -3 ", Decimal(-3)),
        ("12,345", Decimal(12345)),
        ("1e999999999", None),
        ("NaN", None),
        (float("inf"), None),
        (None, None),
        (True, None),
        ([5], None),
        ("five", None),
    ],
)
def test_an_answer_is_one_number_or_none(value, expected):
    assert as_number(value) == expected


@each_row(
    ("text", "question", "verdict"),
    [
        ("得 7", "", "wrong"),
        ("得 7", "3 加 4 再加 7", "none"),
        ("得 7 和 8", "3 加 4 再加 7", "wrong"),
        ("得 5", "5", "right"),
        ("不会", "5", "none"),
    ],
    ids=["no question", "only numbers of the question", "another as well", "right", "no number"],
)
def test_numbers_of_the_question_are_not_wrong(text, question, verdict):
    assert number_verdict(text, Decimal(5), question=question) == verdict
