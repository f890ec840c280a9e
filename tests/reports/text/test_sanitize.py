"""Text of others without what a terminal, a browser or a reader could be fooled with."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.reports.text.sanitize import clean, one_line, shorten


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\x1b[31;1mred\x1b[0m", "ared", id="colour"),
        pytest.param("a\x1b]0;title\x07b", "ab", id="window-title"),
        pytest.param("a\x1b]8;;x\x1b\\b", "ab", id="terminal-link"),
        pytest.param("a\x9b2Jb", "ab", id="eight-bit-escape"),
        pytest.param("a\u202eb\u2066c\u200fd", "abcd", id="bidi"),
        pytest.param("a\x00\x07\x7fb", "ab", id="controls"),
        pytest.param("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne", id="line-breaks"),
        pytest.param("a\ud800\uffffb", "a\ufffd\ufffdb", id="not-for-utf8"),
        pytest.param("  词\t曲 👩‍👩‍👧\n", "  词\t曲 👩‍👩‍👧\n", id="kept"),
    ],
)
def test_clean_takes_out_what_cannot_be_seen(text, expected):
    assert clean(text) == expected


@given(st.text(st.characters(), max_size=60))
@settings(deadline=None, max_examples=100)
def test_cleaned_text_is_plain_and_stays_so(text):
    found = clean(text)
    assert clean(found) == found
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in found)
    found.encode("utf-8")


def test_one_line_folds_white_space_and_cuts():
    assert one_line("  山\n\n 水 ", 10) == "山 水"
    assert one_line("一二三四五", 4) == "一二三…"


def test_shorten_says_how_much_it_left_out():
    assert shorten("x" * 2000, 500).endswith("\n… (1,500 more characters)")
    assert shorten("short", 500) == "short"
