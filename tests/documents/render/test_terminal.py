"""A document in a terminal: tables that fit, lists where they do not, shapes beside colours."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from rows import each_row

from hengwen.documents.blocks import (
    AnswerPair,
    AnswerPairs,
    AnswerSide,
    Block,
    Cell,
    Chart,
    Column,
    Command,
    Decision,
    Details,
    Document,
    Point,
    ScoreLine,
    Scores,
    Sentence,
    Series,
    Table,
    Verdict,
)
from hengwen.documents.render.terminal import marks_are_wide, to_terminal
from hengwen.text.language import Bilingual, Language

TABLE = Table(
    key="t",
    title="means",
    columns=(
        Column(key="score", head=Bilingual("分数", "score")),
        Column(key="mean", head="mean", align="right"),
        Column(key="why", head="why"),
    ),
    rows=(
        (
            Cell(text="一二三"),
            Cell(text="86.1 [80.2, 90.3]", tone="worse"),
            Cell(text="a text of some words that may be wrapped"),
        ),
        (Cell(text="x"), Cell(text="–", tone="none"), Cell(text="")),
    ),
    notes=("a note",),
)


def printed(*blocks: Block, width: int = 80, verbose: bool = False, language: Language = "en") -> list[str]:
    file = io.StringIO()
    document = Document(kind="k", title="T", blocks=blocks)
    to_terminal(document, Console(width=width, file=file), language, verbose=verbose)
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert lines[0] == "T"
    return lines[1:]


def test_a_table_counts_a_chinese_character_as_two_columns() -> None:
    assert printed(TABLE) == [
        "means",
        "score                  mean  why",
        "一二三  ▼ 86.1 [80.2, 90.3]  a text of some words that may be wrapped",
        "x                         –",
        "a note",
    ]
    assert printed(TABLE, width=38)[2:4] == ["一二三  ▼ 86.1 [80.2, 90.3]  a text of", " " * 29 + "some"]


def test_a_table_that_is_too_wide_is_a_list() -> None:
    assert printed(TABLE, width=30) == [
        "means",
        "一二三",
        "  mean ▼ 86.1 [80.2, 90.3] ·",
        "  why a text of some words",
        "  that may be wrapped",
        "x",
        "  mean –",
        "a note",
    ]


def test_a_verdict_hangs_on_its_shape() -> None:
    verdict = Verdict(tone="open", subject="t/s", sentence="it cannot be told yet", evidence=("n = 3",))
    other = Verdict(tone="plain", sentence="x")
    assert printed(verdict, other, width=20) == ["◇ t/s: it cannot be", "  told yet", "· x"]
    assert printed(verdict, other, width=20, verbose=True)[2] == "  n = 3"


def test_closed_details_are_named_and_shown_where_all_is_asked_for() -> None:
    details = Details(title="method", blocks=(Sentence(text="how"),), is_open=False)
    assert printed(Sentence(text="a"), Details(title="open", blocks=(details,))) == [
        "a",
        "",
        "more: -v or -o FILE.html · open",
    ]
    short = Details(title="cannot be told", blocks=(Verdict(tone="open", sentence="why"),))
    assert printed(Sentence(text="a"), short) == ["a", "", "cannot be told", "", "◇ why"]
    assert printed(details, verbose=True) == ["method", "", "how"]


def test_a_command_stays_on_one_line() -> None:
    line = "hengwen compare " + "step-1000 " * 5 + "-o c.html"
    assert printed(Command(line=line, purpose=Bilingual("看回答", "read")), width=20) == [f"read: {line}"]


def test_a_chart_is_the_ends_of_its_courses() -> None:
    values = (1.0, None, 2.0, 3.0)
    points = tuple(
        Point(x=x, label="c", value=v, text=f"{v}", interval=(v - 1, v + 1) if v else None)
        for x, v in enumerate(values)
    )
    one = (Point(x=0, label="c", value=5.0, text="5.0"),)
    none = (Point(x=0, label="c", value=None),)
    chart = Chart(
        key="c",
        title="means",
        series=(Series(name="a", points=points), Series(name="", points=one), Series(name="b", points=none)),
    )
    assert printed(chart, verbose=True) == ["means", "  a 1.0 → 3.0", "  5.0", "  b"]
    assert printed(chart) == ["", "more: -v or -o FILE.html · means"]


def test_the_prompts_that_changed_have_their_change_and_what_it_was_lost_on() -> None:
    pairs = [
        AnswerPair(
            key=f"p/{i}",
            sample_id=f"s{i}",
            prompt=f"第{i}题\n下一行",
            change=f"-{9 - i}.0",
            values=(9.0, float(i)),
            lost_on=Bilingual("押韵 -2.0", "rhymes -2.0") if i else "",
            before=AnswerSide(checkpoint="a", value="9.0"),
            after=AnswerSide(checkpoint="b", value=f"{i}.0"),
        )
        for i in range(2)
    ]
    block = AnswerPairs(
        key="p",
        score=Bilingual("歌词格式", "lyric form"),
        tone="worse",
        before="a",
        after="b",
        pairs=tuple(pairs),
        limits=(0.0, 9.0),
        omitted=1200,
        command="hengwen report -o rows.csv",
    )
    assert printed(block, verbose=True) == [
        "▼ -9.0 (9.0 → 0.0) 第0题 下一行",
        "  –",
        "▼ -8.0 (9.0 → 1.0) 第1题 下一行",
        "  rhymes -2.0",
        "1,200 more prompts got worse: hengwen report -o rows.csv",
    ]


def decided(*, scores: int = 2, judges: int = 1, bullets: int = 1) -> Decision:
    line = ScoreLine(
        key="s",
        name="lyric.total",
        address="lyric.total",
        before="86.1",
        after="78.2",
        before_name="ckpt-2",
        difference="−7.9 [−12.8, −2.8]",
        p="p = .020",
        family="corrected for 30 tests",
        tone="worse",
        word="fallen",
        details=("how",),
    )
    return Decision(
        title="Ship ckpt-2.",
        bullets=(Verdict(tone="worse", subject="fell", sentence="by 7.9 " * 20),) * bullets,
        scores=Scores(key="s", lines=(line,) * scores),
        judges=(Verdict(tone="untested", subject="judge", sentence="hardly tested " * 30),) * judges,
    )


def test_a_score_is_one_line_with_its_values_its_change_and_the_verdict() -> None:
    lines = printed(decided())
    at = lines.index("score          from → to  change     p  verdict")
    assert lines[at + 1 : at + 4] == [
        *["lyric.total  86.1 → 78.2    −7.9  .020  ▼ fallen"] * 2,
        "p: corrected for 30 tests",
    ]
    assert "how" in printed(decided(), verbose=True)


def test_the_line_of_a_judge_is_cut_to_two_where_not_all_is_asked_for() -> None:
    short = [text for text in printed(decided()) if "hardly tested" in text]
    assert len(short) == 2
    assert short[1].endswith(" …")
    assert sum(text.count("hardly") for text in printed(decided(), verbose=True)) == 30


@each_row("width", [40, 80])
def test_what_a_screen_does_not_hold_is_counted_and_not_shown(width: int) -> None:
    lines = printed(decided(scores=60, judges=9, bullets=3), width=width)
    assert len(lines) + 1 <= 25
    assert lines[0] == "Ship ckpt-2."
    assert any(text.strip().endswith("more") for text in lines)
    assert max(map(cell_len, lines)) <= width
    assert lines[-1].startswith("more: -v or -o FILE.html")
    shown = printed(decided(scores=60), verbose=True)
    assert sum("lyric.total" in text for text in shown) == 60


@pytest.mark.parametrize(
    ("encoding", "wide"), [("utf-8", False), ("gbk", True), ("cp936", True), ("big5", True)]
)
def test_marks_are_ascii_where_the_terminal_draws_them_double(
    encoding: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VTE_CJK_WIDTH", raising=False)
    assert marks_are_wide(encoding) is wide
    monkeypatch.setenv("VTE_CJK_WIDTH", "narrow")
    assert not marks_are_wide("gbk")
    monkeypatch.setenv("VTE_CJK_WIDTH", "wide")
    assert "lyric.total  86.1 > 78.2    -7.9  .020  v fallen" in printed(decided())
