"""Broken output: loops and repeated lines."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.objective.detectors import find_loop, repeated_share


@each_row(
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


def test_repeated_lines_do_not_count_tags_and_blank_lines():
    assert repeated_share("(verse)\n\n风\n(verse)\n云\n……\n风") == (pytest.approx(1 / 3), 3)
    assert repeated_share("(verse)\n\n") == (0.0, 0)
