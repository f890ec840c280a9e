"""A store of runs: what was weighed, read back for reports; ``ledger()`` is what the engine writes to."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from hengwen.errors import ConfigError
from hengwen.records import Usage
from hengwen.results.score_table import ScoreTable
from hengwen.store import codec, tables
from hengwen.store.database import guard, open_database, shown
from hengwen.store.ledger import SqlLedger, read_prompts
from hengwen.store.upsert import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Engine

    from hengwen.plans.datasets import Label
    from hengwen.records import Attempt, Outcome, Row, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with what was asked and what came of it."""

    run_id: str
    task: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: tuple[Outcome, ...]


def open_store(where: str | Path = "hengwen.db") -> Store:
    """Open a store, and make it where there is none.

    Args:
        where: A path (SQLite) or a SQLAlchemy URL.

    Raises:
        StoreError: It cannot be opened.
        ConfigError: The URL is malformed.
    """
    return Store(open_database(where))


class Store:
    """See ``open_store``. Close it, or use it in a ``with``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = Writer(engine)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The path or URL, without a password."""
        return shown(self._engine.url)

    def close(self) -> None:
        """Give the connections back."""
        self._writer.close()
        self._engine.dispose()

    def ledger(self) -> SqlLedger:
        """Return a ledger that writes here."""
        return SqlLedger(self._engine, self._writer)

    def runs(self, plan: str | None = None) -> list[Run]:
        """All runs, newest first; of one plan, if it is named."""
        query = select(tables.run).order_by(tables.run.c.started.desc(), tables.run.c.position.desc())
        if plan is not None:
            query = query.where(tables.run.c.plan == plan)
        with guard(self._engine), self._engine.connect() as connection:
            return [codec.run_of(columns) for columns in connection.execute(query).mappings()]

    def latest(self, plan: str | None = None) -> list[Run]:
        """The newest run of each checkpoint of a plan (default: of the newest run's), in training order."""
        runs = self.runs(plan)
        newest: dict[str, Run] = {}
        for run in runs:
            if run.plan == (plan or runs[0].plan):
                newest.setdefault(run.checkpoint, run)
        return sorted(newest.values(), key=lambda run: run.order)

    def find(self, name: str) -> Run:
        """The run with this id or prefix of one, or the newest of a checkpoint of this name.

        Raises:
            ConfigError: There is none, or several ids begin so.
        """
        runs = self.runs()
        found = [run for run in runs if run.id == name] or [run for run in runs if run.id.startswith(name)]
        if len(found) > 1:
            raise ConfigError(f"run {name!r} is ambiguous: {', '.join(run.id for run in found[:5])}")
        found = found or [run for run in runs if run.checkpoint == name]
        if not found:
            raise ConfigError(f"no run or checkpoint {name!r} in {self.name}; see: hengwen runs list")
        return found[0]

    def rows(self, runs: Sequence[Run]) -> Iterator[Row]:
        """Yield the rows of runs, in the order in which they were written."""
        for run in runs:
            query = select(tables.row).where(tables.row.c.run_id == run.id).order_by(tables.row.c.id)
            with guard(self._engine), self._engine.connect() as connection:
                for columns in connection.execute(query).mappings():
                    yield codec.row_of(columns, run.checkpoint)

    def attempts(self, run: Run) -> Iterator[Attempt]:
        """Yield the calls of a run, each with the very prompt that was sent."""
        query = select(tables.attempt).where(tables.attempt.c.run_id == run.id)
        with guard(self._engine), self._engine.connect() as connection:
            for columns in connection.execute(query).mappings():
                yield codec.attempt_of(columns, read_prompts(self._engine, columns))

    def table(self, runs: Sequence[Run]) -> ScoreTable:
        """The rows of runs by series, in the order of the plan."""
        table = ScoreTable(self.rows(runs))
        table.arrange(address for run in runs for address in run.layout)
        for run in runs:
            for task, reducer in run.reducers.items():
                table.reduce(run.id, task, reducer)
        return table

    def statuses(self, runs: Sequence[Run]) -> dict[str, Counter[str]]:
        """How many outcomes of each score (TASK/SCORE) have which status, over all these runs."""
        row = tables.row
        query = (
            select(row.c.task, row.c.name, row.c.status, func.count())
            .where(row.c.run_id.in_([run.id for run in runs]))
            .group_by(row.c.task, row.c.name, row.c.status)
        )
        found: dict[str, Counter[str]] = {}
        with guard(self._engine), self._engine.connect() as connection:
            for task, name, status, count in connection.execute(query):
                found.setdefault(f"{task}/{name}", Counter())[status] += count
        order = {address: place for place, address in enumerate(a for run in runs for a in run.layout)}
        return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))

    def answers(self, run: Run) -> Iterator[Answer]:
        """Yield the answers of a run with their outcomes."""
        outcomes: dict[tuple[str, str, int], list[Outcome]] = {}
        for row in self.rows([run]):
            if row.sample_id is not None and row.repeat is not None:
                place = (row.task, row.sample_id, row.repeat)
                outcomes.setdefault(place, []).append(row.outcome)
        response, sample = tables.response, tables.sample
        query = (
            select(response, sample.c.input)
            .join(sample, sample.c.hash == response.c.sample_hash)
            .where(response.c.run_id == run.id)
            .order_by(response.c.task, response.c.sample_id, response.c.repeat)
        )
        with guard(self._engine), self._engine.connect() as connection:
            for found in connection.execute(query).mappings():
                given = json.loads(found["input"])
                place = (found["task"], found["sample_id"], found["repeat"])
                yield Answer(
                    run_id=run.id,
                    task=found["task"],
                    sample_id=found["sample_id"],
                    repeat=found["repeat"],
                    input=given if isinstance(given, str) else "\n".join(content for _, content in given),
                    text=found["text"],
                    outcomes=tuple(outcomes.get(place, ())),
                )

    def usage(self, runs: Sequence[Run]) -> dict[str, Usage]:
        """Calls and tokens that runs paid for, by role."""
        attempt = tables.attempt
        sums = [func.sum(attempt.c[name]) for name in ("calls", "input_tokens", "output_tokens")]
        query = (
            select(attempt.c.role, *sums)
            .where(attempt.c.run_id.in_([run.id for run in runs]))
            .group_by(attempt.c.role)
        )
        with guard(self._engine), self._engine.connect() as connection:
            return {
                role: Usage(calls=calls, input_tokens=given, output_tokens=got)
                for role, calls, given, got in connection.execute(query)
            }

    def keep_labels(self, plan: str, labels: Sequence[Label]) -> None:
        """Replace the human labels of a plan."""
        label = tables.label
        values = [
            {
                "plan": plan,
                "task": item.task,
                "sample_id": item.id,
                "checkpoint": item.checkpoint,
                "repeat": item.repeat,
                "score": item.score,
                "rater": item.rater,
                "value": item.value,
                "output": codec.clean(item.output),
            }
            for item in labels
        ]
        with guard(self._engine), self._engine.begin() as connection:
            connection.execute(delete(label).where(label.c.plan == plan))
            if values:
                connection.execute(label.insert(), values)

    def pin(self, run: Run, when: str) -> None:
        """Make a run the baseline of its plan."""
        baseline = tables.baseline
        with guard(self._engine), self._engine.begin() as connection:
            connection.execute(delete(baseline).where(baseline.c.plan == run.plan))
            connection.execute(baseline.insert(), [{"plan": run.plan, "run_id": run.id, "pinned": when}])

    def baselines(self) -> dict[str, str]:
        """The run id that is pinned as baseline, by plan."""
        with guard(self._engine), self._engine.connect() as connection:
            found = connection.execute(select(tables.baseline.c.plan, tables.baseline.c.run_id))
            return {row.plan: row.run_id for row in found}

    def remove(self, run: Run) -> None:
        """Remove a run with its answers and rows. Attempts stay: what was paid for can be used again."""
        with guard(self._engine), self._engine.begin() as connection:
            for table, column in (
                (tables.row, tables.row.c.run_id),
                (tables.response, tables.response.c.run_id),
                (tables.baseline, tables.baseline.c.run_id),
                (tables.run, tables.run.c.id),
            ):
                connection.execute(delete(table).where(column == run.id))
