"""What detectors report of a text: the evidence for markup and labels, and the verdict on numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from rows import each_row

from hengwen.objective.detectors import (
    as_number,
    find_chinese_numbers,
    find_markup,
    find_numbers,
    is_section_tag,
    number_verdict,
    numbers_in,
)


@each_row(
    ("text", "evidence"),
    [
        ("```py\nx\n```", ["code fence ```"]),
        ("  ## 一二三\n好", ["heading ## 一二三"]),
        (
            "**一二三四五六七八九十一二三四五六七八九十一二三**",
            ["bold **一二三四五六七八九十一二三四五六七八九十一二"],
        ),
        ("__好__", ["bold __好__"]),
        (" |a|b| \n", ["table |a|b|"]),
        ("<B>好</B>", ["HTML tag <B>"]),
        ("- 一\n2. 二", ["2 list items"]),
        ("- 一\n- 二\n* 三", ["3 list items"]),
        ("- 一", []),
        ("[回答] **好**", ["label [回答]", "bold **好**"]),
        ("［回答］好", ["label ［回答］"]),
        ("〖回答〗好", ["label 〖回答〗"]),
        ("[回答](https://a.b)", []),
        ("Answer: ok", ["label Answer:"]),
        ("“墨团”：好", ["label 墨团:"]),
    ],
)
def test_each_hit_quotes_its_kind_and_at_most_24_characters(text: str, evidence: list[str]) -> None:
    assert [hit.evidence for hit in find_markup(text)] == evidence


@each_row(
    ("text", "names", "labels"),
    [
        ("墨团：好", "", ["label 墨团:"]),
        ("墨团：好", "我是墨团", ["label 墨团:"]),
        ("墨团：好", "我是白白", []),
        ("墨：好", "我是墨团", []),
        ("Alice: hi", "Alice in Wonderland", ["label Alice:"]),
        ("Alice: hi", "", []),
        ("回答：好", "我是墨团", ["label 回答:"]),
        ("墨：好", "", []),
        ("墨团团团：好", "", ["label 墨团团团:"]),
        ("墨团团团团：好", "", []),
        ("墨·团：好", "", ["label 墨·团:"]),
        ("墨a：好", "", []),
        ("墨团说：好", "", []),
        ("一\u9fff：好", "", []),
        ("丁\u9fff：好", "", ["label 丁\u9fff:"]),
        ("\u4e00\u4e01：好", "", []),
        ("\u4dbf\u4dbf：好", "", []),
    ],
)
def test_a_name_before_a_colon_is_a_label(text: str, names: str, labels: list[str]) -> None:
    assert [hit.evidence for hit in find_markup(text, names)] == labels


def test_without_names_short_chinese_openings_count_as_names() -> None:
    assert find_markup("墨团：好") == find_markup("墨团：好", "")


@each_row("text", ["【副歌】\n风", "Chorus: la", "[Verse 1] 风", "(verse)\n风"])
def test_a_section_tag_of_a_lyric_is_not_a_label(text: str) -> None:
    assert find_markup(text) == []
    assert is_section_tag(" (Verse) \n")


@each_row(
    ("text", "question", "verdict"),
    [
        ("一起走", "", "unclear"),
        ("十一点", "", "wrong"),
        ("一起走十一步", "", "unclear"),
        ("一起走，等于 1", "", "right"),
        ("二起走", "", "none"),
        ("等于 7", "", "wrong"),
        ("等于十七", "", "wrong"),
        ("等于 7", "7 减 6", "none"),
    ],
)
def test_a_single_chinese_numeral_may_be_part_of_a_word(text: str, question: str, verdict: str) -> None:
    assert number_verdict(text, Decimal(1), question=question) == verdict


@each_row(
    ("text", "verdict"),
    [
        ("1000000000", "right"),
        ("1000000001", "right"),
        ("999999999", "right"),
        ("1000000002", "wrong"),
        ("-1000000000", "wrong"),
    ],
)
def test_numbers_are_equal_within_a_billionth_of_the_larger(text: str, verdict: str) -> None:
    assert number_verdict(text, Decimal(10**9)) == verdict


def test_the_difference_may_be_exactly_a_billionth() -> None:
    expected = Decimal(10**9)
    assert number_verdict("999999999", expected) == "right"
    assert number_verdict("999999998.9", expected) == "wrong"
    assert number_verdict("0", Decimal(0)) == "right"


@each_row(
    ("run", "value"),
    [
        ("零", 0),
        ("万", 0),
        ("两百", 200),
        ("十五", 15),
        ("三千零二十", 3020),
        ("一百一十一", 111),
        ("三万五千", 35_000),
        ("三万零五", 30_005),
        ("五亿三千万零七", 530_000_007),
        ("一亿二千万三千四百五十六", 120_003_456),
        ("二亿三万四", 200_030_004),
        ("三亿五", 300_000_005),
        ("一万亿", 10**12),
        ("一二三", 123),
        ("零五", 5),
    ],
)
def test_units_of_chinese_numerals_add_up(run: str, value: int) -> None:
    assert find_chinese_numbers(run) == [(value, run)]


def test_numbers_in_digits_come_before_longer_chinese_ones() -> None:
    assert numbers_in("十二加 3，一共十五") == [Decimal(3), Decimal(12), Decimal(15)]
    assert numbers_in("一起") == []


@pytest.mark.slow
@each_row(
    ("value", "expected"),
    [
        ("1e400", Decimal("1e400")),
        ("1e401", None),
        ("1e-400", Decimal("1e-400")),
        ("1e-401", None),
        ("1,5", Decimal(15)),
        (",5", None),
        ("5,", None),
        (False, None),
        (2, Decimal(2)),
        ((), None),
    ],
)
def test_a_value_is_one_number_of_at_most_400_digits(value: object, expected: Decimal | None) -> None:
    assert as_number(value) == expected


@each_row(
    ("text", "numbers"),
    [
        ("２，１８１", ["2181"]),
        ("2，181", ["2", "181"]),
        ("x−3", ["3"]),
        ("是 −3", ["-3"]),
        ("1,000,000", ["1000000"]),
    ],
)
def test_separators_and_signs_of_every_width_are_read(text: str, numbers: list[str]) -> None:
    assert [str(number) for number in find_numbers(text)] == numbers
