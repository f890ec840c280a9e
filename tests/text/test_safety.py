"""Foreign text without what a terminal, a browser, a database or a reader could be fooled with."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.text.numbers import replace_surrogates, strip_controls


@each_row(
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
def test_what_cannot_be_seen_is_removed(text: str, expected: str) -> None:
    assert strip_controls(text) == expected


def test_no_character_that_is_removed_counts_as_printable() -> None:
    shown = [chr(code) for code in range(0x110000) if chr(code).isprintable()]
    assert strip_controls("\n".join(shown)) == "\n".join(shown)


@given(st.text(st.characters(), max_size=60))
@settings(deadline=None, max_examples=100)
def test_stripped_text_is_plain_and_stays_as_it_is(text: str) -> None:
    stripped = strip_controls(text)
    assert strip_controls(stripped) == stripped
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in stripped)
    stripped.encode("utf-8")


@each_row(
    ("text", "expected"),
    [
        ("山 a\x00\r\n", "山 a\x00\r\n"),
        ("\ud800", "\ufffd"),
        ("a\udc00\udc00b", "a\ufffd\ufffdb"),
        ("\ud83d\ude00", "😀"),
    ],
    ids=["plain", "alone", "two", "a pair"],
)
def test_only_lone_surrogates_are_replaced(text: str, expected: str) -> None:
    assert replace_surrogates(text) == expected
