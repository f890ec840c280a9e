"""Print the data of a report: scores by checkpoint, their trajectory over training, findings and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hengwen.relevance_metrics.inference.sequence_metrics import MAIN_METRICS
from hengwen.relevance_metrics.summaries.trajectory import MIN_WINDOWS
from hengwen.reports.view.cells import counts
from hengwen.reports.view.comparison_note import comparison_note
from hengwen.reports.view.failures import failure_lines
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.relevance_metrics.inference.sequence_metrics import SequenceMetric
    from hengwen.reports.view.models import ScoreView, TaskView, View
    from hengwen.results.aggregate import Summary
    from hengwen.text.language import Language


def print_view(view: View, console: Console | None = None) -> None:
    """Print the main and human scores of each task, their trajectory over training, findings and failures."""
    console = console or Console(highlight=False)
    for task in view.tasks:
        _print_task(view, task, console)
    for note in dict.fromkeys(note for score in view.scores for note in score.notes):
        console.print(Text(note.in_language(view.language), style="dim"))
    if view.tests:
        console.print(Text(comparison_note(view).in_language(view.language), style="dim"))
    for finding in view.findings:
        text = Bilingual(finding.zh, finding.en).in_language(view.language)
        console.print(Text(f"· {finding.address}: {text}"))
    for line in failure_lines(view):
        console.print(Text(f"{_FAILED.in_language(view.language)}: {line}", style="red"))


_FAILED = Bilingual("未得分", "failed")
_CHECKPOINT = Bilingual("检查点", "checkpoint")
_ENDS = Bilingual("首 → 末", "first → last")


def _print_task(view: View, task: TaskView, console: Console) -> None:
    bases = {score.base for score in task.headlines}
    scores = [
        score for score in task.scores if score.headline or (score.section != "score" and score.base in bases)
    ]
    table = _task_table(view, task, scores)
    if Measurement.get(console, console.options.update(max_width=10_000), table).maximum <= console.width:
        console.print(table)
    else:
        for score in scores:
            _print_score(view, score, console)
    if any(
        score.trajectory.windows and score.trajectory.is_compared and score.trajectory.too_short
        for score in scores
    ):
        note = Bilingual(
            f"† 太短：PEN 需要 {MIN_WINDOWS} 个窗口", f"† too short: PEN needs {MIN_WINDOWS} windows"
        )
        console.print(Text(note.in_language(view.language), style="dim"))


def _task_table(view: View, task: TaskView, scores: Sequence[ScoreView]) -> Table:
    """Return a table with a row per checkpoint in training order, and below it each score's trajectory."""
    table = Table(title=Text(task.name), title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    table.add_column(_CHECKPOINT.in_language(view.language), overflow="fold")
    for score in scores:
        table.add_column(Text(score.name), justify="right", overflow="fold")
    for index, label in enumerate(view.column_heads):
        table.add_row(Text(label), *(_cell(score.cells[index], score, view.language) for score in scores))
    table.add_section()
    table.add_row(_ENDS.in_language(view.language), *(_ends(score) for score in scores))
    for metric in MAIN_METRICS:
        pattern = " (m=3)" if metric.has_patterns else ""
        table.add_row(f"{metric.symbol}{pattern}", *(_metric(score, metric) for score in scores))
    return table


def _print_score(view: View, score: ScoreView, console: Console) -> None:
    """Print one score: a row per checkpoint, then counts that are equal in all rows, and its trajectory."""
    counts = {counts(cell, view.language) if cell and cell.is_complete else None for cell in score.cells}
    shared = counts.pop() if len(counts) == 1 else None
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(2 if shared else 3):
        table.add_column(overflow="fold")
    for label, cell in zip(view.column_heads, score.cells, strict=True):
        row = (Text(label), _mean(cell, score), _counts(cell, score, view.language))
        table.add_row(*row[: len(table.columns)])
    console.print(Text(score.address, style="bold"))
    console.print(table)
    parts = [shared] if shared else []
    if score.trajectory.is_compared:
        parts += [
            f"{_ENDS.in_language(view.language)} {_ends(score)}",
            *(f"{metric.symbol} {_metric(score, metric)}" for metric in MAIN_METRICS),
        ]
    console.print(Text(" · ".join(parts) + "\n", style="dim"))


def _cell(cell: Summary | None, score: ScoreView, language: Language) -> Text:
    return Text(" ").join(part for part in (_mean(cell, score), _counts(cell, score, language)) if part)


def _mean(cell: Summary | None, score: ScoreView) -> Text:
    if cell is None:
        return Text(NOTHING, style="dim")
    text = Text(number(cell.mean, score.decimals), style="bold")
    if cell.interval is not None:
        text.append(f" {interval(cell.interval, score.decimals)}", style="not bold")
    return text


def _counts(cell: Summary | None, score: ScoreView, language: Language) -> Text:
    if cell is None:
        return Text()
    text = Text(counts(cell, language), style="dim" if cell.is_complete else "red")
    if cell.failed and score.group == "published":
        text.append(f" {Bilingual('不完整', 'incomplete').in_language(language)}", style="red")
    elif cell.failed:
        text.append(f" {_FAILED.in_language(language)} {cell.failed}", style="red")
    return text


def _ends(score: ScoreView) -> str:
    trajectory = score.trajectory
    if not trajectory.is_compared:
        return NOTHING
    return f"{number(trajectory.first, score.decimals)} → {number(trajectory.last, score.decimals)}"


def _metric(score: ScoreView, metric: SequenceMetric) -> str:
    trajectory = score.trajectory
    text = trajectory.text(metric)
    is_biased = metric.has_patterns and trajectory.too_short and text != NOTHING
    return f"{text} †" if is_biased else text
