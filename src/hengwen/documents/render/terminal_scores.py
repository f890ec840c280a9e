"""The table of scores of a first screen in a terminal: one line a score, or two where it is narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.text import Text

from hengwen.documents.render.score_table import families
from hengwen.documents.render.terminal_fit import TABLE, Section
from hengwen.documents.render.terminal_marks import course
from hengwen.documents.render.terminal_tables import BAR_WIDTHS, TextColumn, table_lines, wrapped
from hengwen.documents.render.words import PROMPTS, SCORE, SHAPES, VERDICT
from hengwen.documents.score_names import without_interval
from hengwen.text.language import COLON, LIST_COMMA, SEMICOLON, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hengwen.documents import blocks
    from hengwen.documents.blocks import ScoreLine, Scores, Tone
    from hengwen.documents.render.terminal_tables import Lines

    Words = Callable[[blocks.Text], str]

STYLES: dict[Tone, str] = {
    "plain": "",
    "better": "blue",
    "worse": "red",
    "none": "dim",
    "open": "yellow",
    "rejected": "red",
    "untested": "yellow",
}
COURSE_WIDTHS = (40, 20, 10)
"""Checkpoints of a course that are drawn, as there is room; of more, every other one or fewer."""
_COURSE = say("course")
_COMPARED = say("from → to")
_CHANGE = say("change", context="terminal_scores")
_BAR = say("worse  0  better")
_LEGEND = say("line: 95% interval, corrected for all rows; through 0: no difference claimed")
_UNDECIDED = say("mean undecided: most prompts moved one way, but the mean may not have")
_AXIS = say("ends of the axis")
_LEFT_OUT = (
    {"compared"},
    {"compared", "prompts"},
    {"named", "prompts"},
    {"named", "prompts", "course"},
)
"""Columns that are left out, until the others have room: either values with the name of a checkpoint or
those without one are shown. Bars give way after the first three, before courses."""


def score_section(scores: Scores, width: int, words: Words) -> Section:
    """Return a table of scores: what was compared, the difference as a line, and the verdict."""
    head = wrapped(Text(words(scores.title), style="bold"), width) if scores.title else []
    drawn = _table(scores, width, words)
    has_bars = drawn is not None and any("●" in line.plain for row in drawn[1] for line in row)
    foot = [line for text in _foot(scores, words, has_bars=has_bars) for line in wrapped(text, width)]
    if drawn is None:
        rows = [_two_lines(line, width, words) for line in scores.lines]
        return Section(head=head, items=rows, foot=foot, weight=TABLE)
    notes = [words(_LEGEND)] if has_bars else []
    addresses = [
        f"{name} = {line.address}" for line in scores.lines if (name := words(line.name)) not in line.address
    ]
    notes += [" · ".join(addresses)] if addresses else []
    lines = [line for note in notes for line in wrapped(Text(note, style="dim"), width)]
    return Section(head=[*head, *drawn[0]], items=drawn[1], foot=foot, notes=lines, weight=TABLE)


def _foot(scores: Scores, words: Words, *, has_bars: bool) -> Iterator[Text]:
    """Yield how to read p-values, bars and differences, and the values of the checkpoint to ship or keep."""
    yield from (Text(words(text), style="dim") for text in families(scores))
    if has_bars:
        yield Text(_axes(scores, words), style="dim")
    for line in scores.lines:
        if _is_of_other_values(difference := words(line.difference)):
            yield Text(f"{words(line.name)}{words(COLON)}{difference}", style="dim")
    undecided = [
        f"{words(line.name)} {words(line.difference)}"
        for line in scores.lines
        if line.values.get("verdict") == "mean undecided"
    ]
    if undecided:
        yield Text(f"{words(_UNDECIDED)}{words(COLON)}{words(SEMICOLON).join(undecided)}", style="dim")
    values = [f"{words(line.name)} {line.chosen}" for line in scores.lines if line.chosen]
    if values:
        name = " ".join(words(scores.chosen).split())
        yield Text(f"{name}{words(COLON)}{words(SEMICOLON).join(values)}")


def _axes(scores: Scores, words: Words) -> str:
    """Return the ends of the axes of the bars."""
    ends: dict[str, list[str]] = {}
    for line in scores.lines:
        if line.bar is not None:
            ends.setdefault(f"±{max(map(abs, line.bar.limits)):g}", []).append(words(line.name))
    if len(ends) == 1:
        return f"{words(_AXIS)} {next(iter(ends))}"
    named = (f"{end} {words(LIST_COMMA).join(names)}" for end, names in ends.items())
    return f"{words(_AXIS)}{words(COLON)}{words(SEMICOLON).join(named)}"


def _table(scores: Scores, width: int, words: Words) -> tuple[Lines, list[Lines]] | None:
    """Return the lines of a table, with fewer columns if there is no room for all; None if there is none."""
    candidates = [
        (points, left_out, bar_widths)
        for bar_widths, left_outs in ((BAR_WIDTHS, _LEFT_OUT[:3]), ((0,), _LEFT_OUT[2:]))
        for points in COURSE_WIDTHS
        for left_out in left_outs
    ]
    for points, left_out, bar_widths in candidates:
        columns = _columns(scores, points, words)
        kept = [column for key, column in columns.items() if key not in left_out]
        drawn = table_lines(kept, width, bar_widths if "bar" in columns else (0,))
        if drawn is not None:
            return drawn
    return None


def _columns(scores: Scores, points: int, words: Words) -> dict[str, TextColumn]:
    """Return the columns of which any line has a text; a course has at most ``points`` points."""
    lines = scores.lines
    compared = _COMPARED if any(line.before for line in lines) else scores.compared or _COMPARED
    columns = {
        "score": _column(SCORE, words, [words(line.name) for line in lines], "left"),
        "course": _column(_COURSE, words, [_course(line, points) for line in lines], "left"),
        "named": _column(compared, words, [_compared(line, words, named=True) for line in lines]),
        "compared": _column(compared, words, [_compared(line, words) for line in lines]),
        "change": _column(_CHANGE, words, [_change(line, words) for line in lines]),
        "bar": TextColumn(
            head=words(_BAR),
            cells=[Text(style=STYLES[line.tone]) for line in lines],
            bars=tuple(line.bar for line in lines),
        ),
        "p": _column("p", words, [_p(line, words) for line in lines]),
        "prompts": _column(PROMPTS, words, [words(line.prompts) for line in lines], "left"),
        "verdict": _column(VERDICT, words, [_verdict(line, words) for line in lines], "left"),
    }
    return {
        key: column
        for key, column in columns.items()
        if any(column.bars) or any(cell.plain.strip() for cell in column.cells if not column.bars)
    }


def _column(
    head: blocks.Text, words: Words, texts: Sequence[str | Text], align: Literal["left", "right"] = "right"
) -> TextColumn:
    cells = [Text(text) if isinstance(text, str) else text for text in texts]
    return TextColumn(head=words(head), align=align, cells=cells, is_whole=True)


def _two_lines(line: ScoreLine, width: int, words: Words) -> Lines:
    head = Text.assemble((words(line.name), "bold"), "  ", _verdict(line, words))
    parts = [_course(line, width // 3), Text(_compared(line, words)), Text(_change(line, words))]
    p = _p(line, words)
    if p:
        parts.append(Text(f"p {p}"))
    below = Text(" ").join([part for part in parts if part.plain.strip()])
    return [*wrapped(head, width, "", "  "), *(wrapped(below, width, "  ", "  ") if below.plain else [])]


def _course(line: ScoreLine, most: int) -> Text:
    points = line.course.points if line.course else ()
    step = -(-len(points) // most) or 1
    return Text(course(points[::-step][::-1]))


def _compared(line: ScoreLine, words: Words, *, named: bool = False) -> str:
    before, after = words(line.before), words(line.after)
    if named and before and line.before_name:
        before = f"{before} {words(line.before_name)}"
    return " → ".join(text for text in (before, after) if text)


def _change(line: ScoreLine, words: Words) -> str:
    """Return the difference without its interval, which the bar shows; one of other values is below."""
    text = words(line.difference)
    return "" if _is_of_other_values(text) else without_interval(text)


def _is_of_other_values(difference: str) -> bool:
    return any(character.isalpha() for character in difference)


def _p(line: ScoreLine, words: Words) -> str:
    return words(line.p).removeprefix("p").removeprefix(" ").removeprefix("= ").replace("< ", "<")


def _verdict(line: ScoreLine, words: Words) -> Text:
    shape, word = SHAPES[line.tone], words(line.word)
    return Text(f"{shape} {word}" if shape and word else word, style=STYLES[line.tone])
