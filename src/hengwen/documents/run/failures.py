"""The failures of a report: each status with its first reason, and a table by checkpoint."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from hengwen.documents.blocks import Cell, Column, Details, Sentence, Table
from hengwen.documents.cells import reason_text
from hengwen.documents.run.tables import CHECKPOINT, FAILED, SCORE
from hengwen.documents.run.words import score_counts
from hengwen.results.coverage import failed_answers
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.answers.blocks import AnswerFilter
    from hengwen.documents.run.report import Report
    from hengwen.score_id import ScoreId

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
    title = Bilingual("未得分", "Failures by status")
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
        return Details(title=title, blocks=(Sentence(text=Bilingual("没有失败。", "No failures.")),))
    table = Table(
        key="failures",
        columns=(
            Column(key="score", head=SCORE),
            Column(key="checkpoint", head=CHECKPOINT),
            Column(key="failed", head=FAILED),
            Column(key="reason", head=Bilingual("首个原因", "first reason")),
            Column(key="scored", head=Bilingual("得分数", "scored")),
        ),
        rows=tuple(_failure_row(failure, addresses) for failure, addresses in scores_of.items()),
    )
    by_checkpoint = Details(title=Bilingual("按检查点", "by checkpoint"), blocks=(table,), is_open=False)
    return Details(title=title, blocks=(*_failure_kinds(_failure_totals(report)), by_checkpoint))


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
        head, (zh, en) = f"{count(failed)} {status}", reason_text(message)
        yield Sentence(text=Bilingual(f"{head}：{zh}", f"{head}: {en}") if message else head)
    further = sum(failed for _, failed in ranked[MAX_FAILURE_KINDS:])
    if further:
        kinds = len(ranked) - MAX_FAILURE_KINDS
        yield Sentence(
            text=Bilingual(
                f"另有 {kinds} 种共 {count(further)} 次", f"{count(further)} more of {kinds} other kinds"
            )
        )
