"""A store of runs: the engine writes through ``ledger()``, the other methods mostly read data for reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from sys import intern
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    RowMapping,
    Select,
    Table,
    and_,
    delete,
    func,
    select,
)

from hengwen.errors import ConfigError
from hengwen.protocols import EvaluationKey
from hengwen.records import Attempt, Kind, Outcome, Response, Row, Run, Sample, Usage
from hengwen.results.comparability import same_prompts, training_order
from hengwen.results.coverage import EmptyAnswers
from hengwen.results.score_table import ScoreTable
from hengwen.score_id import ScoreId
from hengwen.store import evaluation_codec as codec
from hengwen.store import queries, tables
from hengwen.store.database import Database, display_url, open_database, store_errors
from hengwen.store.evaluation_codec import EvaluationEncoder, PromptEncoder, evaluator_from, outcomes_from
from hengwen.store.queries import (
    FETCH_SIZE,
    Answer,
    ModelCalls,
    ResponseKey,
    read_columns,
    read_rows,
    select_evaluations,
)
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


def open_store(location: str | Path = "hengwen.db") -> Store:
    """Open a store; it is created if it does not exist.

    A store on a read-only medium can be opened for reading.

    Args:
        location: A path (SQLite), a SQLite URI (``file:x.db?mode=ro``) or a SQLAlchemy URL.

    Raises:
        StoreError: The store cannot be opened.
        ConfigError: The URL is malformed.
    """
    return Store(open_database(location))


def opened_store(store: Store | str | Path) -> AbstractContextManager[Store]:
    """Return a context with an open store; a store that was open before stays open."""
    return nullcontext(store) if isinstance(store, Store) else open_store(store)


class Store:
    """An open store; see ``open_store``. Call ``close``, or use the store in a ``with`` statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine: Engine = database.engine
        self._writer = Writer(database.engine, read_only=database.read_only)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The path or URL, without a password."""
        return display_url(self._engine.url)

    @property
    def read_only(self) -> bool:
        """Whether the store is read-only: it is on a read-only medium, or was opened with ``mode=ro``."""
        return self._database.read_only

    def close(self) -> None:
        """Close all connections."""
        self._writer.close()
        self._engine.dispose()

    def writable_engine(self) -> Engine:
        """Return the database, in which processes take locks.

        Raises:
            StoreError: The store is read-only.
        """
        self._writer.check_writable()
        return self._engine

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Return a connection to read from; errors of the database are raised as ``StoreError``."""
        with store_errors(self._engine), self._engine.connect() as connection:
            yield connection

    def ledger(self) -> SqlLedger:
        """Return a ledger, which records runs, answers, calls and scores in this store."""
        return SqlLedger(self._engine, self._writer)

    def runs(self, plan: str | None = None) -> list[Run]:
        """Return the runs of a plan, newest first, without runs that judge stored answers again.

        Args:
            plan: Name of the plan; default: all plans.
        """
        return self._rejudging("", plan)

    def rejudgings(self, run: Run) -> list[Run]:
        """Return the runs in which the stored answers of a run were judged again, newest first."""
        return self._rejudging(run.id)

    def _rejudging(self, run_id: str, plan: str | None = None) -> list[Run]:
        query = select(tables.run).order_by(tables.run.c.started.desc(), tables.run.c.position.desc())
        query = query.where(tables.run.c.rejudges == run_id)
        if plan is not None:
            query = query.where(tables.run.c.plan == plan)
        with self.connect() as connection:
            return [codec.run_from(columns) for columns in connection.execute(query).mappings()]

    def latest(self, plan: str | None = None) -> list[Run]:
        """Return the newest run of each checkpoint of a plan, sorted by step, position in the plan and start.

        Runs with other tasks or prompts than the newest run are left out; ``left_out`` returns them.

        Args:
            plan: Name of the plan; default: the plan of the newest run.
        """
        taken, _ = same_prompts(self._runs_of_one_plan(plan))
        return list(training_order(_newest(taken)).runs)

    def left_out(self, plan: str | None = None) -> list[Run]:
        """Return the newest runs of a plan's checkpoints that ``latest`` leaves out for their prompts.

        Args:
            plan: Name of the plan; default: the plan of the newest run.
        """
        _, others = same_prompts(self._runs_of_one_plan(plan))
        return _newest(others)

    def _runs_of_one_plan(self, plan: str | None) -> list[Run]:
        runs = self.runs(plan)
        return [run for run in runs if run.plan == runs[0].plan]

    def find(self, name: str | Run, plan: str | None = None) -> Run:
        """Return the run with this id or id prefix, or the newest run of the checkpoint with this name.

        Args:
            name: Id, prefix of an id, or name of a checkpoint; or a run, which is returned.
            plan: Name of the plan of the run; default: any.

        Raises:
            ConfigError: There is no such run, or several ids have this prefix.
        """
        if isinstance(name, Run):
            return name
        runs = self.runs(plan)
        matches = [run for run in runs if run.id == name] or [run for run in runs if run.id.startswith(name)]
        if len(matches) > 1:
            raise ConfigError(f"run {name!r} is ambiguous: {', '.join(run.id for run in matches[:5])}")
        matches = matches or [run for run in runs if run.checkpoint == name]
        if not matches:
            of_plan = "" if plan is None else f" of plan {plan!r}"
            raise ConfigError(
                f"no run or checkpoint {name!r}{of_plan} in {self.name}; see: hengwen runs list"
            )
        return matches[0]

    def rows(self, runs: Sequence[Run]) -> Iterator[Row]:
        """Yield the rows (scores, failures) of each run in turn, in the order in which they were written."""
        for run in runs:
            yield from read_rows(self._engine, run)

    def attempts(self, run: Run) -> Iterator[Attempt]:
        """Yield the attempts (sent calls) of a run, each with the exact prompt that was sent."""
        query = select(tables.attempt).where(tables.attempt.c.run_id == run.id)
        with self.connect() as connection:
            for columns in connection.execute(query).mappings():
                yield read_attempt(self._engine, columns)

    def table(self, runs: Sequence[Run], scores: Collection[ScoreId] | None = None) -> ScoreTable:
        """Return the outcomes of runs as a table, with the scores in the order of the plan.

        Args:
            runs: Runs of this store.
            scores: Scores to read; default: all.
        """
        table = ScoreTable()
        for run in runs:
            table.series |= read_columns(self._engine, run, scores).series
        table.arrange(address for run in runs for address in run.score_order)
        for run in runs:
            for task, reducer in run.reducers.items():
                table.set_reducer(run.id, task, reducer)
            run_facts: Mapping[str, Any] = run.facts
            for address, (low, high) in run_facts.get("ranges", {}).items():
                table.set_range(run.id, address, (low, high))
            for task, facts in run_facts.get("tasks", {}).items():
                table.set_sample_count(run.id, task, facts["samples_total"])
        return table

    def statuses(self, runs: Sequence[Run], kind: Kind | None = None) -> dict[ScoreId, Counter[str]]:
        """Return the number of outcomes of each score (of one kind, if given) by status, over these runs."""
        counts = queries.count_statuses(self._engine, runs, kind)
        addresses = dict.fromkeys(address for run in runs for address in run.score_order)
        order = {address: index for index, address in enumerate(addresses)}
        return dict(sorted(counts.items(), key=lambda item: order.get(item[0].address, len(order))))

    def first_messages(self, runs: Sequence[Run]) -> dict[str, str]:
        """Return, for each status of failures, the first message of such a failure in these runs."""
        return queries.first_messages(self._engine, runs)

    def responses(self, run: Run, sample_ids: Collection[str] | None = None) -> Iterator[Response]:
        """Yield the answers of a run without outcomes and metadata, sorted by task, sample and repeat.

        ``sample_ids`` names the samples whose answers are read, at most a few thousand; default: all.
        """
        response = tables.response
        query = (
            select(response.c.task, response.c.sample_id, response.c.repeat, response.c.text)
            .where(_condition(response, run, sample_ids))
            .order_by(response.c.task, response.c.sample_id, response.c.repeat)
        )
        with self.connect() as connection:
            rows = connection.execution_options(yield_per=FETCH_SIZE).execute(query)
            for task, sample_id, repeat, text in rows:
                yield Response(
                    task=task, sample_id=sample_id, repeat=repeat, text=text, checkpoint=run.checkpoint
                )

    def sample_hashes(self, run: Run) -> dict[tuple[str, str], str]:
        """Return the hash of each answered sample of a run, by task and sample id; see ``Sample.hash``."""
        response = tables.response
        columns = (response.c.task, response.c.sample_id, response.c.sample_hash)
        query = select(*columns).where(response.c.run_id == run.id).distinct()
        with self.connect() as connection:
            return {(task, sample): sample_hash for task, sample, sample_hash in connection.execute(query)}

    def answers(self, run: Run, keys: Collection[ResponseKey] | None = None) -> Iterator[Answer]:
        """Yield answers of a run with their inputs and outcomes, ordered by task, sample and repeat.

        Args:
            run: A run of this store.
            keys: Keys of the answers to read, at most a few hundred; default: all answers.
        """
        outcomes: dict[ResponseKey, dict[ScoreId, Outcome]] = {}
        sample_ids = None if keys is None else {sample_id for _, sample_id, _ in keys}
        for row in read_rows(self._engine, run, sample_ids):
            if row.sample_id is not None and row.repeat is not None:
                outcomes.setdefault((row.task, row.sample_id, row.repeat), {})[row.score] = row.outcome
        response, sample = tables.response, tables.sample
        sample_metadata = sample.c.metadata.label("sample_metadata")
        query = (
            select(response, *(sample.c[name] for name in ("input", "references")), sample_metadata)
            .join(sample, sample.c.hash == response.c.sample_hash)
            .where(_condition(response, run, sample_ids))
            .order_by(response.c.task, response.c.sample_id, response.c.repeat)
        )
        with self.connect() as connection:
            for columns in connection.execute(query).mappings():
                key = (columns["task"], columns["sample_id"], columns["repeat"])
                if keys is not None and key not in keys:
                    continue
                answered = codec.sample_from(columns)
                yield Answer(
                    task=columns["task"],
                    sample_id=columns["sample_id"],
                    repeat=columns["repeat"],
                    input=answered.text,
                    text=columns["text"],
                    outcomes=outcomes.get(key, {}),
                    sample=answered,
                )

    def usage(self, runs: Sequence[Run]) -> dict[str, Usage]:
        """Return the calls and tokens that runs paid for, by role (``subject`` is the model under test)."""
        attempt = tables.attempt
        sums = [func.sum(attempt.c[name]).label(name) for name in codec.USAGE_FIELDS]
        query = (
            select(attempt.c.role, *sums)
            .where(attempt.c.run_id.in_([run.id for run in runs]))
            .group_by(attempt.c.role)
        )
        with self.connect() as connection:
            rows = map(dict, connection.execute(query).mappings())
            return {row.pop("role"): Usage(**row) for row in rows}

    def model_calls(self, runs: Sequence[Run]) -> list[ModelCalls]:
        """Return the calls of runs by role and model."""
        with self.connect() as connection:
            return queries.model_calls(connection, [run.id for run in runs])

    def empty_answers(self, runs: Sequence[Run], labels: Sequence[str]) -> tuple[EmptyAnswers, ...]:
        """Return the runs, by their labels, and the tasks of which more than 2 % of the answers are empty."""
        with self.connect() as connection:
            return tuple(queries.empty_answers(connection, runs, labels))

    def pin(self, run: Run, when: str) -> None:
        """Make a run the baseline of its plan.

        Args:
            run: The run.
            when: Time of the pin, ISO 8601.
        """
        self._writer.check_writable()
        self._writer.write((tables.baseline, [{"plan": run.plan, "run_id": run.id, "pinned": when}]))

    def baselines(self) -> dict[str, str]:
        """Return the ids of the runs pinned as baselines, by plan."""
        query = select(tables.baseline.c.plan, tables.baseline.c.run_id)
        with self.connect() as connection:
            return {row.plan: row.run_id for row in connection.execute(query)}

    def baseline(self, plan: str) -> Run | None:
        """Return the run that is pinned as the baseline of a plan; None if there is none."""
        run_id = self.baselines().get(plan)
        return None if run_id is None else self.find(run_id)

    def save_admission(self, judge: str, tested: str, result: Mapping[str, object]) -> None:
        """Save the result of an admission test.

        Args:
            judge: Key of the judge; see ``judge_key``.
            tested: Time of the test, ISO 8601.
            result: What is kept of the result, ready for JSON.
        """
        self._writer.check_writable()
        row = {"judge": judge, "tested": tested, "result": json.dumps(result, ensure_ascii=False)}
        self._writer.write((tables.admission, [row]))

    def admissions(self) -> dict[str, dict[str, object]]:
        """Return the result of the newest admission test of each judge, by the judge's key."""
        query = select(tables.admission).order_by(tables.admission.c.tested)
        with self.connect() as connection:
            return {row.judge: json.loads(row.result) for row in connection.execute(query)}

    def count_look(self, series: str, run: Run, when: str) -> int:
        """Record a look (a test of a run against a baseline), and return its number, counted from 1.

        If the same run is tested again, it has the same number. In a read-only store nothing is recorded; a
        run without a recorded look gets the next number.

        Args:
            series: Text under which looks are counted together, such as ``gate`` and the id of a baseline.
            run: The run that is tested.
            when: Time of the test, ISO 8601.
        """
        return queries.count_look(self._engine, series, run.id, when, read_only=self.read_only)

    def remove(self, run: Run) -> None:
        """Remove a run with its answers and scores; its sent calls stay, so that paid replies can be reused.

        If the answers of this run were judged again, the runs with the new verdicts are removed too.
        """
        self._writer.check_writable()
        ids = [run.id, *(rejudging.id for rejudging in self.rejudgings(run))]
        with self._writer.begin() as connection:  # in the order in which a commit writes the tables
            connection.execute(delete(tables.run).where(tables.run.c.id.in_(ids)))
            for table in (tables.response, tables.evaluation, tables.baseline):
                connection.execute(delete(table).where(table.c.run_id.in_(ids)))


def _newest(runs: Sequence[Run]) -> list[Run]:
    """Return the first run of each checkpoint, which is the newest if ``runs`` begins with the newest."""
    newest: dict[str, Run] = {}
    for run in runs:
        newest.setdefault(run.checkpoint, run)
    return list(newest.values())


def _condition(table: Table, run: Run, sample_ids: Collection[str] | None) -> ColumnElement[bool]:
    """Return the SQL condition for answers of a run; with ``sample_ids``, only for these samples."""
    in_run = table.c.run_id == run.id
    return in_run if sample_ids is None else and_(in_run, table.c.sample_id.in_(sample_ids))
