"""Texts cut for a table cell or a page."""

from __future__ import annotations

from hengwen.text.numbers import one_line, shorten


def test_one_line_folds_white_space_and_cuts():
    assert one_line("  山\n\n 水 ", 10) == "山 水"
    assert one_line("一二三四五", 4) == "一二三…"


def test_shorten_says_how_much_it_left_out():
    assert shorten("x" * 2000, 500).endswith("\n… (1,500 more characters)")
    assert shorten("short", 500) == "short"
