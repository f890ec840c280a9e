"""Tokens of every script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective.text import (
    char_tokens,
    choose_bleu_tokenizer,
    fold_width,
    jieba_tokens,
    mixed_sequence,
    mixed_tokens,
    split_tokens,
)


@each_row(
    ("text", "expected"),
    [
        ("我爱 Rock2024_x，don't!", ["我", "爱", "rock2024", "x", "don", "t"]),
        ("はい。한국", ["は", "い", "한", "국"]),
        ("が", ["が"]),
        ("naïve Straße", ["naïve", "straße"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ขอบคุณ", ["ข", "อ", "บ", "คุ", "ณ"]),
        ("人々〇𠮷", ["人", "々", "〇", "𠮷"]),
        ("！？。…😊👍🏽", []),
        ("", []),
        ("3.14％", ["3", "14"]),
    ],
)
def test_a_character_of_cjk_is_a_token_and_elsewhere_a_word_is(text: str, expected: list[str]) -> None:
    assert mixed_tokens(text) == expected


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="你好世界，。！？ \n—“”aB9_é가の々𠮷😊　…", max_size=20))
def test_the_quick_form_holds_the_same_tokens(text: str) -> None:
    assert list(mixed_sequence(text)) == mixed_tokens(text)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_on_ascii_the_tokens_are_those_of_rouge_score(text: str) -> None:
    assert mixed_tokens(text) == re.findall("[a-z0-9]+", text.lower())


@each_row(
    ("references", "expected"),
    [
        (["我爱你"], "zh"),
        (["the 月 is round"], "zh"),
        (["the cat", "über"], "13a"),
        (["привет"], "13a"),
        (["ありがとう"], "char"),
        (["한국어"], "char"),
        (["ขอบคุณ"], "char"),
        (["𠮷𠮷"], "char"),
        (["😊😊"], "char"),
        (["42"], "13a"),
        (["月亮很圆" * 20, "の"], "zh"),
        (["月亮很圆" * 2, "の"], "char"),
    ],
)
def test_the_tokenizer_goes_by_the_script_of_the_references(references: list[str], expected: str) -> None:
    assert choose_bleu_tokenizer(references) == expected


def test_other_splits() -> None:
    assert char_tokens("我 OK！") == ["我", "O", "K", "！"]
    assert jieba_tokens("我喜欢听音乐，OK！") == ["我", "喜欢", "听", "音乐", "ok"]
    assert fold_width("ＯＫ！", "fold") == "OK!"
    assert fold_width("ＯＫ！") == "ＯＫ！"
    with pytest.raises(ValueError, match="tokenize must be auto, mixed, char, jieba, whitespace, got 'zh'"):
        split_tokens("zh")
