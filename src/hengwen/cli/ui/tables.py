"""Print a report's view on a terminal: scores by checkpoint, and their trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hengwen.reports.text.numbers import NOTHING, interval, number
from hengwen.reports.text.wording import comparison_text
from hengwen.reports.view.failures import failure_lines
from hengwen.reports.view.trajectory import MIN_WINDOWS

if TYPE_CHECKING:
    from hengwen.reports.view.cells import ScoreCell
    from hengwen.reports.view.models import ScoreView, TaskView, View


def print_view(view: View, console: Console | None = None) -> None:
    """Print the headline and human scores of each task, their trajectory, the findings and the failures."""
    console = console or Console(highlight=False)
    for task in view.tasks:
        console.print(_table(view, task))
    for note in dict.fromkeys(note for score in view.scores for note in score.notes):
        console.print(Text(note, style="dim"))
    if view.tests:
        console.print(Text("\n".join(comparison_text(view.tests)), style="dim"))
    for finding in view.findings:
        console.print(Text(f"· {finding.address}: {finding.zh}\n  {finding.en}"))
    for line in failure_lines(view):
        console.print(Text(f"未得分 failed: {line}", style="red"))


def _table(view: View, task: TaskView) -> Table:
    """A table with one row per checkpoint in training order, then the trajectory of each score."""
    bases = {score.base for score in task.headlines}
    scores = [
        score for score in task.scores if score.headline or (score.section != "score" and score.base in bases)
    ]
    table = Table(title=Text(task.name), title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    table.add_column("检查点 checkpoint", overflow="fold")
    for score in scores:
        table.add_column(Text(score.name), justify="right", overflow="fold")
    for index, label in enumerate(view.labels):
        table.add_row(Text(label), *(_cell(score.cells[index], score) for score in scores))
    table.add_section()
    table.add_row("首 → 末 first → last", *(_ends(score) for score in scores))
    table.add_row("PEN (m=3)", *(_entropy(score) for score in scores))
    table.add_row("CIN", *(_ratio(score.trajectory.cin, score.trajectory.pairs) for score in scores))
    table.add_row("LIS", *(_ratio(score.trajectory.lis, score.trajectory.n) for score in scores))
    table.caption = "题 prompts, 答 answers with a score"
    if any(score.trajectory.pen is not None and score.trajectory.too_short for score in scores):
        table.caption += f"; † 太短 too short: PEN needs {MIN_WINDOWS} windows"
    table.caption_justify = "left"
    return table


def _cell(cell: ScoreCell | None, score: ScoreView) -> Text:
    if cell is None:
        return Text(NOTHING, style="dim")
    text = Text(number(cell.mean, score.decimals), style="bold")
    if cell.interval is not None:
        text.append(f" {interval(cell.interval, score.decimals)}", style="not bold")
    text.append(f" {cell.counts}", style="not bold dim" if cell.complete else "not bold red")
    if cell.failed and score.group == "published":
        text.append(" 不完整 incomplete", style="not bold red")
    elif cell.failed:
        text.append(f" 未得分 {cell.failed} failed", style="not bold red")
    return text


def _ends(score: ScoreView) -> str:
    trajectory = score.trajectory
    if trajectory.cin is None:
        return NOTHING
    return f"{number(trajectory.first, score.decimals)} → {number(trajectory.last, score.decimals)}"


def _entropy(score: ScoreView) -> str:
    trajectory = score.trajectory
    if trajectory.pen is None:
        return NOTHING
    return f"{number(trajectory.pen, 3)} †" if trajectory.too_short else number(trajectory.pen, 3)


def _ratio(value: int | None, maximum: int) -> str:
    return NOTHING if value is None else f"{value}/{maximum}"
