"""A ledger that collects records in memory until ``commit`` writes them to a database in one transaction.

The engine records outcomes (scores and failures) and attempts (sent calls) in a ledger.
"""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, select

from hengwen.store import codec, tables
from hengwen.store.call_key_filter import CallKeyFilter
from hengwen.store.completed_index import HashedCompletedIndex
from hengwen.store.database import store_errors
from hengwen.store.prefix_dedup import PrefixStore
from hengwen.store.upsert import copy_rows, rows_for_key, upsert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Engine, RowMapping, Table

    from hengwen.protocols import EvaluationKey
    from hengwen.records import Attempt, Outcome, Response, Row, RowKey, Run, Sample
    from hengwen.store.upsert import Writer

Columns = dict[str, Any]
FETCH_SIZE = 10_000
"""Number of keys of completed evaluations that one database query fetches."""


class SqlLedger:
    """A ``hengwen.protocols.Ledger`` that stores its records in a database.

    Args:
        engine: A migrated database.
        writer: Object that opens transactions on the same database.
    """

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self._engine = engine
        self._writer = writer
        self._runs: list[Columns] = []
        self._samples: dict[str, Columns] = {}
        self._responses: list[Columns] = []
        self._attempts: list[Columns] = []
        self._rows: dict[RowKey, Columns] = {}
        self._adopted: list[tuple[str, str, EvaluationKey]] = []
        self._completed_units: list[Columns] = []
        self._good: dict[tuple[str, str], Attempt] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._stored_calls: CallKeyFilter | None = None
        self._prefixes = PrefixStore()
        self._new_prefixes: dict[str, str] = {}

    def begin(self, run: Run) -> None:
        """Record the run, or its new status.

        Raises:
            StoreError: The store is read-only; no call has been paid for.
        """
        self._writer.check_writable()
        self._runs.append(codec.run_columns(run))

    def done(self, run: Run) -> HashedCompletedIndex:
        """Return the evaluations completed in this run or in other runs of its plan and checkpoint.

        If an earlier run used other versions of the scoring packages, only its judgments by models are
        reused. Judgments by models do not depend on the scoring packages, and all other scores can be
        computed again at no cost.
        """
        self.commit()
        runs, row = tables.run, tables.row
        series = (
            select(runs.c.id, runs.c.facts)
            .where(
                runs.c.plan == run.plan,
                runs.c.checkpoint == run.checkpoint,
                runs.c.rejudges == run.rejudges,
            )
            .order_by((runs.c.id == run.id).desc(), runs.c.started.desc())
        )
        key = row.c.task, row.c.sample_id, row.c.repeat, row.c.signature, row.c.item_hash
        failed = case((row.c.status.in_(("ok", "not_applicable")), 0), else_=1)
        index = HashedCompletedIndex()
        with store_errors(self._engine), self._engine.connect() as connection:
            for run_id, facts in connection.execute(series).all():
                query = (
                    select(*key).where(row.c.run_id == run_id).group_by(*key).having(func.max(failed) == 0)
                )
                if json.loads(facts).get("versions") != run.facts.get("versions"):
                    is_by_rules = row.c.details.contains('"model": "rules"')
                    query = query.where(
                        row.c.kind == "judge", row.c.details.contains('"model": '), ~is_by_rules
                    )
                rows = connection.execution_options(yield_per=FETCH_SIZE).execute(query)
                index.add(
                    run_id,
                    (
                        (task, sample_id or None, repeat or None, signature, item_hash)
                        for task, sample_id, repeat, signature, item_hash in rows
                    ),
                )
        return index

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Record that ``commit`` must copy the scores of an evaluation from an earlier run."""
        self._adopted.append((run_id, source, key))

    def read(self, run_id: str, key: EvaluationKey) -> list[Outcome]:
        """Return a run's scores and failures for one evaluation (scorer or judge applied to an answer)."""
        query = select(tables.row).where(*rows_for_key(run_id, key)).order_by(tables.row.c.id)
        with store_errors(self._engine), self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
        return [codec.row_from(columns, "").outcome for columns in rows]

    def find_call(self, call_key: str, cache_scope: str) -> Attempt | None:
        """Return the successful attempt of a call, or None."""
        if (call_key, cache_scope) not in self._numbers:
            self._look_up(call_key, cache_scope)
        return self._good.get((call_key, cache_scope))

    def _look_up(self, call_key: str, cache_scope: str) -> None:
        attempt = tables.attempt
        if self._stored_calls is None:
            with store_errors(self._engine), self._engine.connect() as connection:
                self._stored_calls = CallKeyFilter(connection.execute(select(attempt.c.call_key)).scalars())
        if not self._stored_calls.might_contain(call_key):
            self._numbers[(call_key, cache_scope)] = 0
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
        return self._numbers[(call_key, cache_scope)] + 1

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Record an answer and its sample."""
        columns = codec.response_columns(run_id, sample, response)
        if columns["sample_hash"] not in self._samples:
            self._samples[columns["sample_hash"]] = codec.sample_columns(sample)
        self._responses.append(columns)

    def record_attempt(self, attempt: Attempt) -> None:
        """Record an attempt; ``find_call`` returns it from now on."""
        call = (attempt.call_key, attempt.cache_scope)
        if self._stored_calls is not None:
            self._stored_calls.add(attempt.call_key)
        self._numbers[call] = max(self._numbers.get(call, 0), attempt.attempt_no)
        if attempt.status == "ok":
            self._good[call] = attempt
        self._attempts.append(codec.attempt_columns(attempt, self._prefixes))
        self._new_prefixes |= self._prefixes.drain()

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record rows (scores and failures); a later row replaces an earlier one with the same key."""
        texts: dict[int, str] = {}
        for row in rows:
            key = row.key
            self._rows.pop(key, None)
            self._rows[key] = codec.row_columns(row, texts)

    def record_completed_unit(self, run_id: str, unit: str) -> None:
        """Record that everything about a sample is recorded; see ``hengwen.engine.sharing``."""
        self._completed_units.append({"run_id": run_id, "unit": unit})

    def refresh_call(self, call_key: str, cache_scope: str) -> None:
        """Let the next ``find_call`` look in the database, because another process has made this call.

        Attempts of this call that this ledger recorded must be committed.
        """
        self._numbers.pop((call_key, cache_scope), None)
        if self._stored_calls is not None:
            self._stored_calls.add(call_key)

    def stored_responses(self, run: Run, task: str) -> Iterator[Response]:
        """Yield the committed answers of a run to a task, of all processes, by sample and repeat."""
        response = tables.response
        query = (
            select(response)
            .where(response.c.run_id == run.id, response.c.task == task)
            .order_by(response.c.sample_id, response.c.repeat)
        )
        with store_errors(self._engine), self._engine.connect() as connection:
            stream = connection.execution_options(yield_per=FETCH_SIZE)
            for columns in stream.execute(query).mappings():
                yield codec.response_from(columns, run.checkpoint)

    def commit(self) -> None:
        """Write everything that was recorded, in one transaction.

        Raises:
            StoreError: The database failed; nothing was written.
        """
        with self._writer.begin() as connection, closing(connection.connection.cursor()) as cursor:
            write = partial(upsert, cursor, connection.dialect)
            write(tables.run, self._runs)
            write(tables.sample, list(self._samples.values()))
            write(tables.response, self._responses)
            self._write_attempts(write)
            for run_id, source, key in self._adopted:
                copy_rows(connection, run_id, source, key)
            write(tables.row, list(self._rows.values()))
            write(tables.completed_unit, self._completed_units)
        self._runs, self._responses, self._adopted, self._completed_units = [], [], [], []
        self._samples, self._rows = {}, {}
        self._forget_attempts()

    def commit_attempts(self) -> None:
        """Write only the attempts (sent calls) in one transaction, which is faster than a full commit.

        Raises:
            StoreError: The database failed; nothing was written.
        """
        with self._writer.begin() as connection, closing(connection.connection.cursor()) as cursor:
            self._write_attempts(partial(upsert, cursor, connection.dialect))
        self._forget_attempts()

    def _write_attempts(self, write: Callable[[Table, Sequence[Columns]], None]) -> None:
        write(tables.prompt, [{"hash": key, "text": text} for key, text in self._new_prefixes.items()])
        write(tables.attempt, self._attempts)

    def _forget_attempts(self) -> None:
        """Remove the committed attempts from memory, so that memory stays bounded."""
        self._attempts, self._new_prefixes = [], {}
        for call in [call for call in self._good if call in self._numbers]:
            del self._good[call], self._numbers[call]


def read_prefixes(engine: Engine, columns: RowMapping) -> dict[str, str]:
    """Return, by key, the stored prompt prefixes to which an attempt (a sent call) refers."""
    prompt = tables.prompt
    query = select(prompt.c.hash, prompt.c.text).where(prompt.c.hash.in_(codec.prefix_keys(columns)))
    with store_errors(engine), engine.connect() as connection:
        return {row.hash: row.text for row in connection.execute(query)}
