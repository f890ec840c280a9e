"""Runs of a store to the view that reports show."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from hengwen.reports.view.answers import AnswerRecord
from hengwen.reports.view.build import build_view
from hengwen.reports.view.models import ReportData, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.records import Run
    from hengwen.results.score_table import ScoreTable
    from hengwen.store.store import Store

RULES_NOTE = (
    "规则评判：只看不用模型就能判定的条款，是基线，不是语言模型。"
    "Rules judge: a baseline by what can be decided without a model; it is not a language model."
)


def collect_view(store: Store, runs: Sequence[Run], warnings: Sequence[str] = ()) -> View:
    """Return the view of runs.

    Args:
        store: Where they are.
        runs: Of one plan, in training order, at least one.
        warnings: Shown at the top of the report.
    """
    table = store.table(runs)
    return build_view(
        ReportData(
            plan=runs[0].plan,
            runs=tuple(runs),
            table=table,
            usage=store.usage(runs),
            warnings=tuple(warnings),
            answers=tuple(_answers(store, runs)),
            notes=_notes(table),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            version=version("hengwen"),
        )
    )


def _answers(store: Store, runs: Sequence[Run]) -> Iterator[AnswerRecord]:
    for run in runs:
        for answer in store.answers(run):
            yield AnswerRecord(
                task=answer.task,
                checkpoint=run.checkpoint,
                sample_id=answer.sample_id,
                repeat=answer.repeat,
                input=answer.input,
                text=answer.text,
                outcomes=answer.outcomes,
            )


def _notes(table: ScoreTable) -> dict[str, str]:
    signatures = {signature for column in table.series.values() for signature in column.signatures}
    return {signature: RULES_NOTE for signature in signatures if "|rules:" in signature}
