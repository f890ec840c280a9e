"""Build the data that every report format shows (the view): aggregate and group scores, select answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.reports.view.answers import AnswerPicker
from hengwen.reports.view.bias_findings import LengthBiasDetector
from hengwen.reports.view.cells import cell_of
from hengwen.reports.view.judge_notes import judge_name, note_on, signature_notes, with_judge_notes
from hengwen.reports.view.models import (
    RULE_SIGNATURE_TAG,
    ReportData,
    ScoreView,
    Section,
    TaskView,
    View,
    is_published,
)
from hengwen.reports.view.summary import summarize
from hengwen.reports.view.trajectory import trajectory_of
from hengwen.results.aggregate import aggregate
from hengwen.results.comparability import comparability_of
from hengwen.results.score_table import SeriesKey
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Kind, Run
    from hengwen.results.aggregate import Summary
    from hengwen.results.score_table import ScoreTable

KIND_ORDER: tuple[Kind, ...] = ("scorer", "judge", "human")


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
    tasks = task_views(data)
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


def run_labels(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a label for each run; no two labels are equal."""
    names = [run.checkpoint for run in runs]
    return tuple(
        run.checkpoint if names.count(run.checkpoint) == 1 else f"{run.checkpoint} ({run.id})" for run in runs
    )


def section_of(name: str, kind: Kind) -> tuple[Section, str]:
    """The section of the report that shows a score, and the score's name without the section's prefix."""
    base = name.removeprefix("human.") if kind == "human" else name
    if base.startswith("anchor."):
        return "anchor", base.removeprefix("anchor.")
    return ("human" if kind == "human" else "score"), base


def task_views(data: ReportData) -> tuple[TaskView, ...]:
    """Return the tasks of a report with their scores, without the tests between checkpoints."""
    run_ids = {run.id for run in data.runs}
    summaries = {key: summary for key, summary in aggregate(data.table).items() if key.run_id in run_ids}
    tasks: dict[str, dict[tuple[str, Kind], None]] = {}
    for key in summaries:
        tasks.setdefault(key.task, {})[key.name, key.kind] = None
    return tuple(_task(name, list(series), summaries, data) for name, series in tasks.items())


def _task(
    task: str, series: list[tuple[str, Kind]], summaries: Mapping[SeriesKey, Summary], data: ReportData
) -> TaskView:
    scores: list[ScoreView] = []
    scorers: set[tuple[Kind, str]] = set()
    for name, kind in sorted(series, key=lambda item: (not is_published(*item), KIND_ORDER.index(item[1]))):
        section, base = section_of(name, kind)
        scorer = (kind, base.split(".", 1)[0])
        derived = section == "score" and (is_published(name, kind) or _is_final(name, kind))
        first = section == "score" and not derived and scorer not in scorers
        if first:
            scorers.add(scorer)
        score = _score(task, name, kind, derived or first, summaries, data)
        scores.append(replace(score, headline=False) if _is_rule(score) else score)
    return TaskView(name=task, scores=tuple(scores))


def _is_final(name: str, kind: Kind) -> bool:
    return kind == "judge" and name.endswith(".final")


def _is_rule(score: ScoreView) -> bool:
    """Return whether a score belongs to a rule that limits (caps) a judge's level."""
    return any(
        RULE_SIGNATURE_TAG in signature for cell in score.cells if cell for signature in cell.signatures
    ) and (score.kind == "scorer")


def _score(
    task: str,
    name: str,
    kind: Kind,
    headline: bool,
    summaries: Mapping[SeriesKey, Summary],
    data: ReportData,
) -> ScoreView:
    by_run = [summaries.get(SeriesKey(run.id, task, name, kind)) for run in data.runs]
    cells = tuple(
        cell_of(summary, comparability_of(SeriesKey(run.id, task, name, kind), data.table, run.facts))
        if summary
        else None
        for run, summary in zip(data.runs, by_run, strict=True)
    )
    scale = next((summary.scale for summary in by_run if summary and summary.scale), None)
    section, base = section_of(name, kind)
    signatures = dict.fromkeys(s for cell in cells if cell for s in cell.signatures)
    notes = {**signature_notes(cells), **data.notes}
    return ScoreView(
        task=task,
        name=name,
        base=base,
        kind=kind,
        section=section,
        headline=headline,
        scale=scale,
        decimals=decimals_for(scale, [cell.mean for cell in cells if cell]),
        cells=cells,
        trajectory=trajectory_of([run.checkpoint for run in data.runs], cells, data.order_problem),
        notes=tuple(dict.fromkeys(_named_note(base, notes[s]) for s in signatures if s in notes)),
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
    headlines = sorted(task.headlines, key=lambda score: not _is_final(score.name, score.kind))
    return next((score.name for score in headlines if score.name in names), "")


def _signatures(tasks: Sequence[TaskView]) -> dict[str, tuple[str, ...]]:
    addresses: dict[str, dict[str, None]] = {}
    for task in tasks:
        for score in task.scores:
            for cell in score.cells:
                for signature in cell.signatures if cell else ():
                    addresses.setdefault(signature, {})[score.address] = None
    return {signature: tuple(addresses[signature]) for signature in sorted(addresses)}
