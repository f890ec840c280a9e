"""``run_document``: the document of the runs of a plan, from the conclusions to the method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from typing import Any

from hengwen.documents.answers.sources import StoredAnswers
from hengwen.documents.blocks import Block, Cell, Column, Command, Details, Document, Sentence, Size, Table
from hengwen.documents.cells import fields, left, right, thousands_cell
from hengwen.documents.decision import decision_record
from hengwen.documents.groups import group_records
from hengwen.documents.judges.trust import trust_record
from hengwen.documents.run.courses import GUIDE, STATUS_WORDS, sizes_in_words
from hengwen.documents.run.first_screen import first_screen
from hengwen.documents.run.judge_notes import RULES_JUDGE_NOTE
from hengwen.documents.run.report import Report, ReportData, build_report, has_answers
from hengwen.documents.run.sections import (
    change_links,
    course_section,
    judges_section,
    tables_section,
    worse_details,
)
from hengwen.documents.run.tables import CHECKPOINT
from hengwen.judges.calibration import Calibration
from hengwen.objective.diversity.compare_sets import compare_sets
from hengwen.records import Run
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS
from hengwen.relevance_metrics.trajectory import Trajectory
from hengwen.results.aggregate import Summary
from hengwen.results.comparability import training_order
from hengwen.results.comparisons import ALPHA, Comparison, family_size
from hengwen.results.decide import rewards_of
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.runs.run_plan import RunResult
from hengwen.store import Store
from hengwen.text.language import COLON, Bilingual, say
from hengwen.text.numbers import MAX_REASON, NOTHING, format_timestamp, one_line, plural


def run_record(report: Report) -> dict[str, Any]:
    """Return a report as plain values, with numbers at full precision."""
    data, scores = report.data, report.scores
    comparisons = [
        _comparison(item, score, report)
        for score in scores
        for item in report.comparisons.get(score.address, ())
    ]
    return {
        "schema": 1,
        "plan": data.plan,
        "runs": [
            {
                **fields(run, "id", "checkpoint", "step", "status"),
                "scores": {
                    score.address: _score(summary, score)
                    for score in scores
                    if (summary := score.summaries[index]) is not None
                },
            }
            for index, run in enumerate(data.runs)
        ],
        "decision": decision_record(report.decision),
        "summary": {
            "tests": family_size(chain.from_iterable(report.comparisons.values())),
            "alpha": ALPHA,
            "correction": "step-down",
            "baseline": data.baseline or None,
            "comparisons": comparisons,
            "findings": [
                {
                    "address": finding.address,
                    "weight": "alarm" if finding.is_alarm else "note",
                    "zh": finding.text.zh,
                    "en": finding.text.en,
                }
                for finding in report.findings
            ],
        },
        "sequences": {address: _trajectory(path) for address, path in report.trajectories.items()},
        "usage": {role: asdict(usage) for role, usage in data.usage.items()},
        "groups": group_records(data.groups, [run.id for run in data.runs]),
        "judges": trust_record(report.judges),
        "warnings": list(report.warnings),
        **({"rewards": sorted(rewards)} if (rewards := rewards_of(data.runs)) else {}),
    }


def _comparison(item: Comparison, score: ScoreSummaries, report: Report) -> dict[str, Any]:
    return {
        "address": score.address,
        "earlier": report.data.runs[item.earlier].id,
        "later": report.data.runs[item.later].id,
        "outcome": item.verdict,
        "difference": item.test.difference,
        "ci": item.interval,
        "family_ci": item.family_interval,
        "p": item.test.p,
        "p_adjusted": item.p_adjusted,
        "detectable": item.detectable,
        "prompts": item.test.prompts,
        "clusters": item.test.clusters,
    }


def _score(summary: Summary, score: ScoreSummaries) -> dict[str, Any]:
    return {
        **fields(summary, "n", "mean"),
        "ci": summary.interval,
        **fields(summary, "ends", "outside", "coverage", "bounds"),
        "failures": dict(summary.failures),
        "signature": " + ".join(summary.signatures),
        "comparability": dict(summary.comparability.parts),
        **fields(summary, "prompts", "prompts_expected", "prompt_coverage"),
        "first_messages": {
            status: one_line(message, MAX_REASON) for status, message in summary.first_messages.items()
        },
        **fields(summary, "not_applicable", "method"),
        "kind": score.kind,
        "scale": score.scale and fields(score.scale, "low", "high", "levels", "higher_is_better", "discrete"),
    }


def _trajectory(path: Trajectory) -> dict[str, Any]:
    return {
        **fields(path, "n", "first", "last"),
        **{metric.name: path.value(metric) for metric in MAIN_METRICS},
        "pairs": path.n * (path.n - 1) // 2 if path.is_compared else 0,
        **fields(path, "windows", "too_short"),
        "reason": path.reason.en,
    }


_NEXT = Command(
    line="hengwen init my-model",
    purpose=say("next, with answers of your own"),
)


def report_document(
    store: Store,
    runs: Sequence[Run],
    *,
    warnings: Sequence[str] = (),
    calibrations: Sequence[Calibration] = (),
    answers: Size | None = None,
    is_kept: bool = True,
) -> Document:
    """Return the document of runs in a store: what ``hengwen report`` shows.

    Args:
        store: Store with the runs.
        runs: Runs of one plan, at least one; the document sorts them by training order.
        warnings: Warnings to show after the conclusions.
        calibrations: How well judges agree with human labels, as ``hengwen calibrate`` writes it.
        answers: How much of the answers an HTML page holds: ``numbers`` (no text), ``excerpts`` (first words)
            or ``full``; default: ``full`` for up to some hundred answers, else ``excerpts``.
        is_kept: Whether the store is kept; else commands whose results it would hold are not named.

    Returns:
        The document; ``record`` is what its JSON shows.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, report_document, run_plan
        >>> with open_store("sqlite://") as store:
        ...     result = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        ...     document = report_document(store, result.runs)
        >>> document.kind, document.title.en
        ('run', 'Hengwen report: demo')
    """
    order = training_order(runs)
    table = store.table(order.runs)
    baseline = store.baseline(runs[0].plan)
    if baseline is not None and baseline.id not in {run.id for run in runs}:
        warnings = (*warnings, _absent_baseline(baseline))
        baseline = None
    data = ReportData(
        plan=runs[0].plan,
        runs=order.runs,
        table=table,
        order_problem=order.problem,
        usage=store.usage(runs),
        calls=tuple(store.model_calls(runs)),
        warnings=tuple(warnings),
        answers=StoredAnswers(store, order.runs, table),
        size=answers,
        calibrations=tuple(calibrations),
        admissions=store.admissions(),
        groups=() if order.problem else compare_sets(store.responses, order.runs, table),
        empty=store.empty_answers(order.runs, [run.checkpoint for run in order.runs]),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("hengwen"),
        baseline=baseline.id if baseline else "",
        is_kept=is_kept,
    )
    return run_document(data)


def demo_document(store: Store, result: RunResult) -> Document:
    """Return the report of the demo with the command that begins a plan of one's own.

    A test of its judges would not change the next demo, so no command for that is named.
    """
    document = report_document(store, result.runs, warnings=result.warnings, is_kept=False)
    first, *others = document.blocks
    return replace(document, blocks=(first, _NEXT, *others))


def _absent_baseline(baseline: Run) -> str:
    return (
        f"the pinned baseline {baseline.checkpoint} ({baseline.id}) is not in this report, so the last "
        "checkpoint is compared with the first; to see it, name the runs: hengwen report RUN RUN"
    )


def run_document(data: ReportData) -> Document:
    """Return the document of runs."""
    report = build_report(data)
    runs = len(data.runs)
    changes = tuple(worse_details(report))
    headlines = [score for task in report.tasks for score in task.headlines if has_answers(score, data)]
    sizes = sizes_in_words(score.summaries[-1] for score in headlines)
    return Document(
        kind="run",
        title=say("Hengwen report: {plan}", plan=data.plan),
        notes=(
            say("{checkpoints}", checkpoints=plural(runs, "checkpoint"), runs=runs),
            *([sizes] if sizes else ()),
            *([format_timestamp(data.created)] if data.created else ()),
        ),
        blocks=(
            first_screen(report, change_links(changes)),
            *_warnings(report),
            *changes,
            *course_section(report),
            tables_section(report),
            judges_section(report),
            *_answers(report),
            Details(
                title=say("Method"),
                blocks=(
                    _runs(report),
                    _guide(),
                    _signatures(report),
                    *([Sentence(text=f"Hengwen {data.version}", is_note=True)] if data.version else ()),
                ),
                key="method",
            ),
        ),
        record=run_record(report),
    )


def _warnings(report: Report) -> Iterator[Block]:
    for warning in report.warnings:
        yield Sentence(text=f"⚠ {warning}")


def _answers(report: Report) -> Iterator[Details]:
    if report.answers.rows:
        yield Details(title=say("All answers"), blocks=(report.answers,), key="all-answers")


def _runs(report: Report) -> Details:
    runs = report.data.runs
    title = say("Evaluated checkpoints")
    if not runs:
        return Details(title=title, blocks=(Sentence(text=say("There are no runs.")),))
    table = Table(
        key="runs",
        columns=(
            CHECKPOINT,
            right("step", "步", "step"),
            left("status", "状态", "status"),
            left("started", "开始", "started"),
            left("run", "运行", "run"),
        ),
        rows=tuple(
            (
                Cell(text=run.checkpoint),
                thousands_cell(run.step),
                Cell(text=STATUS_WORDS[run.status], values={"": run.status}),
                Cell(text=format_timestamp(run.started) or NOTHING, values={"": run.started or None}),
                Cell(text=run.id),
            )
            for run in runs
        ),
        notes=tuple(_versions(runs)),
    )
    return Details(title=title, blocks=(table,), is_open=any(run.status != "finished" for run in runs))


def _versions(runs: Sequence[Run]) -> Iterator[Bilingual]:
    """Return the package versions, for each group of runs with equal ones."""
    checkpoints: dict[str, list[str]] = {}
    for run in runs:
        text = " · ".join(f"{name} {number}" for name, number in sorted(run.versions.items()))
        checkpoints.setdefault(text, []).append(run.checkpoint)
    for text, names in checkpoints.items():
        of_runs = f" ({', '.join(names)})" if len(checkpoints) > 1 else ""
        if text or of_runs:
            yield COLON.join([say("Versions{of_runs}", of_runs=of_runs), text])


def _guide() -> Details:
    return Details(
        title=say("How to read this report"),
        blocks=tuple(Details(title=title, blocks=(Sentence(text=text),)) for title, text in GUIDE),
        is_open=False,
    )


def _signatures(report: Report) -> Details:
    addresses: dict[str, dict[str, None]] = {}
    by_rules: set[str] = set()
    for score in report.scores:
        for summary in score.summaries:
            for signature in summary.signatures if summary else ():
                addresses.setdefault(signature, {})[score.address] = None
                if summary and summary.judged_by_rules:
                    by_rules.add(signature)
    table = Table(
        key="signatures",
        columns=(
            left("signature", "签名", "signature"),
            left("scores", "分数", "scores"),
            Column(key="note", head=""),
        ),
        rows=tuple(
            (
                Cell(text=signature),
                Cell(text=" · ".join(addresses[signature])),
                Cell(text=RULES_JUDGE_NOTE if signature in by_rules else ""),
            )
            for signature in sorted(addresses)
        ),
    )
    return Details(title=say("Signatures"), blocks=(table,), is_open=False)
