"""Build a report's view from runs in a store."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from hengwen.reports.view.answers import AnswerRecord, ScoreValue, StreamedAnswer
from hengwen.reports.view.build import build_view
from hengwen.reports.view.models import ReportData, View
from hengwen.reports.view.score_explainer import ScoreExplainer
from hengwen.results.run_order import training_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.records import Run
    from hengwen.reports.view.answers import SourceKey
    from hengwen.results.score_table import ScoreTable
    from hengwen.store.store import Store
    from hengwen.text.language import Language

    Key = tuple[str, str, str, int]


def collect_view(
    store: Store, runs: Sequence[Run], warnings: Sequence[str] = (), language: Language = "zh"
) -> View:
    """Return the view of a report on runs in a store.

    Args:
        store: Store with the runs.
        runs: Runs of one plan, at least one; the report sorts them by training order.
        warnings: Warnings to show at the top of the report.
        language: Language of the report.
    """
    order = training_order(runs)
    table = store.table(order.runs)
    baseline = store.baseline(runs[0].plan)
    if baseline is not None and baseline.id not in {run.id for run in runs}:
        warnings = (*warnings, _absent_baseline(baseline))
        baseline = None
    return build_view(
        ReportData(
            plan=runs[0].plan,
            runs=order.runs,
            table=table,
            order_problem=order.problem,
            usage=store.usage(runs),
            warnings=tuple(warnings),
            answers=StoredAnswers(store, order.runs, table),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            version=version("hengwen"),
            language=language,
            baseline=baseline.id if baseline else "",
        )
    )


def _absent_baseline(baseline: Run) -> str:
    return (
        f"the pinned baseline {baseline.checkpoint} ({baseline.id}) is not in this report, so the last "
        "checkpoint is compared with the first; to see it, name the runs: hengwen report RUN RUN"
    )


class StoredAnswers:
    """Answer source for runs in a store.

    Texts and scores are streamed for all answers. Prompts, failures and the reasons of scores are read only
    for the answers that a report shows.
    """

    def __init__(self, store: Store, runs: Sequence[Run], table: ScoreTable) -> None:
        self._store = store
        self._runs = {run.id: run for run in runs}
        self._table = table
        self._explainer = ScoreExplainer()

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time, with the values of their scores."""
        for run in self._runs.values():
            scores = _scores_by_answer(self._table, run.id)
            for response in self._store.responses(run):
                key = (run.id, response.task, response.sample_id, response.repeat)
                yield StreamedAnswer(
                    key, response.task, run.checkpoint, response.sample_id, response.text, scores.get(key, {})
                )

    def load(self, keys: Sequence[SourceKey]) -> Mapping[SourceKey, AnswerRecord]:
        """Read the answers that have these keys."""
        keys_by_run: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
        for run_id, task, sample_id, repeat in keys:
            keys_by_run[run_id].append((task, sample_id, repeat))
        records: dict[SourceKey, AnswerRecord] = {}
        for run_id, answer_keys in keys_by_run.items():
            run = self._runs[run_id]
            for answer in self._store.answers(run, answer_keys):
                records[run_id, answer.task, answer.sample_id, answer.repeat] = AnswerRecord(
                    task=answer.task,
                    checkpoint=run.checkpoint,
                    sample_id=answer.sample_id,
                    repeat=answer.repeat,
                    input=answer.input,
                    text=answer.text,
                    outcomes=self._explainer.explain(run, answer),
                )
        return records


def _scores_by_answer(table: ScoreTable, run_id: str) -> dict[Key, dict[str, ScoreValue]]:
    """Return the values of one run by answer and score name, without values of groups of answers."""
    scores: dict[Key, dict[str, ScoreValue]] = defaultdict(dict)
    for series, column in table.series.items():
        if series.run_id != run_id:
            continue
        signature = " + ".join(sorted(column.signatures))
        for sample_id, repeat, value in zip(column.sample_ids, column.repeats, column.values, strict=True):
            if sample_id is not None and repeat is not None and value is not None:
                key = (run_id, series.task, sample_id, repeat)
                scores[key][series.name] = ScoreValue(value, series.kind, signature)
    return scores
