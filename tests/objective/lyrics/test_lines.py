"""From the lines of a score anyone can recompute it."""

from __future__ import annotations

import math

import pytest
from rows import each_row

from hengwen.objective import score_lyric

TEMPLATE = "(verse)\ncccR\ncccR\ncccc\n(bridge)\ncc\n(chorus)\ncccR\ncccR"
LYRIC = "(verse)\n我在远方\n看见月\n(outro)\n风起\n(chorus)\n你在故乡\n想着天亮\n等雨来"


def test_rows_stand_in_the_order_of_the_texts_with_gaps_on_both_sides() -> None:
    rows = score_lyric(LYRIC, TEMPLATE).lines
    assert [(row.section, row.matched, row.template, row.lyric) for row in rows] == [
        ("(verse)", True, "cccR", "cccc"),
        ("(verse)", True, "cccR", "ccc"),
        ("(verse)", True, "cccc", None),
        ("(bridge)", False, "cc", None),
        ("(outro)", False, None, "cc"),
        ("(chorus)", True, "cccR", "cccR"),
        ("(chorus)", True, "cccR", "cccR"),
        ("(chorus)", True, None, "ccc"),
    ]


def test_rhymes_name_their_partners_and_their_class() -> None:
    rows = score_lyric(LYRIC, TEMPLATE).lines
    assert [(row.number, row.rhyme_name, row.rhymes_with) for row in rows if row.number] == [
        (1, "十六唐", ()),
        (2, "四皆", ()),
        (3, "七齐", ()),
        (4, "十六唐", (5,)),
        (5, "十六唐", (4,)),
        (6, "九开", ()),
    ]


@each_row("rules", ["document", "muchin"])
def test_the_counts_and_the_product_of_the_factors_are_those_of_the_score(rules: str) -> None:
    score = score_lyric(LYRIC, TEMPLATE, rules=rules)
    pairs = [row for row in score.lines if row.matched and row.template is not None and row.lyric is not None]
    assert len(pairs) == score.lines_min
    assert math.prod(row.factor or 0 for row in pairs) == pytest.approx(score.p3_cr)
    assert sum(row.lyric_rhymes for row in pairs) == score.rc_ing
    assert sum(row.template_rhymes for row in pairs) == score.rc_ino
    assert sum(row.lyric_rhymes and row.template_rhymes for row in pairs) == score.pll_rc
    sections = [row for row in score.lines if row.matched]
    lines = sum((row.template is not None) + (row.lyric is not None) for row in sections)
    assert 2 * score.lines_min / (lines + (0.01 if rules == "muchin" else 0)) == pytest.approx(score.p2_2_cr)


def test_exact_lines_are_marked() -> None:
    assert [row.exact for row in score_lyric(LYRIC, TEMPLATE).lines[:3]] == [True, False, False]
