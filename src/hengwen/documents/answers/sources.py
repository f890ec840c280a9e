"""Where a document reads answers: a store, which lacks some reasons that are computed again, or memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isclose
from typing import Any, NamedTuple, Protocol

from hengwen import registry
from hengwen.errors import ConfigError, PluginError
from hengwen.objective.lyrics.rules import LyricOptions
from hengwen.objective.lyrics.scorer import Lyric
from hengwen.protocols import parts_read
from hengwen.records import Kind, Outcome, Response, Run, Score
from hengwen.results.score_table import ScoreTable
from hengwen.score_id import ScoreId
from hengwen.store.queries import Answer
from hengwen.store.store import Store


class SourceKey(NamedTuple):
    """Identifies an answer among those of several runs."""

    run_id: str
    task: str
    sample_id: str
    repeat: int


class LyricReading(NamedTuple):
    """The template that a lyric should follow, and the rules by which it is read."""

    template: str
    options: LyricOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One answer with its prompt and all its outcomes (scores and failures)."""

    run_id: str
    task: str
    checkpoint: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: Mapping[ScoreId, Outcome]
    references: tuple[str, ...] = ()
    lyric: LyricReading | None = None
    """How the answer is read as a lyric, if it was scored as one."""

    @property
    def key(self) -> SourceKey:
        """Key of the answer."""
        return SourceKey(self.run_id, self.task, self.sample_id, self.repeat)


class ScoreValue(NamedTuple):
    """The value of one score of one answer, with its kind (``scorer``, ``judge`` or ``human``)."""

    value: float
    kind: Kind
    signature: str


@dataclass(frozen=True, slots=True)
class StreamedAnswer:
    """One answer of a stream, with the values of its scores."""

    key: SourceKey
    checkpoint: str
    text: str
    scores: Mapping[ScoreId, ScoreValue]
    """Values by score; failures are left out."""
    failures: Mapping[ScoreId, str] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.key.task

    @property
    def sample_id(self) -> str:
        """Id of the prompt."""
        return self.key.sample_id


class AnswerSource(Protocol):
    """Interface of the object from which a document reads answers."""

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time."""
        ...

    def load(self, keys: Sequence[SourceKey], *, explained: bool = False) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that exist of a few hundred keys, explained with reasons computed again."""
        ...


class AnswerList:
    """Answers in memory; those with equal scores are shown in their order."""

    def __init__(self, records: Iterable[AnswerRecord] = ()) -> None:
        self._records = {record.key: record for record in records}

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time."""
        for key, record in self._records.items():
            scores = {
                score: ScoreValue(outcome.value, outcome.kind, outcome.signature)
                for score, outcome in record.outcomes.items()
                if isinstance(outcome, Score)
            }
            failures = {
                score: outcome.status
                for score, outcome in record.outcomes.items()
                if not isinstance(outcome, Score)
            }
            yield StreamedAnswer(key, record.checkpoint, record.text, scores, failures)

    def load(self, keys: Sequence[SourceKey], *, explained: bool = False) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that have these keys; those that are not there are left out."""
        return {key: self._records[key] for key in keys if key in self._records}


class StoredAnswers:
    """Answers of runs in a store; prompts and reasons are read only for those that a report shows."""

    def __init__(self, store: Store, runs: Sequence[Run], table: ScoreTable) -> None:
        self._store = store
        self._runs = {run.id: run for run in runs}
        self._table = table
        self._explainer = ScoreExplainer()

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time, with the values of their scores."""
        for run in self._runs.values():
            scores, failures = _outcomes_by_answer(self._table, run.id)
            for response in self._store.responses(run):
                key = SourceKey(run.id, response.task, response.sample_id, response.repeat)
                yield StreamedAnswer(
                    key, run.checkpoint, response.text, scores.get(key, {}), failures.get(key, {})
                )

    def load(self, keys: Sequence[SourceKey], *, explained: bool = False) -> Mapping[SourceKey, AnswerRecord]:
        """Read the answers that have these keys; reasons that are not stored are computed again on demand."""
        keys_by_run: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
        for run_id, task, sample_id, repeat in keys:
            keys_by_run[run_id].append((task, sample_id, repeat))
        records = (
            self._record(self._runs[run_id], answer, explained=explained)
            for run_id, answer_keys in keys_by_run.items()
            for answer in self._store.answers(self._runs[run_id], answer_keys)
        )
        return {record.key: record for record in records}

    def _record(self, run: Run, answer: Answer, *, explained: bool) -> AnswerRecord:
        lyric = self._explainer.lyric(run, answer)
        is_explained = explained and lyric is None  # a lyric is shown line by line, without its reasons
        return answer_record(
            run, answer, self._explainer.explain(run, answer) if is_explained else None, lyric
        )


def answer_record(
    run: Run,
    answer: Answer,
    outcomes: Mapping[ScoreId, Outcome] | None = None,
    lyric: LyricReading | None = None,
) -> AnswerRecord:
    """Return a stored answer as documents show it, with other outcomes if they are given."""
    return AnswerRecord(
        run_id=run.id,
        task=answer.task,
        checkpoint=run.checkpoint,
        sample_id=answer.sample_id,
        repeat=answer.repeat,
        input=answer.input,
        text=answer.text,
        outcomes=answer.outcomes if outcomes is None else outcomes,
        references=answer.sample.references,
        lyric=lyric,
    )


def _outcomes_by_answer(
    table: ScoreTable, run_id: str
) -> tuple[dict[SourceKey, dict[ScoreId, ScoreValue]], dict[SourceKey, dict[ScoreId, str]]]:
    """Return values and failures of one run by answer and score, without those of groups of answers."""
    scores: dict[SourceKey, dict[ScoreId, ScoreValue]] = defaultdict(dict)
    failures: dict[SourceKey, dict[ScoreId, str]] = defaultdict(dict)
    for series, column in table.series.items():
        if series.run_id != run_id:
            continue
        signature = " + ".join(sorted(column.signatures))
        rows = zip(column.sample_ids, column.repeats, column.values, column.statuses, strict=True)
        for sample_id, repeat, value, status in rows:
            if sample_id is None or repeat is None:
                continue
            key = SourceKey(run_id, series.task, sample_id, repeat)
            if value is not None:
                scores[key][series.score] = ScoreValue(value, series.kind, signature)
            else:
                failures[key][series.score] = status
    return scores, failures


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

    def lyric(self, run: Run, answer: Answer) -> LyricReading | None:
        """Return the template and the rules of an answer that is scored as a lyric."""
        template = answer.sample.metadata.get("template")
        for scorer in self._of_task(run, answer.task):
            if isinstance(scorer, Lyric) and isinstance(template, str):
                return LyricReading(template, scorer.options)
        return None

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
