"""A ledger that collects records in memory until ``commit`` writes them to a database in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from sys import intern
from typing import Any

from sqlalchemy import Engine, RowMapping, Select, delete, func, select

from hengwen.protocols import EvaluationKey
from hengwen.records import Attempt, Outcome, Response, Row, Run, Sample
from hengwen.store import record_codec as codec
from hengwen.store import tables
from hengwen.store.database import store_errors
from hengwen.store.evaluation_codec import EvaluationEncoder, evaluator_from, outcomes_from
from hengwen.store.queries import FETCH_SIZE, select_evaluations
from hengwen.store.record_codec import PromptEncoder
from hengwen.store.upsert import UNIQUE_COLUMNS, Writer, conditions_of, copy_evaluations, upsert

Columns = dict[str, Any]
UNREAD = "unread"
"""Status of replies that were paid for in a batch and not parsed when such stores were left."""


class SqlLedger:
    """A ``hengwen.protocols.Ledger`` that stores its records in a database."""

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self._engine = engine
        self._writer = writer
        self._runs: list[Columns] = []
        self._samples: dict[str, Columns] = {}
        self._responses: list[Columns] = []
        self._attempts: list[Columns] = []
        self._evaluations: dict[tuple[object, ...], Columns] = {}
        self._encoder = EvaluationEncoder()
        self._adopted: list[tuple[str, str, EvaluationKey]] = []
        self._removed: list[Columns] = []
        self._good: dict[tuple[str, str], Attempt] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._stored_calls: set[str] | None = None
        self._prompts_of_calls = PromptEncoder()
        self._new_prompts: dict[str, str] = {}

    def begin(self, run: Run) -> None:
        """Record the run, or its new status."""
        self._writer.check_writable()
        self._runs.append(codec.run_columns(run))

    def done(self, run: Run) -> dict[EvaluationKey, str]:
        """Return the evaluations completed in this run or others of its plan and checkpoint, with the run."""
        self.commit()
        runs = tables.run
        series = (
            select(runs.c.id, runs.c.facts)
            .where(
                runs.c.plan == run.plan,
                runs.c.checkpoint == run.checkpoint,
                runs.c.rejudges == run.rejudges,
            )
            .order_by((runs.c.id == run.id).desc(), runs.c.started.desc())
        )
        completed: dict[EvaluationKey, str] = {}
        with store_errors(self._engine), self._engine.connect() as connection:
            for run_id, facts in connection.execute(series).all():
                has_other_versions = json.loads(facts).get("versions") != run.facts.get("versions")
                query = _completed(run_id, only_by_models=has_other_versions)
                rows = connection.execution_options(yield_per=FETCH_SIZE).execute(query)
                for task, sample_id, repeat, signature, item_hash, statuses in rows:
                    if not statuses or set(json.loads(statuses)) <= {"ok", "not_applicable"}:
                        key = (intern(task), sample_id or None, repeat or None, intern(signature), item_hash)
                        completed.setdefault(key, run_id)
        return completed

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Record that ``commit`` must copy the scores of an evaluation from an earlier run."""
        self._adopted.append((run_id, source, key))

    def read(self, run_id: str, key: EvaluationKey) -> list[Outcome]:
        """Return a run's scores and failures for one evaluation (scorer or judge applied to an answer)."""
        query = select_evaluations(*conditions_of(run_id, key))
        with store_errors(self._engine), self._engine.connect() as connection:
            return [
                outcome
                for columns in connection.execute(query).mappings()
                for outcome in outcomes_from(
                    evaluator_from(columns), columns["statuses"], columns["numbers"], columns["notes"]
                )
            ]

    def find_call(self, call_key: str, cache_scope: str) -> Attempt | None:
        """Return the successful attempt of a call; None if no attempt of the call has succeeded."""
        if (call_key, cache_scope) not in self._numbers:
            self._look_up(call_key, cache_scope)
        return self._good.get((call_key, cache_scope))

    def _look_up(self, call_key: str, cache_scope: str) -> None:
        attempt = tables.attempt
        if self._stored_calls is None:
            with store_errors(self._engine), self._engine.connect() as connection:
                self._stored_calls = set(connection.execute(select(attempt.c.call_key)).scalars())
        if call_key not in self._stored_calls:
            return
        query = select(attempt).where(attempt.c.call_key == call_key, attempt.c.cache_scope == cache_scope)
        with store_errors(self._engine), self._engine.connect() as connection:
            attempts = connection.execute(query).mappings().all()
        self._numbers[(call_key, cache_scope)] = max(
            (columns["attempt_no"] for columns in attempts), default=0
        )
        for columns in attempts:
            if columns["status"] in ("ok", UNREAD):
                self._good[(call_key, cache_scope)] = read_attempt(self._engine, columns)

    def next_attempt_no(self, call_key: str, cache_scope: str) -> int:
        """Return the number of the next attempt of a call."""
        self.find_call(call_key, cache_scope)
        return self._numbers.get((call_key, cache_scope), 0) + 1

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Record an answer and its sample."""
        columns = codec.response_columns(run_id, sample, response)
        if columns["sample_hash"] not in self._samples:
            self._samples[columns["sample_hash"]] = codec.sample_columns(sample)
        self._responses.append(columns)

    def record_attempt(self, attempt: Attempt) -> None:
        """Record an attempt; if it succeeded, ``find_call`` returns it from now on."""
        call = (attempt.call_key, attempt.cache_scope)
        if self._stored_calls is not None:
            self._stored_calls.add(attempt.call_key)
        self._numbers[call] = max(self._numbers.get(call, 0), attempt.attempt_no)
        if attempt.status == "ok":
            self._good[call] = attempt
        self._attempts.append(codec.attempt_columns(attempt, self._prompts_of_calls))
        self._new_prompts |= self._prompts_of_calls.drain()

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record rows (scores and failures)."""
        for columns in self._encoder.encode(rows):
            key = columns["run_id"], columns["series_id"], columns["sample_id"], columns["repeat"]
            self._evaluations.pop(key, None)
            self._evaluations[key] = columns

    def remove_rows(self, rows: Sequence[Row]) -> None:
        """Remove the stored scores that rows of the same series would replace."""
        self._removed += self._encoder.encode(rows)

    def commit(self) -> None:
        """Write everything that was recorded, in one transaction."""
        with self._writer.begin() as connection, closing(connection.connection.cursor()) as cursor:
            write = partial(upsert, cursor, connection.dialect)
            write(tables.run, self._runs)
            write(tables.sample, list(self._samples.values()))
            write(tables.response, self._responses)
            write(tables.prompt, self._prompts())
            write(tables.attempt, self._attempts)
            for columns in self._removed:
                names = UNIQUE_COLUMNS[tables.evaluation.name]
                same = (tables.evaluation.c[name] == columns[name] for name in names)
                connection.execute(delete(tables.evaluation).where(*same))
            for run_id, source, key in self._adopted:
                copy_evaluations(connection, run_id, source, key)
            write(tables.evaluator, list(self._encoder.new_evaluators.values()))
            write(tables.note, [{"id": key, "text": text} for key, text in self._encoder.new_notes.items()])
            write(tables.evaluation, list(self._evaluations.values()))
        self._runs, self._responses, self._adopted, self._removed = [], [], [], []
        self._samples, self._evaluations = {}, {}
        self._encoder.forget_new()
        self._forget_attempts()

    def commit_attempts(self) -> None:
        """Write only the attempts (sent calls) in one transaction, which is faster than a full commit."""
        self._writer.write((tables.prompt, self._prompts()), (tables.attempt, self._attempts))
        self._forget_attempts()

    def _prompts(self) -> list[Columns]:
        return [{"hash": key, "text": text} for key, text in self._new_prompts.items()]

    def _forget_attempts(self) -> None:
        """Remove the committed attempts from memory, so that memory stays bounded."""
        self._attempts, self._new_prompts = [], {}
        for call in [call for call in self._good if call in self._numbers]:
            del self._good[call], self._numbers[call]


def _completed(run_id: str, *, only_by_models: bool) -> Select[Any]:
    evaluation, evaluator, note = tables.evaluation, tables.evaluator, tables.note
    query = (
        select(
            evaluator.c.task,
            evaluation.c.sample_id,
            evaluation.c.repeat,
            evaluator.c.signature,
            evaluation.c.item_hash,
            evaluation.c.statuses,
        )
        .join(evaluator, evaluator.c.id == evaluation.c.evaluator_id)
        .where(evaluation.c.run_id == run_id)
    )
    if not only_by_models:
        return query
    notes = func.coalesce(note.c.text, evaluation.c.notes)
    return query.outerjoin(note, note.c.id == evaluation.c.notes_id).where(
        evaluator.c.kind == "judge", notes.contains('"model":'), ~notes.contains('"model":"rules"')
    )


def read_attempt(engine: Engine, columns: RowMapping) -> Attempt:
    """Return the attempt (sent call) in a table row, with its whole prompt."""
    prompt = tables.prompt
    with store_errors(engine), engine.connect() as connection:
        query = select(prompt.c.hash, prompt.c.text).where(prompt.c.hash.in_(codec.prompt_keys(columns)))
        prompts = {row.hash: row.text for row in connection.execute(query)}
        return codec.attempt_from(columns, prompts)
