"""The explanation and the table of a score."""

from __future__ import annotations

import io

from rich.console import Console
from rows import each_row

from hengwen.objective import score_lyric
from hengwen.objective.lyrics.score_lyric import build_table

TEMPLATE = "(verse)\ncccR\ncccR\ncccc\n(bridge)\ncc\n(chorus)\ncccR\ncccR"


LYRIC = "(verse)\n我在远方\n看见月\n(outro)\n风起\n(chorus)\n你在故乡\n想着天亮\n等雨来"


def test_the_explanation_shows_every_sum() -> None:
    text = score_lyric(LYRIC, TEMPLATE).explain()
    assert "phase 2.1   21.6667 = 32.5 x p2_1_sr 0.6667 (names of sections)" in text
    assert "(bridge) unmatched" in text
    assert "r = 2/4 = 0.5000 is outside the band" in text


@each_row(
    ("lyric", "rules", "reason"),
    [
        ("(verse)\n月光\n远方\n风雨", "document", "is in the band 0.6 to 0.8"),
        (
            "(verse)\n月光\n远方\n天亮",
            "document",
            "outside the band, but every rhyme is on a line that requires one",
        ),
        ("(verse)\n月光\n远方\n风雨\n春\n来", "muchin", "is near the band"),
    ],
)
def test_the_explanation_says_why_there_is_a_bonus(lyric: str, rules: str, reason: str) -> None:
    template = "(verse)\n" + "\n".join(["cR"] * 3 + ["cc", "c"][: lyric.count("\n") - 3])
    assert reason in score_lyric(lyric, template, rules=rules).explain()


def test_options_show_in_the_explanation() -> None:
    text = score_lyric(LYRIC, TEMPLATE, carry_phase1=True, strict_count=True).explain()
    assert "x p1_sr" in text
    assert "share of exact lines" in text


def test_the_table_shows_lines_with_square_brackets_as_they_are() -> None:
    out = io.StringIO()
    Console(file=out, width=140).print(score_lyric("(verse)\n[bold]月光", "(verse)\ncc").table())
    assert "[bold]月光" in out.getvalue()


def test_the_table_has_the_total_as_title_and_the_signature_as_caption() -> None:
    score = score_lyric(LYRIC, TEMPLATE)
    table = build_table(score)
    assert table.title == f"{score.total:.2f} = {score.base:.2f} + {score.bonus:.2f}"
    assert table.caption == score.signature
    assert len(table.rows) == len(score.lines)


def test_the_explanation_has_the_factor_of_each_phase() -> None:
    rows = [line.split() for line in score_lyric(LYRIC, TEMPLATE).explain().splitlines()]
    factors = {row[1]: row[4] for row in rows if row[:1] == ["phase"] and row[3] == "="}
    assert factors == {"1": "10", "2.1": "32.5", "2.2": "17.5", "3": "20", "4": "20"}
