"""Bars, courses and the table of scores in a terminal, and what is cut where there are many lines."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rows import each_row

from hengwen.documents.blocks import (
    Bar,
    Cell,
    Column,
    Decision,
    Document,
    Point,
    ScoreLine,
    Scores,
    Sentence,
    Series,
    Table,
    Tone,
    Verdict,
)
from hengwen.documents.render.terminal import to_terminal
from hengwen.documents.render.terminal_marks import course, difference_bar, marks_are_wide, narrow

VALUES = st.floats(-10, 10, allow_nan=False)


def line(address: str, tone: Tone, word: str, change: float, interval: tuple[float, float]) -> ScoreLine:
    points = tuple(
        Point(x=x, label=f"ckpt-{x}", value=value, text=f"{value:.2f}", interval=(value - 2, value + 2))
        for x, value in enumerate((77.8, 73.8, 86.1, 83.5, 82.0, 78.2))
    )
    return ScoreLine(
        key=address,
        name=address,
        address=address,
        course=Series(name="", points=points),
        before="86.1",
        after="78.2",
        before_name="ckpt-2",
        bar=Bar(value=change, interval=interval, limits=(-16, 16)),
        difference=f"{change:+.1f} [{interval[0]}, {interval[1]}]",
        p="p = .020",
        prompts="26 prompts",
        tone=tone,
        word=word,
    )


def document(lines: int = 2, judges: int = 1, bullets: int = 1) -> Document:
    scores = [
        line("lyric.total", "worse", "fallen", -7.9, (-12.8, -2.8)),
        line("lyric_craft", "none", "none seen", 2.4, (-3.0, 6.0)),
    ]
    return Document(
        kind="k",
        title="run",
        blocks=(
            Decision(
                title="Ship ckpt-2.",
                bullets=(Verdict(tone="worse", subject="fell", sentence="by 7.9 " * 20),) * bullets,
                scores=Scores(key="s", lines=tuple(scores * lines)[:lines], compared="best seen → newest"),
                judges=(Verdict(tone="untested", subject="judge", sentence="hardly tested " * 30),) * judges,
                details=(Sentence(text="how"),),
            ),
        ),
    )


def printed(document: Document, width: int, *, verbose: bool = False, **settings) -> list[str]:
    file = io.StringIO()
    to_terminal(document, Console(width=width, file=file, **settings), "en", verbose=verbose)
    return [text.rstrip() for text in file.getvalue().splitlines()]


def test_a_table_of_scores_has_the_course_the_difference_as_a_line_and_the_verdict() -> None:
    lines = printed(document(), 110)
    at = next(i for i, text in enumerate(lines) if text.startswith("lyric.total"))
    assert lines[at] == (
        "lyric.total  ▃▁█▆▆▄  86.1 ckpt-2 → 78.2    −7.9    ───●─── │            .020  26 prompts  ▼ fallen"
    )
    assert "─┼─●─" in lines[at + 1]


def with_foot(lines: int = 2) -> Document:
    """Return a document whose scores have the tests of their p-values and the values of the chosen one."""
    plain = document(lines)
    first = plain.blocks[0]
    assert isinstance(first, Decision)
    assert first.scores is not None
    families = ["corrected for 30 tests", "corrected for 15 tests"] * lines
    chosen = [
        replace(line, name=f"S{i}", family=family, chosen=f"0.{i} [0, 1]")
        for i, (line, family) in enumerate(zip(first.scores.lines, families, strict=False))
    ]
    scores = replace(first.scores, lines=tuple(chosen), chosen="ckpt-2")
    return replace(plain, blocks=(replace(first, scores=scores),))


def test_below_the_table_are_the_tests_of_p_the_ends_of_bars_and_the_values_of_the_chosen_one() -> None:
    lines = printed(with_foot(), 110)
    at = next(i for i, text in enumerate(lines) if text.startswith("p: "))
    assert lines[at : at + 3] == [
        "p: corrected for 30 tests; S1: corrected for 15 tests",
        "ends of the axis ±16",
        "ckpt-2: S0 0.0 [0, 1]; S1 0.1 [0, 1]",
    ]
    crowded = printed(with_foot(60), 110)
    assert len(crowded) <= 25
    assert not any(text.startswith("ckpt-2: ") for text in crowded), "rows matter more"


def test_below_the_table_stands_why_a_small_p_leaves_a_mean_undecided() -> None:
    plain = document(1)
    first = plain.blocks[0]
    assert isinstance(first, Decision)
    assert first.scores is not None
    (score,) = first.scores.lines
    undecided = replace(score, values={"verdict": "mean undecided"})
    shown = replace(plain, blocks=(replace(first, scores=replace(first.scores, lines=(undecided,))),))
    expected = "mean undecided: most prompts moved one way, but the mean may not have: lyric.total"
    assert any(text.startswith(expected) for text in printed(shown, 110))


def test_a_score_takes_two_lines_in_a_narrow_terminal() -> None:
    lines = printed(document(), 40)
    at = lines.index("lyric.total  ▼ fallen")
    assert lines[at + 1] == "  ▃▁█▆▆▄ 86.1 → 78.2 −7.9 p .020"


def test_the_line_of_a_judge_is_cut_to_two_where_not_all_is_asked_for() -> None:
    short = [text for text in printed(document(), 80) if "hardly tested" in text]
    assert len(short) == 2
    assert short[1].endswith(" …")
    assert sum(text.count("hardly") for text in printed(document(), 80, verbose=True)) == 30


@pytest.mark.slow
@each_row("width", [40, 80])
def test_many_scores_and_reasons_are_counted_and_not_shown(width: int) -> None:
    lines = printed(document(lines=60, judges=9, bullets=12), width)
    assert len(lines) <= 25
    assert lines[1] == "Ship ckpt-2."
    assert any(text.strip().endswith("more") for text in lines)
    assert max(map(cell_len, lines)) <= width
    assert lines[-1].startswith("more: -v or -o FILE.html")


def test_all_is_shown_where_all_is_asked_for() -> None:
    lines = printed(document(lines=60), 80, verbose=True)
    assert sum("lyric.total" in text for text in lines) == 30
    assert not any(text.endswith("more") for text in lines)


@given(value=VALUES, ends=st.tuples(VALUES, VALUES), lower=st.booleans(), width=st.sampled_from((11, 15, 21)))
def test_a_line_crosses_zero_only_if_its_interval_holds_zero(
    value: float, ends: tuple[float, float], *, lower: bool, width: int
) -> None:
    low, high = min(value, *ends), max(value, *ends)
    drawn = difference_bar(
        Bar(value=value, interval=(low, high), limits=(-10, 10), lower_is_better=lower), width
    )
    zero = width // 2
    assert len(drawn) == width
    assert drawn.count("●") == 1
    assert (drawn[zero] in "┼●") == (low <= 0 <= high)
    if high < 0 or low > 0:
        is_left = (high < 0) != lower
        assert (drawn.index("●") < zero) == is_left


def test_an_unbounded_interval_reaches_both_ends_and_a_limit_has_a_column() -> None:
    inf = float("inf")
    bar = Bar(value=1.0, interval=None, family_interval=(-inf, inf), limits=(-2, 2))
    assert difference_bar(bar, 11) == "─────┼──●──"
    bar = Bar(value=0.5, interval=(0.3, 0.6), limits=(0, 1), reference=0.8)
    assert difference_bar(bar, 11) == "   ──●─ ┊  "
    assert difference_bar(Bar(value=1, interval=(1, 2), limits=(1, 6), reference=None), 11) == "●──        "


def test_bars_of_a_table_give_way_to_its_numbers() -> None:
    bar = Bar(value=-7.9, interval=(-12.8, -2.8), limits=(-16, 16))
    columns = (Column(key="gate", head="gate"), Column(key="value", head="value", align="right"))
    rows = ((Cell(text="no_drop"), Cell(text="−7.9 [−12.8, −2.8]", tone="worse", bar=bar)),)
    table = Document(kind="k", title="T", blocks=(Table(key="t", columns=columns, rows=rows),))
    assert any("●" in text for text in printed(table, 80))
    narrow_lines = printed(table, 30)
    assert not any("●" in text for text in narrow_lines)
    assert any("−7.9 [−12.8, −2.8]" in text for text in narrow_lines)


def test_a_long_course_keeps_its_ends_within_40_marks() -> None:
    points = [Point(x=x, label="c", value=float(x)) for x in range(200)]
    assert course(points[::-5][::-1])[-1] == "█"
    scores = Scores(
        key="s",
        lines=(ScoreLine(key="a", name="a", address="a", course=Series(name="", points=tuple(points))),),
    )
    lines = printed(Document(kind="k", title="T", blocks=(scores,)), 80)
    assert 0 < sum(text.count(mark) for text in lines for mark in "▁▂▃▄▅▆▇█") <= 40


@pytest.mark.parametrize(
    ("encoding", "wide"), [("utf-8", False), ("gbk", True), ("cp936", True), ("big5", True)]
)
def test_marks_are_digits_where_the_terminal_draws_them_double(
    encoding: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VTE_CJK_WIDTH", raising=False)
    assert marks_are_wide(encoding) is wide
    monkeypatch.setenv("VTE_CJK_WIDTH", "wide")
    assert marks_are_wide("utf-8")
    monkeypatch.setenv("VTE_CJK_WIDTH", "narrow")
    assert not marks_are_wide("gbk")


def test_marks_that_are_replaced_keep_their_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = printed(document(), 110)
    monkeypatch.setenv("VTE_CJK_WIDTH", "wide")
    lines = printed(document(), 110)
    assert [len(text) for text in lines] == [len(text) for text in plain]
    assert any("318664" in text and "---*--- |" in text and "v fallen" in text for text in lines)
    assert narrow("▁█ ● ◆") == "18 * *"
