"""The one view that all report formats show: what was weighed, already aggregated, ordered and chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.reports.text.numbers import decimals_for
from hengwen.reports.view.answers import AnswerRecord, group_answers
from hengwen.reports.view.bias_findings import length_findings
from hengwen.reports.view.cells import cell_of
from hengwen.reports.view.findings import Finding, findings_of
from hengwen.reports.view.models import RULE, Block, ReportData, ScoreView, TaskView, View, is_published
from hengwen.reports.view.trajectory import course_of
from hengwen.results.aggregate import aggregate
from hengwen.results.score_table import SeriesKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Kind, Run
    from hengwen.results.aggregate import Summary


KINDS: tuple[Kind, ...] = ("code", "judge", "human")


def build_view(data: ReportData) -> View:
    """Return the view of a report: tasks and scores in the table's order, code before judge.

    Args:
        data: Runs in training order with their table; rows of other runs are left out.

    Examples:
        >>> from hengwen.records import Row, Run, Score
        >>> from hengwen.results.score_table import ScoreTable
        >>> place = {"run_id": "r", "checkpoint": "c", "task": "t", "sample_id": "a", "repeat": 1}
        >>> score = Score(name="length", value=3, signature="length|v:1")
        >>> table = ScoreTable([Row(**place, cluster="a", outcome=score)])
        >>> run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
        >>> view = build_view(ReportData(plan="p", runs=(run,), table=table))
        >>> [(score.address, score.cells[0].mean) for score in view.scores]
        [('t/length', 3.0)]
    """
    labels = run_labels(data.runs)
    tasks = _tasks(data)
    headlines = {task.name: _ranking_score(task, data.answers) for task in tasks}
    checkpoints = [run.checkpoint for run in data.runs]
    return View(
        plan=data.plan,
        created=data.created,
        version=data.version,
        runs=data.runs,
        labels=labels,
        tasks=tasks,
        findings=(
            *(finding for task in tasks for score in _telling(task) for finding in _findings(score, labels)),
            *length_findings(data.answers),
        ),
        usage=dict(data.usage),
        warnings=data.warnings,
        answers=group_answers(data.answers, headlines, [task.name for task in tasks], checkpoints),
        signatures=_signatures(tasks),
        notes=dict(data.notes),
    )


def run_labels(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a distinct label for each run.

    Examples:
        >>> from hengwen.records import Run
        >>> pairs = [("r1", "a"), ("r2", "a"), ("r3", "b")]
        >>> run_labels([Run(id=i, plan="p", plan_hash="", checkpoint=name) for i, name in pairs])
        ('a (r1)', 'a (r2)', 'b')
    """
    names = [run.checkpoint for run in runs]
    return tuple(
        run.checkpoint if names.count(run.checkpoint) == 1 else f"{run.checkpoint} ({run.id})" for run in runs
    )


def section_of(name: str, kind: Kind) -> tuple[Block, str]:
    """Return the block in which a score is shown, and its name without the prefix of that block.

    Examples:
        >>> section_of("anchor.craft.level", "judge"), section_of("human.craft.level", "human")
        (('anchor', 'craft.level'), ('human', 'craft.level'))
        >>> section_of("human.anchor.craft.level", "human")
        ('anchor', 'craft.level')
    """
    base = name.removeprefix("human.") if kind == "human" else name
    if base.startswith("anchor."):
        return "anchor", base.removeprefix("anchor.")
    return ("human" if kind == "human" else "score"), base


def _tasks(data: ReportData) -> tuple[TaskView, ...]:
    known = {run.id for run in data.runs}
    summaries = {key: summary for key, summary in aggregate(data.table).items() if key.run_id in known}
    tasks: dict[str, dict[tuple[str, Kind], None]] = {}
    for key in summaries:
        tasks.setdefault(key.task, {})[key.name, key.kind] = None
    return tuple(_task(name, list(series), summaries, data) for name, series in tasks.items())


def _task(
    task: str, series: list[tuple[str, Kind]], summaries: Mapping[SeriesKey, Summary], data: ReportData
) -> TaskView:
    scores: list[ScoreView] = []
    scorers: set[tuple[Kind, str]] = set()
    for name, kind in sorted(series, key=lambda item: (not is_published(*item), KINDS.index(item[1]))):
        block, base = section_of(name, kind)
        scorer = (kind, base.split(".", 1)[0])
        whole = block == "score" and (is_published(name, kind) or _is_final(name, kind))
        first = block == "score" and not whole and scorer not in scorers
        if first:
            scorers.add(scorer)
        score = _score(task, name, kind, whole or first, summaries, data)
        scores.append(replace(score, headline=False) if _is_rule(score) else score)
    return TaskView(name=task, scores=tuple(scores))


def _is_final(name: str, kind: Kind) -> bool:
    return kind == "judge" and name.endswith(".final")


def _is_rule(score: ScoreView) -> bool:
    """Whether it is what a rule beside the judge measured: that is told by the final score."""
    return any(RULE in signature for cell in score.cells if cell for signature in cell.signatures) and (
        score.kind == "code"
    )


def _telling(task: TaskView) -> list[ScoreView]:
    """The headlines that the summary speaks of: of a judge only the most derived ones that are complete.

    Its published scores, where every run has them; else its final score; else its level.
    """
    judged = [score for score in task.headlines if score.kind == "judge"]
    whole = {
        score.base.rpartition(".")[0]
        for score in judged
        if score.group == "published" and all(cell and cell.mean is not None for cell in score.cells)
    }
    finals = {score.base.removesuffix(".final") for score in judged if _is_final(score.name, score.kind)}
    untold = {f"{stem}.level" for stem in whole | finals} | {f"{stem}.final" for stem in whole}
    return [score for score in task.headlines if not (score.kind == "judge" and score.base in untold)]


def _score(
    task: str,
    name: str,
    kind: Kind,
    headline: bool,
    summaries: Mapping[SeriesKey, Summary],
    data: ReportData,
) -> ScoreView:
    found = [summaries.get(SeriesKey(run.id, task, name, kind)) for run in data.runs]
    cells = tuple(None if summary is None else cell_of(summary) for summary in found)
    scale = next((summary.scale for summary in found if summary and summary.scale), None)
    block, base = section_of(name, kind)
    signatures = dict.fromkeys(s for cell in cells if cell for s in cell.signatures)
    return ScoreView(
        task=task,
        name=name,
        base=base,
        kind=kind,
        block=block,
        headline=headline,
        scale=scale,
        decimals=decimals_for(scale, [cell.mean for cell in cells if cell]),
        cells=cells,
        course=course_of([run.checkpoint for run in data.runs], cells),
        notes=tuple(data.notes[s] for s in signatures if s in data.notes),
    )


def _ranking_score(task: TaskView, answers: Sequence[AnswerRecord]) -> str:
    """The first headline that single answers have, a final score before others; no value of a set."""
    names = {o.name for answer in answers if answer.task == task.name for o in answer.outcomes}
    heads = sorted(task.headlines, key=lambda score: not _is_final(score.name, score.kind))
    return next((score.name for score in heads if score.name in names), "")


def _findings(score: ScoreView, labels: Sequence[str]) -> list[Finding]:
    return findings_of(
        score.address,
        labels,
        score.cells,
        higher_is_better=score.higher_is_better,
        decimals=score.decimals,
    )


def _signatures(tasks: Sequence[TaskView]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for task in tasks:
        for score in task.scores:
            for cell in score.cells:
                for signature in cell.signatures if cell else ():
                    found.setdefault(signature, {})[score.address] = None
    return {signature: tuple(found[signature]) for signature in sorted(found)}
