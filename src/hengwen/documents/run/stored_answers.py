"""Read the answers of a report from a store; compute reasons again that a run does not store."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from math import isclose
from typing import TYPE_CHECKING, Any

from hengwen import registry
from hengwen.documents.run.answers import AnswerRecord, ScoreValue, StreamedAnswer
from hengwen.errors import ConfigError, PluginError
from hengwen.protocols import parts_read
from hengwen.records import Response, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.documents.run.answers import SourceKey
    from hengwen.records import Outcome, Run
    from hengwen.results.score_table import ScoreTable
    from hengwen.score_id import ScoreId
    from hengwen.store.answer import Answer
    from hengwen.store.store import Store

    Key = tuple[str, str, str, int]


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


def _scores_by_answer(table: ScoreTable, run_id: str) -> dict[Key, dict[ScoreId, ScoreValue]]:
    """Return the values of one run by answer and score, without values of groups of answers."""
    scores: dict[Key, dict[ScoreId, ScoreValue]] = defaultdict(dict)
    for series, column in table.series.items():
        if series.run_id != run_id:
            continue
        signature = " + ".join(sorted(column.signatures))
        for sample_id, repeat, value in zip(column.sample_ids, column.repeats, column.values, strict=True):
            if sample_id is not None and repeat is not None and value is not None:
                key = (run_id, series.task, sample_id, repeat)
                scores[key][series.score] = ScoreValue(value, series.kind, signature)
    return scores


class ScoreExplainer:
    """Build scorers from the names and options that a run recorded, and score single answers again."""

    def __init__(self) -> None:
        self._scorers: dict[tuple[str, str], list[Any]] = {}

    def explain(self, run: Run, answer: Answer) -> dict[ScoreId, Outcome]:
        """Return the outcomes of a stored answer; scores that can be computed again get their reasons."""
        response = Response(sample_id=answer.sample_id, text=answer.text, repeat=answer.repeat)
        again: dict[tuple[str, str], Outcome] = {}
        for scorer in self._of_task(run, answer.task):
            with suppress(Exception):  # a scorer of a plug-in may raise anything
                again |= {
                    (outcome.name, outcome.signature): outcome
                    for outcome in scorer.score(answer.sample, response)
                }
        return {
            score: _explained(stored, again.get((stored.name, stored.signature)))
            for score, stored in answer.outcomes.items()
        }

    def _of_task(self, run: Run, task: str) -> list[Any]:
        key = run.id, task
        if key not in self._scorers:
            facts: Any = run.facts.get("tasks", {})
            self._scorers[key] = _built(facts.get(task, {}).get("scorers", []))
        return self._scorers[key]


def _built(specs: list[dict[str, Any]]) -> list[Any]:
    """Build the installed scorers whose reasons a run does not store (``EvaluationContext.details``)."""
    scorers = []
    for spec in specs:
        with suppress(ConfigError, PluginError):
            if "details" in parts_read(registry.load("scorers", spec["name"])):
                scorers.append(registry.build("scorers", spec["name"], spec["options"]))
    return scorers


def _explained(stored: Outcome, again: Outcome | None) -> Outcome:
    """Return the recomputed outcome if its value equals the stored value, else the stored outcome."""
    if isinstance(stored, Score) and isinstance(again, Score) and isclose(stored.value, again.value):
        return again
    return stored
