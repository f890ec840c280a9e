"""The failures of a report: each status with its first reason, and a table by checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hengwen.documents import cells
from hengwen.documents.blocks import AnswerFilter, Cell, Details, Link, Sentence, Table
from hengwen.documents.cells import left, reason_text
from hengwen.documents.run.courses import score_counts
from hengwen.documents.run.findings import Finding
from hengwen.documents.run.report import Report, has_answers
from hengwen.documents.run.tables import CHECKPOINT, FAILED
from hengwen.results.coverage import failed_answers
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.score_id import ScoreId
from hengwen.text.language import COLON, MIDDLE_DOT, SPACE, Bilingual, say
from hengwen.text.numbers import NOTHING, count, one_line, percent

MAX_UNREPORTED_SHARE = 0.02
"""Largest share of answers without a score that the first screen does not mention."""
MAX_FAILURE_KINDS = 8
"""Maximum number of kinds of failure that are named before the table of all failures."""


class _Failure(NamedTuple):
    """Failures of one status at one checkpoint; scores of a task with equal numbers share it."""

    task: str
    checkpoint: str
    status: str
    failed: int
    message: str
    counts: Bilingual
    rows: AnswerFilter | None


def failure_details(report: Report) -> Details:
    """Return the section on failures: each kind with its number, then a table by checkpoint."""
    title = say("Failures by status")
    scores_of: dict[_Failure, list[str]] = {}
    for score in report.scores:
        for label, run, summary in zip(report.labels, report.data.runs, score.summaries, strict=True):
            if summary is None:
                continue
            for status, failed in sorted(summary.failures.items(), key=lambda item: -item[1]):
                message = summary.first_messages.get(status, "")
                rows = report.failed_answers(score.task, run.checkpoint, status)
                key = _Failure(score.task, label, status, failed, message, score_counts(summary), rows)
                scores_of.setdefault(key, []).append(score.address)
    if not scores_of:
        return Details(title=title, blocks=(Sentence(text=say("No failures.")),))
    table = Table(
        key="failures",
        columns=(
            cells.SCORE,
            CHECKPOINT,
            left("failed", *FAILED),
            left("reason", "首个原因", "first reason"),
            left("scored", "得分数", "scored"),
        ),
        rows=tuple(_failure_row(failure, addresses) for failure, addresses in scores_of.items()),
    )
    by_checkpoint = Details(title=say("by checkpoint"), blocks=(table,), is_open=False)
    return Details(title=title, blocks=(*_failure_kinds(_failure_totals(report)), by_checkpoint))


def failure_findings(report: Report) -> Iterator[Finding]:
    """Yield, for each scorer or judge of a task that failed on more than a few answers, what it failed on."""
    scores: dict[tuple[str, str], ScoreSummaries] = {}
    for task in report.tasks:
        for score in task.headlines:
            key = score.task, score.id.source
            if has_answers(score, report.data) and (
                key not in scores or _failed(score) > _failed(scores[key])
            ):
                scores[key] = score
    for score in scores.values():
        present = [summary for summary in score.summaries if summary is not None]
        scored = sum(summary.n for summary in present)
        expected = sum(
            summary.n / summary.coverage if summary.coverage else summary.failed for summary in present
        )
        if expected - scored > MAX_UNREPORTED_SHARE * expected:
            yield _finding(score, 1 - scored / expected, round(expected))


def _failed(score: ScoreSummaries) -> int:
    return sum(summary.failed for summary in score.summaries if summary)


def _finding(score: ScoreSummaries, share: float, expected: int) -> Finding:
    statuses: Counter[str] = Counter()
    reasons: dict[str, Bilingual] = {}
    for summary in score.summaries:
        for status, n in summary.failures.items() if summary else ():
            statuses[status] += n
            message = summary.first_messages.get(status, "") if summary else ""
            if message:
                reasons.setdefault(status, reason_text(message))
    (first, n), *_ = ranked = statuses.most_common()
    counted = [
        SPACE.join(
            [f"{count(n)} {status}", Bilingual(*(f"({one_line(text, 60)})" for text in reasons[status]))]
        )
        if status in reasons
        else f"{count(n)} {status}"
        for status, n in ranked
    ]
    lacking = say(
        "{share} of {expected} answers have no score", share=percent(share), expected=count(expected)
    )
    return Finding(
        address=score.address,
        text=COLON.join([lacking, MIDDLE_DOT.join(counted)]),
        tone="worse",
        is_alarm=True,
        link=Link(
            text=f"{count(n)} {first}",
            target="all-answers",
            rows=AnswerFilter("", score.task, status=first),
        ),
    )


def _failure_totals(report: Report) -> Counter[tuple[str, str]]:
    """Return the number of failures by status and message; an answer that is missing counts once."""
    totals: Counter[tuple[str, str]] = Counter()
    for summaries in zip(*(score.summaries for score in report.scores), strict=True):
        counts: dict[str, dict[ScoreId, dict[str, int]]] = {}
        for score, summary in zip(report.scores, summaries, strict=True):
            for status, failed in summary.failures.items() if summary else ():
                message = summary.first_messages.get(status, "") if summary else ""
                counts.setdefault(message, {}).setdefault(score.id, {})[status] = failed
        for message, statuses in counts.items():
            for status, failed in failed_answers(statuses).items():
                totals[status, message] += failed
    return totals


def _failure_row(failure: _Failure, addresses: Sequence[str]) -> tuple[Cell, ...]:
    more = f" (+{len(addresses) - 1})" if len(addresses) > 1 else ""
    return (
        Cell(text=f"{addresses[0]}{more}", values={"": ", ".join(addresses)}),
        Cell(text=failure.checkpoint),
        Cell(
            text=f"{count(failure.failed)} {failure.status}",
            values={"": failure.failed, "status": failure.status},
            answers=failure.rows,
        ),
        Cell(text=reason_text(failure.message) if failure.message else NOTHING),
        Cell(text=failure.counts),
    )


def _failure_kinds(totals: Counter[tuple[str, str]]) -> Iterator[Sentence]:
    """Return a sentence for each status and message, with the number over all scores and checkpoints."""
    ranked = totals.most_common()
    for (status, message), failed in ranked[:MAX_FAILURE_KINDS]:
        head = f"{count(failed)} {status}"
        yield Sentence(text=COLON.join([head, reason_text(message)]) if message else head)
    further = sum(failed for _, failed in ranked[MAX_FAILURE_KINDS:])
    if further:
        kinds = len(ranked) - MAX_FAILURE_KINDS
        text = say("{1} more of {0} other kinds")
        yield Sentence(text=text.format(kinds, count(further)))
