"""Tables and charts of scores over the checkpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hengwen.documents.blocks import AnswerFilter, Cell, Column, Table, Text, Value
from hengwen.documents.cells import SCORE, fields, left, right
from hengwen.documents.run.courses import KIND_WORDS, score_counts
from hengwen.documents.run.report import Report
from hengwen.records import Run
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS, SequenceMetric
from hengwen.relevance_metrics.trajectory import MIN_WINDOWS, Trajectory
from hengwen.results.aggregate import Summary
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.results.score_table import SeriesKey
from hengwen.text.language import COLON, LINE_FEED, MIDDLE_DOT, NOTED, SPACE, Bilingual, say
from hengwen.text.numbers import NOTHING, count, interval, number, scale_text, signed_difference

CHECKPOINT = left("checkpoint", "检查点", "checkpoint")
FAILED = say("failed", context="tables")
_TRAJECTORY_COLUMNS = (
    SCORE,
    right("ends", "首 → 末", "first → last"),
    right("change", "变化", "change"),
    *(Column(key=metric.name, head=metric.symbol, align="right") for metric in MAIN_METRICS),
)
_TOO_SHORT = say(
    "† too short: below {min_windows} windows PEN is mostly bias. Read the level first: these "
    "numbers do not show a uniform drop.",
    min_windows=MIN_WINDOWS,
)


def score_table(key: str, scores: Sequence[ScoreSummaries], report: Report, title: Text = "") -> Table:
    """Return a table with a row for each run and a column for each score."""
    shared = {score.address: _shared_counts(score) for score in scores}
    columns = [_cells(score, report, with_counts=shared[score.address] is None) for score in scores]
    labels = [_labelled(label, run.id == report.data.baseline) for run, label in _runs(report)]
    names_of: dict[Bilingual, list[str]] = {}
    for score in scores:
        counts = shared[score.address]
        if counts is not None:
            names_of.setdefault(counts, []).append(score.name)
    notes = dict.fromkeys(note for score in scores for note in report.notes[score.address])
    return Table(
        key=key,
        title=title,
        columns=(
            CHECKPOINT,
            *(Column(key=score.name, head=_head(score), align="right") for score in scores),
        ),
        rows=tuple((label, *(column[index] for column in columns)) for index, label in enumerate(labels)),
        notes=(
            *(COLON.join([", ".join(names), counts]) for counts, names in names_of.items()),
            *(SPACE.join(["※", note]) for note in notes),
            *(note for score in scores for note in _range_notes(score)),
        ),
        records=tuple(
            {"score": score.address, "checkpoint": label, "run": run.id, **_values(summary)}
            for score in scores
            for summary, (run, label) in zip(score.summaries, _runs(report), strict=True)
            if summary is not None
        ),
    )


def level_table(score: ScoreSummaries, report: Report) -> Table | None:
    """Return how many answers got each level at each checkpoint; None if the score has no levels."""
    levels = sorted(score.scale.levels or (), reverse=score.higher_is_better) if score.scale else ()
    columns = [
        report.data.table.series.get(SeriesKey(run.id, score.id, score.kind)) for run in report.data.runs
    ]
    values = [[value for value in column.values if value is not None] if column else [] for column in columns]
    if not levels or not any(values):
        return None
    counts = [
        Counter(min(levels, key=lambda level: abs(level - value)) for value in of_run) for of_run in values
    ]
    between = sum(value not in levels for of_run in values for value in of_run)
    note = say("Values between levels, counted as the nearest: {between}.", between=count(between))
    return Table(
        key=f"{score.address}/levels",
        title=say("Answers at each level of {name}", name=score.name),
        columns=(
            CHECKPOINT,
            *(Column(key=f"level_{level:g}", head=f"{level:g}", align="right") for level in levels),
            right("answers", "回答", "answers"),
        ),
        rows=tuple(
            (
                Cell(text=label),
                *(_level_cell(of_run[level], report.answers_of(score, i)) for level in levels),
                Cell(text=count(of_run.total())),
            )
            for i, (label, of_run) in enumerate(zip(report.labels, counts, strict=True))
        ),
        notes=(note,) if between else (),
        records=tuple(
            {
                "score": score.address,
                "checkpoint": label,
                "run": run.id,
                "level": level,
                "answers": of_run[level],
            }
            for (run, label), of_run in zip(_runs(report), counts, strict=True)
            for level in levels
        ),
    )


def _level_cell(answers: int, rows: AnswerFilter | None) -> Cell:
    return Cell(text=count(answers), answers=rows) if answers else Cell(text=NOTHING)


def _range_notes(score: ScoreSummaries) -> list[Bilingual]:
    """Say for which prompts that are not seen the intervals of a score hold, if not for all on the scale."""
    ends = [summary.ends for summary in score.summaries if summary and summary.ends]
    notes = [
        say(
            "{name}: {outside:g} is outside of the plan's range, so intervals use the whole scale",
            name=score.name,
            outside=outside,
        )
        for outside in dict.fromkeys(item.outside for item in score.summaries if item)
        if outside is not None
    ]
    if not ends:
        return notes
    low, high = max(end[0] for end in ends), min(end[1] for end in ends)
    if score.scale is not None and (low, high) == (score.scale.low, score.scale.high):
        return notes
    low_text, high_text = number(low, score.decimals), number(high, score.decimals)
    return [
        *notes,
        say(
            "{name}: intervals hold unless prompts like those not seen fall outside {low} to {high}",
            name=score.name,
            low=low_text,
            high=high_text,
        ),
    ]


def _shared_counts(score: ScoreSummaries) -> Bilingual | None:
    """Return the numbers of prompts and answers if they are equal and complete in all runs."""
    counts = {score_counts(item) if item.is_complete else None for item in score.summaries if item}
    return counts.pop() if len(counts) == 1 else None


def _runs(report: Report) -> list[tuple[Run, str]]:
    return list(zip(report.data.runs, report.labels, strict=True))


def _labelled(label: str, is_baseline: bool) -> Cell:
    text = NOTED.format(label, say("baseline")) if is_baseline else label
    return Cell(text=text, values={"": label})


def _head(score: ScoreSummaries) -> Bilingual:
    parts: list[Text] = [KIND_WORDS[score.group]]
    if score.scale:
        parts.append(scale_text(score.scale))
    if not score.higher_is_better:
        parts.append(say("lower is better"))
    return LINE_FEED.join([score.name, MIDDLE_DOT.join(parts)])


def _cells(score: ScoreSummaries, report: Report, *, with_counts: bool) -> list[Cell]:
    worse = report.worse_runs(score)
    return [
        replace(
            _cell(summary, score, is_worse=index in worse, with_counts=with_counts),
            answers=report.answers_of(score, index),
        )
        for index, summary in enumerate(score.summaries)
    ]


def _cell(summary: Summary | None, score: ScoreSummaries, *, is_worse: bool, with_counts: bool) -> Cell:
    if summary is None:
        return Cell(text=NOTHING)
    bounds = f" {interval(summary.interval, score.decimals)}" if summary.interval else ""
    lines: list[Text] = [f"{number(summary.mean, score.decimals)}{bounds}"]
    if with_counts:
        lines.append(score_counts(summary))
    if summary.failed and score.group == "published":
        lines.append(say("incomplete"))
    elif summary.failed:
        lines.append(SPACE.join([FAILED, count(summary.failed)]))
    if summary.not_applicable:
        not_applicable = say("not applicable")
        lines.append(SPACE.join([not_applicable, count(summary.not_applicable)]))
    if len(summary.signatures) > 1:
        lines.append(say("mixed signatures"))
    return Cell(text=LINE_FEED.join(lines), values=_values(summary), tone="worse" if is_worse else "plain")


def _values(summary: Summary) -> dict[str, Value]:
    low, high = summary.interval or (None, None)
    ends = {"mean": summary.mean, "low": low, "high": high}
    return {**ends, **fields(summary, "n", "prompts", "coverage", "failed", "not_applicable")}


def trajectory_table(key: str, scores: Sequence[ScoreSummaries], report: Report) -> Table:
    """Return a table with a row for each score: its ends and the order of its means."""
    paths = [(score.name, report.trajectories[score.address]) for score in scores]
    left_out = say("{} is not compared")
    obstacles = [
        COLON.join([name if path.is_compared else left_out.format(name), path.reason])
        for name, path in paths
        if path.reason.en
    ]
    is_short = any(path.is_compared and path.windows and path.too_short for _, path in paths)
    return Table(
        key=key,
        title=say("Trajectory over the checkpoints"),
        columns=_TRAJECTORY_COLUMNS,
        rows=tuple(
            (
                Cell(text=score.name, values={"": score.address}),
                *_trajectory_cells(report.trajectories[score.address], score.decimals),
            )
            for score in scores
        ),
        notes=(*obstacles, *([_TOO_SHORT] if is_short else ())),
    )


def _trajectory_cells(path: Trajectory, decimals: int) -> tuple[Cell, ...]:
    ends = f"{number(path.first, decimals)} → {number(path.last, decimals)}" if path.is_compared else NOTHING
    change = None if path.first is None or path.last is None else path.last - path.first
    return (
        Cell(text=ends, values={"first": path.first, "last": path.last}),
        Cell(text=signed_difference(path.first, path.last, decimals), values={"": change}),
        *(_metric_cell(path, metric) for metric in MAIN_METRICS),
    )


def _metric_cell(path: Trajectory, metric: SequenceMetric) -> Cell:
    value, text = path.value(metric), path.text(metric)
    is_biased = metric.has_patterns and path.too_short and value is not None
    return Cell(
        text=f"{text} †" if is_biased else text,
        values={"": value, **({"windows": path.windows} if metric.has_patterns else {})},
    )
