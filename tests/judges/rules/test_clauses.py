"""The small readers behind the clauses: numbers, labels and markup, loops."""

from __future__ import annotations

from decimal import Decimal
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.objective.detectors.breakage import find_breakage, find_loop, repeated_share
from hengwen.objective.detectors.markup import find_markup, is_section_tag
from hengwen.objective.detectors.numbers import as_number, find_chinese_numbers, find_numbers


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "text",
    [
        "我想说：你好",
        "记住：别怕",
        "对了：明天见",
        "首先：别急",
        "晚安：愿你好梦",
        "天气预报：有雨",
        "我们18:30见",
        "https://a.b",
        "Alice: hi",
        "（笑）你好",
        "*伸懒腰*你好",
        "3. 是第三",
        "- 好的，走吧",
        "鱼、虾、蟹",
        "a < b > c",
        "#话题# 今天",
        "2*3*4",
        "(verse)\n风",
        "[Chorus 2]\n风",
        "【副歌】\n风",
        "Pre-Chorus:\n风",
        "<生成推文: AI生活>",
    ],
)
def test_plain_words_are_no_markup(text):
    assert find_markup(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "【回答】好",
        "[Answer] ok",
        "答案：好",
        "Answer: ok",
        "“墨团：”好",
        "墨团：好",
        "**墨团**：好",
        "## 好",
        "- 一\n- 二",
        "1. 一\n2. 二",
        "1、鱼\n2、虾",
        "**好**",
        "__好__",
        "```py\nx\n```",
        "|a|b|\n|-|-|",
        "<b>好</b>",
        '<a href="x">好</a>',
    ],
)
def test_labels_and_markup_are_found(text):
    assert len(find_markup(text)) >= 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(verse)", True),
        ("副歌", True),
        ("【主歌 1】", True),
        ("副歌响起来了吗", False),
        ("rap god ok yes", False),
    ],
)
def test_section_tags_are_told_from_lines(line, expected):
    assert is_section_tag(line) == expected


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("哈哈哈哈哈哈哈哈", ""),
        ("哈" * 30, "哈"),
        ("la la la " * 10, "la"),
        ("一句话。" * 4, ""),
        ("开头是好的，后来就" + "坏掉了，" * 30, "坏掉了，"),
        ("正常的歌词" * 2 + "风吹过山岗我想起你的模样，" * 2, ""),
    ],
)
def test_loops_are_found_and_laughs_are_not(text, unit):
    assert find_loop(text) == unit


def test_a_long_text_is_read_quickly():
    begin = perf_counter()
    for text in ("a" * 50_000, "ab" * 20_000 + "c" * 9, "".join(map(str, range(12_000)))):
        find_breakage(text)
        find_markup(text)
        find_numbers(text)
    assert perf_counter() - begin < 10


def test_repeated_lines_do_not_count_tags_and_blank_lines():
    assert repeated_share("(verse)\n\n风\n(verse)\n云\n……\n风") == (pytest.approx(1 / 3), 3)
    assert repeated_share("(verse)\n\n") == (0.0, 0)
