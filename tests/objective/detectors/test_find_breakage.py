"""What makes an answer unusable, with the boundary of each share and length."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective import detectors
from hengwen.objective.detectors import Corruption, find_breakage, find_loop, repeated_share

LONG_UNIT = "我们一起走过漫长的路去看海"


@each_row(
    ("text", "corruption"),
    [
        ("<think>想一想", Corruption("thinks without end", "思考未结束")),
        ("", Corruption("empty", "空白")),
        (" \n\t", Corruption("empty", "空白")),
        ("<think>好</think>\n", Corruption("empty", "空白")),
        ("a\x00\x01", Corruption("mostly control characters", "多为控制字符")),
        ("……！", Corruption("no letter or digit", "没有任何文字")),
        ("\u0301!", Corruption("no letter or digit", "没有任何文字")),
        ("很好" * 30, Corruption("loops on '很好'", "陷入循环：很好", unit="很好")),
        (
            LONG_UNIT * 6,
            Corruption(
                "loops on '我们一起走过漫长的路去看'", "陷入循环：我们一起走过漫长的路去看", unit=LONG_UNIT
            ),
        ),
        ("好\ufffd\ufffd", Corruption("2 garbled (U+FFFD)", "2 处乱码（U+FFFD）")),
    ],
    ids=[
        "endless thought",
        "empty",
        "whitespace",
        "nothing after the thought",
        "control characters",
        "punctuation",
        "a mark without a letter",
        "loop",
        "loop of a long piece",
        "garbled",
    ],
)
def test_broken_answers_are_described_in_english_and_chinese(text: str, corruption: Corruption) -> None:
    assert find_breakage(text) == corruption


@each_row("text", ["好", "7", "<think>\x00\x00\x00</think>好的", "你好\n\r\t\n\r\t", "哈哈哈哈哈，很好"])
def test_a_whole_answer_is_not_broken(text: str) -> None:
    assert find_breakage(text) is None


@each_row("control", ["\x00", "\ud800", "\ue000", "\u0378"], ids=["Cc", "Cs", "Co", "Cn"])
def test_a_text_is_broken_when_more_than_half_of_it_are_control_characters(control: str) -> None:
    assert find_breakage(f"a{control}") is None
    assert find_breakage(f"ab{control * 3}") == Corruption("mostly control characters", "多为控制字符")


def test_invisible_format_characters_are_not_control_characters() -> None:
    assert find_breakage("a" + "\u200b" * 9) is None


@each_row(("characters", "slight"), [(100, False), (101, True)], ids=["one in a hundred", "one in 101"])
def test_less_than_one_garbled_character_in_a_hundred_is_slight(characters: int, slight: bool) -> None:
    text = "".join(chr(0x4E00 + index) for index in range(characters - 1)) + "\ufffd"
    assert find_breakage(text) == Corruption("1 garbled (U+FFFD)", "1 处乱码（U+FFFD）", slight)


def test_a_description_without_quotation_differs_only_for_loops() -> None:
    assert find_breakage("很好" * 30).unquoted == ("stuck in a loop", "陷入循环")
    assert find_breakage("").unquoted == ("empty", "空白")


@each_row(
    ("text", "unit"),
    [
        ("哈" * 23, ""),
        ("哈" * 24, "哈"),
        ("去远方看海吧" * 4, ""),
        ("去远方看海吧" * 5, "去远方看海吧"),
        ("一" * 30 + "".join(chr(0x4E00 + index) for index in range(30)), "一"),
        ("一" * 30 + "".join(chr(0x4E01 + index) for index in range(31)), ""),
        ("嗯嗯嗯嗯嗯" + "哈" * 30, "哈"),
        (
            "".join(chr(0x4E00 + index) for index in range(60)) * 5,
            "".join(chr(0x4E00 + i) for i in range(60)),
        ),
        ("".join(chr(0x4E00 + index) for index in range(61)) * 5, ""),
    ],
    ids=[
        "23 characters",
        "24 characters",
        "4 times",
        "5 times",
        "half of the text",
        "less than half",
        "a short run before the loop",
        "a piece of 60",
        "a piece of 61",
    ],
)
def test_a_loop_has_24_characters_five_repeats_and_half_of_the_text(text: str, unit: str) -> None:
    assert find_loop(text) == unit


@each_row(
    ("text", "share", "lines"),
    [
        ("风\n云", 0.0, 2),
        ("风\n风！\n风", pytest.approx(2 / 3), 3),
        ("……\n！", 0.0, 0),
        ("", 0.0, 0),
    ],
)
def test_repeated_lines_are_a_share_of_the_lines_with_words(text: str, share: float, lines: int) -> None:
    assert repeated_share(text) == (share, lines)


@st.composite
def looping_texts(draw) -> str:
    """Texts of few letters, in which a repeated piece covers about half of the text."""
    piece = draw(st.text("ab一", min_size=1, max_size=7)) * draw(st.sampled_from([1, 1, 9]))
    copies = draw(st.integers(3, 12))
    before, after = (draw(st.text("ab一", max_size=40)) for _ in range(2))
    return before + piece * copies + piece[: draw(st.integers(0, 6))] + after


@pytest.mark.slow
@given(looping_texts())
@settings(max_examples=500, deadline=None)
def test_a_loop_is_that_of_a_search_from_every_character(text: str) -> None:
    min_length = max(detectors.MIN_LOOP_CHARACTERS, detectors.MIN_LOOP_SHARE * len(text))
    loops = (match for match in re.finditer(r"(.{1,60}?)\1{4,}", text) if len(match[0]) >= min_length)
    assert find_loop(text) == next((match[1] for match in loops), "")


@pytest.mark.slow
@given(st.text(st.characters(categories=["Cc", "Cn", "Co", "Ll", "Zs", "Zl", "Cf"]), min_size=1))
def test_control_characters_are_counted_one_by_one(text: str) -> None:
    controls = [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") and c not in "\n\r\t"]
    assert detectors._control_share(text) == len(controls) / len(text)
