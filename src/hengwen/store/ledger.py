"""The ledger over a database: recorded things wait in memory for ``commit``, one transaction each."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, select

from hengwen.store import codec, tables
from hengwen.store.call_key_filter import CallKeyFilter
from hengwen.store.database import guard
from hengwen.store.prefix_dedup import PrefixStore
from hengwen.store.settled_index import StoredCompletedIndex
from hengwen.store.upsert import behind, copy_rows, upsert

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Engine, RowMapping, Table

    from hengwen.protocols import EvaluationKey
    from hengwen.records import Attempt, Outcome, Response, Row, Run, Sample
    from hengwen.store.upsert import Writer

Columns = dict[str, Any]
READ_AT_A_TIME = 10_000
"""Rows of what is settled that are in memory at a time."""


class SqlLedger:
    """See ``hengwen.protocols.Ledger``.

    Args:
        engine: A migrated database.
        writer: To the same database.
    """

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self._engine = engine
        self._writer = writer
        self._runs: list[Columns] = []
        self._samples: dict[str, Columns] = {}
        self._responses: list[Columns] = []
        self._attempts: list[Columns] = []
        self._rows: dict[tuple[str, str, str | None, int | None, str], Columns] = {}
        self._adopted: list[tuple[str, str, EvaluationKey]] = []
        self._good: dict[tuple[str, str], Attempt] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._known: CallKeyFilter | None = None
        self._beginnings = PrefixStore()
        self._prompts: dict[str, str] = {}

    def begin(self, run: Run) -> None:
        """Record the run, or its new status."""
        self._runs.append(codec.run_columns(run))

    def done(self, run: Run) -> StoredCompletedIndex:
        """What is settled in this run, else in the newest of the same plan and checkpoint."""
        self.commit()
        runs, row = tables.run, tables.row
        series = (
            select(runs.c.id)
            .where(runs.c.plan == run.plan, runs.c.checkpoint == run.checkpoint)
            .order_by((runs.c.id == run.id).desc(), runs.c.started.desc())
        )
        key = row.c.task, row.c.sample_id, row.c.repeat, row.c.signature, row.c.item_hash
        bad = case((row.c.status.in_(("ok", "not_applicable")), 0), else_=1)
        found = StoredCompletedIndex()
        with guard(self._engine), self._engine.connect() as connection:
            for source in connection.execute(series).scalars().all():
                settled = select(*key).where(row.c.run_id == source).group_by(*key).having(func.max(bad) == 0)
                rows = connection.execution_options(yield_per=READ_AT_A_TIME).execute(settled)
                found.add(
                    source,
                    (
                        (task, sample_id or None, repeat or None, signature, item_hash)
                        for task, sample_id, repeat, signature, item_hash in rows
                    ),
                )
        return found

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Record that rows of an earlier run are to be copied."""
        self._adopted.append((run_id, source, key))

    def read(self, run_id: str, key: EvaluationKey) -> list[Outcome]:
        """The outcomes behind a key that a run holds."""
        query = select(tables.row).where(*behind(run_id, key)).order_by(tables.row.c.id)
        with guard(self._engine), self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
        return [codec.row_of(columns, "").outcome for columns in rows]

    def find_call(self, call_key: str, scope: str) -> Attempt | None:
        """The good attempt at this call, if there is one."""
        place = (call_key, scope)
        if place not in self._numbers:
            self._look_up(place)
        return self._good.get(place)

    def _look_up(self, place: tuple[str, str]) -> None:
        attempt = tables.attempt
        if self._known is None:
            with guard(self._engine), self._engine.connect() as connection:
                self._known = CallKeyFilter(connection.execute(select(attempt.c.call_key)).scalars())
        if not self._known.may_hold(place[0]):
            self._numbers[place] = 0
            return
        query = select(attempt).where(attempt.c.call_key == place[0], attempt.c.scope == place[1])
        with guard(self._engine), self._engine.connect() as connection:
            found = connection.execute(query).mappings().all()
        self._numbers[place] = max((columns["number"] for columns in found), default=0)
        for columns in found:
            if columns["status"] == "ok":
                self._good[place] = codec.attempt_of(columns, read_prompts(self._engine, columns))

    def next_number(self, call_key: str, scope: str) -> int:
        """The number of the next attempt at this call."""
        self.find_call(call_key, scope)
        return self._numbers[(call_key, scope)] + 1

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Record an answer and the sample that it answers."""
        columns = codec.response_columns(run_id, sample, response)
        if columns["sample_hash"] not in self._samples:
            self._samples[columns["sample_hash"]] = codec.sample_columns(sample)
        self._responses.append(columns)

    def record_attempt(self, attempt: Attempt) -> None:
        """Record an attempt; it can be found at once."""
        place = (attempt.call_key, attempt.scope)
        if self._known is not None:
            self._known.add(attempt.call_key)
        self._numbers[place] = max(self._numbers.get(place, 0), attempt.number)
        if attempt.status == "ok":
            self._good[place] = attempt
        self._attempts.append(codec.attempt_columns(attempt, self._beginnings))
        self._prompts |= {key: codec.clean(text) for key, text in self._beginnings.take().items()}

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record rows; later ones replace earlier ones at the same place."""
        texts: dict[int, str] = {}
        for row in rows:
            place = (row.run_id, row.task, row.sample_id, row.repeat, row.outcome.name)
            self._rows.pop(place, None)
            self._rows[place] = codec.row_columns(row, texts)

    def commit(self) -> None:
        """Write all that was recorded in one transaction.

        Raises:
            StoreError: Nothing of it was written.
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
        self._runs, self._responses, self._adopted = [], [], []
        self._samples, self._rows = {}, {}
        self._let_go_of_attempts()

    def commit_attempts(self) -> None:
        """Write the attempts alone in one transaction: fewer pages of the database than all would touch.

        Raises:
            StoreError: Nothing of it was written.
        """
        with self._writer.begin() as connection, closing(connection.connection.cursor()) as cursor:
            self._write_attempts(partial(upsert, cursor, connection.dialect))
        self._let_go_of_attempts()

    def _write_attempts(self, write: Callable[[Table, Sequence[Columns]], None]) -> None:
        write(tables.prompt, [{"hash": key, "text": text} for key, text in self._prompts.items()])
        write(tables.attempt, self._attempts)

    def _let_go_of_attempts(self) -> None:
        """They are in the database now: memory stays flat."""
        self._attempts, self._prompts = [], {}
        for place in [place for place in self._good if place in self._numbers]:
            del self._good[place], self._numbers[place]


def read_prompts(engine: Engine, columns: RowMapping) -> dict[str, str]:
    """The texts that an attempt refers to, by key."""
    prompt = tables.prompt
    query = select(prompt.c.hash, prompt.c.text).where(prompt.c.hash.in_(codec.beginnings_in(columns)))
    with guard(engine), engine.connect() as connection:
        return {row.hash: row.text for row in connection.execute(query)}
