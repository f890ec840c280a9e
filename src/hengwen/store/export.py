"""``rows``: every answer with every score as a table that data frames, DuckDB and files take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import and_

from hengwen.errors import ConfigError, PluginError
from hengwen.io.output_files import atomic_write, check_output, row_writer
from hengwen.records import Run, Score
from hengwen.store import tables
from hengwen.store.database import store_files
from hengwen.store.evaluation_codec import rows_from
from hengwen.store.queries import select_evaluations, stream_evaluations
from hengwen.store.store import Store, opened_store

TEXTS = "string"
WHOLE = "int64"
TYPES: dict[str, str] = {
    **dict.fromkeys(("run", "plan", "checkpoint"), TEXTS),
    "step": WHOLE,
    **dict.fromkeys(("task", "sample"), TEXTS),
    "repeat": WHOLE,
    **dict.fromkeys(("cluster", "prompt", "answer", "score", "kind"), TEXTS),
    "value": "double",
    **dict.fromkeys(("level", "status", "reason", "signature"), TEXTS),
}
"""The columns of an export with their types in Arrow."""
FILE_FORMATS = (".parquet", ".csv", ".jsonl")
BATCH = 5000
"""Number of rows that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Every answer of some runs with every score: one row for each score or failure; see ``rows``."""

    location: Store | str
    """The open store, or its path or URL, which is opened when the rows are read."""
    names: tuple[str | Run, ...] = ()
    """Runs, or ids and checkpoints of runs; default: the newest run of each checkpoint."""
    plan: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(TYPES)

    def __repr__(self) -> str:
        return f"Rows({self._name!r}, columns: {', '.join(TYPES)})"

    @property
    def _name(self) -> str:
        return self.location if isinstance(self.location, str) else self.location.name

    def __iter__(self) -> Iterator[dict[str, object]]:
        """Yield the rows, reading a few thousand at a time."""
        with opened_store(self.location) as store:
            runs = [store.find(name, self.plan) for name in self.names]
            for run in runs or store.latest(self.plan):
                yield from _rows_of(store, run)

    def to_dict(self) -> dict[str, list[object]]:
        """Return the columns as lists, which every data frame takes."""
        columns: dict[str, list[object]] = {name: [] for name in TYPES}
        for row in self:
            for name, value in row.items():
                columns[name].append(value)
        return columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow stream, which pandas, polars and DuckDB read; needs pyarrow."""
        return self._arrow().__arrow_c_stream__(requested_schema)

    def _arrow(self) -> Any:
        try:
            import pyarrow as pa
        except ImportError:
            raise PluginError("an Arrow stream needs pyarrow: pip install 'hengwen[parquet]'") from None
        schema = pa.schema([(name, getattr(pa, _ARROW[kind])()) for name, kind in TYPES.items()])

        def batches() -> Iterator[Any]:
            remaining = iter(self)
            while batch := list(islice(remaining, BATCH)):
                yield pa.RecordBatch.from_pylist(batch, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())

    def write(self, target: str | Path) -> int:
        """Write the rows to a .parquet, .csv or .jsonl file, and return their number.

        Raises:
            ConfigError: The ending of the file is another one, or the file cannot be written.
            PluginError: A Parquet file needs pyarrow.
        """
        path = Path(target)
        check_target(path, self._name)
        count = 0
        if path.suffix.lower() == ".parquet":
            reader = self._arrow()
            from pyarrow import parquet

            with atomic_write(path) as temporary, parquet.ParquetWriter(temporary, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
                    count += batch.num_rows
            return count
        with row_writer(path, list(TYPES)) as write:
            for count, row in enumerate(self, start=1):  # noqa: B007 - the last number is the result
                write(row)
        return count


_ARROW = {TEXTS: "string", WHOLE: "int64", "double": "float64"}


def check_target(path: Path, store: str) -> None:
    """Check that rows can be written to a file, and that it is not the store."""
    if path.suffix.lower() not in FILE_FORMATS:
        raise ConfigError(
            f"cannot tell the format of {str(path)!r}; name it with one of {', '.join(FILE_FORMATS)}"
        )
    check_output(path, store_files(store))


def rows(store: Store | str | Path, runs: Sequence[str | Run] = (), *, plan: str | None = None) -> Rows:
    """Return every answer with every score, one row for each score or failure.

    A row has the run, its plan, checkpoint and step, the task, sample, repeat and cluster, the prompt and
    the answer, the name of the score and its kind, value, level, status, reason and signature. A failure has
    no value; its status says why, and its reason what happened.

    Args:
        store: An open store, or the path or URL of a store.
        runs: Runs, ids of runs, prefixes of ids, or names of checkpoints; default: the newest run of each
            checkpoint.
        plan: Name of the plan of the runs; default: the plan of the newest run.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import RunOptions, open_store, rows, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     result = run_plan(plan, store=store, options=RunOptions(limit=1))
        ...     columns = rows(store, result.runs[:1]).to_dict()
        >>> columns["score"][0], round(columns["value"][0], 1), columns["status"][0]
        ('lyric.total', 67.5, 'ok')
    """
    return Rows(store if isinstance(store, Store) else str(store), tuple(runs), plan)


def _rows_of(store: Store, run: Run) -> Iterator[dict[str, object]]:
    """Yield the rows of a run, each with the texts of its answer."""
    evaluation, evaluator = tables.evaluation, tables.evaluator
    response, sample = tables.response, tables.sample
    query = (
        select_evaluations(evaluation.c.run_id == run.id)
        .add_columns(response.c.text.label("answer"), sample.c.input.label("prompt"))
        .outerjoin(
            response,
            and_(
                response.c.run_id == evaluation.c.run_id,
                response.c.task == evaluator.c.task,
                response.c.sample_id == evaluation.c.sample_id,
                response.c.repeat == evaluation.c.repeat,
            ),
        )
        .outerjoin(sample, sample.c.hash == response.c.sample_hash)
    )
    with store.connect() as connection:
        for columns, evaluator_of_row in stream_evaluations(connection, query):
            prompt = json.loads(columns["prompt"] or "null")
            if isinstance(prompt, list):
                prompt = "\n".join(text for _, text in prompt)
            for row in rows_from(columns, evaluator_of_row, run.checkpoint):
                outcome = row.outcome
                level = outcome.details.get("label") if isinstance(outcome, Score) else None
                yield {
                    "run": run.id,
                    "plan": run.plan,
                    "checkpoint": run.checkpoint,
                    "step": run.step,
                    "task": row.task,
                    "sample": row.sample_id,
                    "repeat": row.repeat,
                    "cluster": row.cluster,
                    "prompt": prompt,
                    "answer": columns["answer"],
                    "score": row.score.name,
                    "kind": outcome.kind,
                    "value": float(outcome.value) if isinstance(outcome, Score) else None,
                    "level": None if level is None else str(level),
                    "status": "ok" if isinstance(outcome, Score) else outcome.status,
                    "reason": (outcome.reason if isinstance(outcome, Score) else outcome.message) or None,
                    "signature": outcome.signature,
                }
