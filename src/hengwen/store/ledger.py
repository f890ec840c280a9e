"""A ledger that collects records in memory until ``commit`` writes them to a database in one transaction."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import delete, func, select

from hengwen.store import record_codec as codec
from hengwen.store import tables
from hengwen.store.call_key_filter import CallKeyFilter
from hengwen.store.database import store_errors
from hengwen.store.evaluation_codec import EvaluationEncoder, evaluator_from, outcomes_from
from hengwen.store.queries import FETCH_SIZE, select_evaluations
from hengwen.store.record_codec import PrefixStore
from hengwen.store.upsert import UNIQUE_COLUMNS, conditions_of, copy_evaluations, upsert

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Engine, RowMapping, Select

    from hengwen.protocols import EvaluationKey
    from hengwen.records import Attempt, Outcome, Response, Row, Run, Sample
    from hengwen.store.upsert import Writer


HASH_BYTES = 16


class HashedCompletedIndex:
    """Map the key of each completed evaluation, as a 128-bit hash, to the run that completed it."""

    # The probability that any two of a million keys collide is about 1e-27.

    def __init__(self) -> None:
        self._hashes: NDArray[np.bytes_] = np.empty(0, dtype=f"S{HASH_BYTES}")
        self._run_indexes: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._run_ids: list[str] = []

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, run_id: str, keys: Iterable[EvaluationKey]) -> None:
        """Add the evaluations that a run completed; a key that was added before keeps its first run."""
        buffer = bytearray()
        for key in keys:
            buffer += _hash(key)
        added = np.frombuffer(bytes(buffer), dtype=f"S{HASH_BYTES}")
        self._run_ids.append(run_id)
        indexes = np.full(len(added), len(self._run_ids) - 1, dtype=np.int32)
        self._hashes, first = np.unique(np.concatenate([self._hashes, added]), return_index=True)
        self._run_indexes = np.concatenate([self._run_indexes, indexes])[first]

    def get(self, key: EvaluationKey) -> str | None:
        """Return the id of the run that completed an evaluation, or None if none did."""
        if not len(self._hashes):
            return None
        hashed = np.frombuffer(_hash(key), dtype=f"S{HASH_BYTES}")[0]
        index = int(np.searchsorted(self._hashes, hashed))
        if index == len(self._hashes) or self._hashes[index] != hashed:
            return None
        return self._run_ids[int(self._run_indexes[index])]


def _hash(key: EvaluationKey) -> bytes:
    return blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


Columns = dict[str, Any]


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
        self._stored_calls: CallKeyFilter | None = None
        self._prefixes = PrefixStore()
        self._new_prefixes: dict[str, str] = {}

    def begin(self, run: Run) -> None:
        """Record the run, or its new status."""
        self._writer.check_writable()
        self._runs.append(codec.run_columns(run))

    def done(self, run: Run) -> HashedCompletedIndex:
        """Return an index of evaluations completed in this run or other runs of its plan and checkpoint."""
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
        index = HashedCompletedIndex()
        with store_errors(self._engine), self._engine.connect() as connection:
            for run_id, facts in connection.execute(series).all():
                has_other_versions = json.loads(facts).get("versions") != run.facts.get("versions")
                query = _completed(run_id, only_by_models=has_other_versions)
                rows = connection.execution_options(yield_per=FETCH_SIZE).execute(query)
                index.add(
                    run_id,
                    (
                        (task, sample_id or None, repeat or None, signature, item_hash)
                        for task, sample_id, repeat, signature, item_hash, statuses in rows
                        if not statuses or set(json.loads(statuses)) <= {"ok", "not_applicable"}
                    ),
                )
        return index

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
                self._stored_calls = CallKeyFilter(connection.execute(select(attempt.c.call_key)).scalars())
        if not self._stored_calls.might_contain(call_key):
            return
        query = select(attempt).where(attempt.c.call_key == call_key, attempt.c.cache_scope == cache_scope)
        with store_errors(self._engine), self._engine.connect() as connection:
            attempts = connection.execute(query).mappings().all()
        self._numbers[(call_key, cache_scope)] = max(
            (columns["attempt_no"] for columns in attempts), default=0
        )
        for columns in attempts:
            if columns["status"] == "ok":
                prefixes = read_prefixes(self._engine, columns)
                self._good[(call_key, cache_scope)] = codec.attempt_from(columns, prefixes)

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
        self._attempts.append(codec.attempt_columns(attempt, self._prefixes))
        self._new_prefixes |= self._prefixes.drain()

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
        return [{"hash": key, "text": text} for key, text in self._new_prefixes.items()]

    def _forget_attempts(self) -> None:
        """Remove the committed attempts from memory, so that memory stays bounded."""
        self._attempts, self._new_prefixes = [], {}
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


def read_prefixes(engine: Engine, columns: RowMapping) -> dict[str, str]:
    """Return, by key, the stored prompt prefixes to which an attempt (a sent call) refers."""
    prompt = tables.prompt
    query = select(prompt.c.hash, prompt.c.text).where(prompt.c.hash.in_(codec.prefix_keys(columns)))
    with store_errors(engine), engine.connect() as connection:
        return {row.hash: row.text for row in connection.execute(query)}
