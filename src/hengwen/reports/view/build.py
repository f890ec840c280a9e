"""Build the data that every report format shows (the view): aggregate and group scores, select answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.reports.view.answers import AnswerPicker
from hengwen.reports.view.bias_findings import LengthBiasDetector
from hengwen.reports.view.judge_notes import judge_name, note_on, signature_notes, with_judge_notes
from hengwen.reports.view.models import ReportData, ScoreView, TaskView, View
from hengwen.reports.view.summary import summarize
from hengwen.reports.view.trajectory import trajectory_of
from hengwen.results.run_order import run_labels
from hengwen.results.score_summaries import task_scores
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.results.score_summaries import ScoreSummaries, TaskScores
    from hengwen.results.score_table import ScoreTable


def build_view(data: ReportData) -> View:
    """Return the data of a report (the view).

    Scores that are one number for a whole task come first among the scores of the task.

    Args:
        data: Runs in training order, and a table of scores and failures; rows of other runs are ignored.

    Examples:
        >>> from hengwen.records import Row, Run, Score
        >>> from hengwen.results.score_table import ScoreTable
        >>> key = {"run_id": "r", "checkpoint": "c", "task": "t", "sample_id": "a", "repeat": 1}
        >>> score = Score(name="length", value=3, signature="length|v:1")
        >>> table = ScoreTable([Row(**key, cluster="a", outcome=score)])
        >>> run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
        >>> view = build_view(ReportData(plan="p", runs=(run,), table=table))
        >>> [(score.address, score.cells[0].mean) for score in view.scores]
        [('t/length', 3.0)]
    """
    labels = run_labels(data.runs)
    tasks = tuple(_task(task, data) for task in task_scores(data.runs, data.table))
    ranking = {task.name: _ranking_score(task, data.table) for task in tasks}
    tasks, findings = summarize(tasks, data, labels, ranking)
    picker = AnswerPicker(ranking)
    length_bias = LengthBiasDetector()
    for answer in data.answers.stream():
        picker.add(answer)
        length_bias.add(answer)
    checkpoints = [run.checkpoint for run in data.runs]
    return View(
        plan=data.plan,
        created=data.created,
        version=data.version,
        language=data.language,
        runs=data.runs,
        labels=labels,
        baseline=data.baseline,
        tasks=tasks,
        findings=(
            *with_judge_notes(findings, (score for task in tasks for score in task.scores)),
            *length_bias.findings(),
        ),
        usage=dict(data.usage),
        warnings=data.warnings,
        answers=picker.groups(data.answers, [task.name for task in tasks], checkpoints),
        signatures=_signatures(tasks),
        notes={
            **signature_notes(cell for task in tasks for score in task.scores for cell in score.cells),
            **data.notes,
        },
    )


def _task(task: TaskScores, data: ReportData) -> TaskView:
    return TaskView(
        name=task.name,
        scores=tuple(_score(score, data) for score in task.scores),
        tested=tuple(score.address for score in task.tested),
    )


def _score(score: ScoreSummaries, data: ReportData) -> ScoreView:
    cells = score.summaries
    notes = {**signature_notes(cells), **data.notes}
    return ScoreView(
        task=score.task,
        name=score.name,
        base=score.base,
        kind=score.kind,
        section=score.section,
        group=score.group,
        headline=score.is_headline,
        scale=score.scale,
        decimals=decimals_for(score.scale, [cell.mean for cell in cells if cell]),
        cells=cells,
        trajectory=trajectory_of([run.checkpoint for run in data.runs], cells, data.order_problem),
        notes=tuple(dict.fromkeys(_named_note(score.base, notes[s]) for s in score.signatures if s in notes)),
        judge_note=note_on(cells),
    )


def _named_note(base: str, note: Bilingual) -> Bilingual:
    judge = judge_name(base)
    return Bilingual(f"{judge}：{note.zh}", f"{judge}: {note.en}")


def _ranking_score(task: TaskView, table: ScoreTable) -> str:
    """Return the name of the main score by which the answers of a task are ranked; "" if there is none."""
    names = {
        key.name
        for key, column in table.series.items()
        if key.task == task.name and any(sample_id is not None for sample_id in column.sample_ids)
    }
    headlines = sorted(
        task.headlines, key=lambda score: not (score.kind == "judge" and score.name.endswith(".final"))
    )
    return next((score.name for score in headlines if score.name in names), "")


def _signatures(tasks: Sequence[TaskView]) -> dict[str, tuple[str, ...]]:
    addresses: dict[str, dict[str, None]] = {}
    for task in tasks:
        for score in task.scores:
            for cell in score.cells:
                for signature in cell.signatures if cell else ():
                    addresses.setdefault(signature, {})[score.address] = None
    return {signature: tuple(addresses[signature]) for signature in sorted(addresses)}
