"""The view on a terminal: scores by checkpoint, and their course."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hengwen.reports.text.numbers import NOTHING, interval, number, percent
from hengwen.reports.view.trajectory import WINDOWS_WANTED

if TYPE_CHECKING:
    from hengwen.reports.view.cells import ScoreCell
    from hengwen.reports.view.models import ScoreView, TaskView, View


def print_view(view: View, console: Console | None = None) -> None:
    """Print the headlines of each task with the human values beside, their course, and what stands out."""
    console = console or Console(highlight=False)
    for task in view.tasks:
        console.print(_table(view, task))
    for note in sorted(set(view.notes.values())):
        console.print(Text(note, style="dim"))
    for finding in view.findings:
        console.print(Text(f"· {finding.address}: {finding.zh}\n  {finding.en}"))


def _table(view: View, task: TaskView) -> Table:
    """One row a checkpoint, in training order, then the course of each score over them."""
    bases = {score.base for score in task.headlines}
    scores = [
        score for score in task.scores if score.headline or (score.block != "score" and score.base in bases)
    ]
    table = Table(title=Text(task.name), title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    table.add_column("检查点 checkpoint", overflow="fold")
    for score in scores:
        table.add_column(Text(score.name), justify="right", overflow="fold")
    for index, label in enumerate(view.labels):
        table.add_row(Text(label), *(_cell(score.cells[index], score) for score in scores))
    table.add_section()
    table.add_row("起止 first → last", *(_ends(score) for score in scores))
    table.add_row("PEN (m=3)", *(_entropy(score) for score in scores))
    table.add_row("CIN", *(_of(score.course.cin, score.course.pairs) for score in scores))
    table.add_row("LIS", *(_of(score.course.lis, score.course.n) for score in scores))
    if any(score.course.pen is not None and score.course.too_short for score in scores):
        table.caption = f"† 太短 too short: PEN needs {WINDOWS_WANTED} windows"
        table.caption_justify = "left"
    return table


def _cell(cell: ScoreCell | None, score: ScoreView) -> Text:
    if cell is None:
        return Text(NOTHING, style="dim")
    text = Text(number(cell.mean, score.decimals), style="bold")
    if cell.ci is not None:
        text.append(f" {interval(cell.ci, score.decimals)}", style="not bold")
    text.append(f" n={cell.n}", style="not bold dim")
    if cell.failed and score.group == "published":
        text.append(" 不完整 incomplete", style="not bold red")
    elif cell.failed:
        text.append(f" {percent(cell.coverage)}: {cell.failed} failed", style="not bold red")
    return text


def _ends(score: ScoreView) -> str:
    course = score.course
    if course.cin is None:
        return NOTHING
    return f"{number(course.first, score.decimals)} → {number(course.last, score.decimals)}"


def _entropy(score: ScoreView) -> str:
    course = score.course
    if course.pen is None:
        return NOTHING
    return f"{number(course.pen, 3)} †" if course.too_short else number(course.pen, 3)


def _of(value: int | None, most: int) -> str:
    return NOTHING if value is None else f"{value}/{most}"
