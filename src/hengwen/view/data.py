"""The store that pages show: read-only, opened again where its file was replaced; results are kept."""

from __future__ import annotations

import json
import os
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReady
from functools import partial
from threading import RLock
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import String, func, or_, select
from sqlalchemy import cast as as_type

from hengwen._internal.workers import WorkerPool
from hengwen.documents.blocks import Document
from hengwen.errors import StoreError
from hengwen.records import Kind, Run, Usage
from hengwen.results.score_table import ScoreTable
from hengwen.score_id import ScoreId, caps
from hengwen.store import Store, open_store, store_files
from hengwen.store.evaluation_codec import USAGE_FIELDS
from hengwen.store.queries import read_evaluators
from hengwen.store.tables import HAS_FAILURE, attempt, evaluation, evaluator, response, sample

T = TypeVar("T")
MAX_KEPT = 300
"""Number of results that are kept, the ones used last; of 100 checkpoints, each has some."""
MAX_OUTCOMES = 300_000
"""Number of scores and failures in the tables that are kept: about 40 MB."""
PATIENCE = 0.1
"""Seconds that a page waits for a result that takes longer; then it is drawn without."""
LARGE = 5_000
"""Evaluations of a store from which on long computations have a process of their own: there they neither slow
pages down nor leave their memory behind. In small stores, the process would start longer than it computes."""


class StoreData:
    """What pages read of a store."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._lock = RLock()
        self._store: Store | None = None
        self._file: tuple[int, int] | None = None
        self._kept: OrderedDict[Hashable, object] = OrderedDict()
        self._last_id: int | None = None
        self._writes: dict[str, int] = {}
        self._workers = ThreadPoolExecutor(2)
        self._newest: dict[Hashable, Future[Any]] = {}
        self._page: tuple[Document, bytes] | None = None
        self._pools: set[WorkerPool[Any, Any]] = set()
        self.starts: dict[str, tuple[float, int]] = {}
        """When a running run was first asked for, and how many answers it had then: for the time left."""

    @property
    def name(self) -> str:
        """The last part of the path or URL, for the heads of pages."""
        return self.store.name.rpartition("/")[2]

    @property
    def store(self) -> Store:
        """The store, open for reading."""
        files = store_files(self.location)
        with self._lock:
            file = None
            if files:
                try:
                    state = files[0].stat()
                except OSError:
                    self._forget()
                    raise StoreError(
                        f"{files[0]}: no such store; it was there when this command began"
                    ) from None
                file = state.st_dev, state.st_ino
            if self._store is None or file != self._file:
                self._forget()
                self._store, self._file = open_store(self._address()), file
            return self._store

    def _address(self) -> str:
        """Return the address that opens the store for reading only."""
        files = store_files(self.location)
        return f"{files[0].absolute().as_uri()}?mode=ro" if files else self.location

    def submit(self, work: Callable[[], object]) -> None:
        """Do work that no page waits for."""
        self._workers.submit(work)

    def close(self) -> None:
        """Close the store; what is still computed is given up."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        for pool in list(self._pools):
            pool.close()
        self._forget()

    def _forget(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None
            self._kept.clear()
            self._writes.clear()
            self._last_id = None

    def states(self, runs: Sequence[Run]) -> tuple[Hashable, ...]:
        """Return for each run a value that changes whenever answers or scores of the run do."""
        with self.store.connect() as connection, self._lock:
            last = connection.execute(select(func.max(evaluation.c.id))).scalar() or 0
            if self._last_id is None:
                self._last_id = last
            if last != self._last_id:
                is_new = evaluation.c.id > min(last, self._last_id)
                for run_id in connection.execute(
                    select(evaluation.c.run_id).where(is_new).distinct()
                ).scalars():
                    self._writes[run_id] = self._writes.get(run_id, 0) + 1
                self._last_id = last
            query = select(evaluation.c.run_id, func.count()).where(HAS_FAILURE).group_by(evaluation.c.run_id)
            failed: dict[str, int] = dict(connection.execute(query).all())
        return tuple((run.id, run.status, self._writes.get(run.id, 0), failed.get(run.id, 0)) for run in runs)

    def forget(self, plan: str) -> None:
        """Compute again what is about the newest runs of a plan: their labels have changed."""
        for run in self.store.latest(plan):
            self._writes[run.id] = self._writes.get(run.id, 0) + 1

    def kept(self, name: Hashable, runs: Sequence[Run], compute: Callable[[], T]) -> T:
        """Return a result about runs; it is computed again once one of the runs has changed."""
        return self._get((name, self.states(runs)), compute)

    def _get(self, key: Hashable, compute: Callable[[], T]) -> T:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
        result = compute()
        with self._lock:
            self._kept[key] = result
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            sizes = {
                name: sum(map(len, table.series.values()))
                for name, table in self._kept.items()
                if isinstance(table, ScoreTable)
            }
            total = sum(sizes.values())
            for name, size in [*sizes.items()][:-1]:
                if total > MAX_OUTCOMES:
                    del self._kept[name]
                    total -= size
        return result

    def awaited(
        self, name: Hashable, runs: Sequence[Run], compute: Callable[[Store, Sequence[Run]], T]
    ) -> T | None:
        """Return a result that may take long; None if it is not ready yet: ask again in a second."""
        # Of the results with one name, at most one is computed and one waits: that for the newest page.
        key = name, self.states(runs)
        with self._lock:
            is_large = (self._last_id or 0) > LARGE
            future = cast("Future[T] | None", self._kept.get(key))
            if future is None or future.cancelled():
                if name in self._newest:
                    self._newest[name].cancel()  # the reader went on to another page
                work = (
                    partial(self._in_process, compute, runs)
                    if is_large
                    else partial(compute, self.store, runs)
                )
                self._kept[key] = self._newest[name] = future = self._workers.submit(work)
        try:
            return future.result(0 if is_large else PATIENCE)
        except NotReady:
            return None

    def drawn(self, document: Document, draw: Callable[[], bytes]) -> bytes:
        """Return the page of a document; the last page is kept, as a large one takes long to draw."""
        page = self._page
        if page is None or page[0] is not document:
            page = self._page = document, draw()
        return page[1]

    def _in_process(self, compute: Callable[[Store, Sequence[Run]], T], runs: Sequence[Run]) -> T:
        pool = WorkerPool(partial(_compute, compute, self._address()), 1)
        self._pools.add(pool)
        try:
            return pool.results([runs], pool.submit([runs]))[0]
        finally:
            self._pools.discard(pool)
            pool.close()

    def table(self, runs: Sequence[Run], scores: Collection[ScoreId] | None = None) -> ScoreTable:
        """Return the outcomes of runs, by default of all scores; each run is read once."""
        names = None if scores is None else frozenset(scores)
        whole = ScoreTable()
        for run, state in zip(runs, self.states(runs), strict=True):

            def read(run: Run = run) -> ScoreTable:
                return self.store.table([run], names)

            whole.series |= self._get(("table", names, state), read).series
        return whole


def _compute(compute: Callable[[Store, Sequence[Run]], T], location: str, runs: Sequence[Run]) -> T:
    if hasattr(os, "nice"):
        os.nice(10)  # pages come first
    with open_store(location) as store:
        return compute(store, runs)


MAX_TAG, MAX_TAGS = 40, 60
"""Longest tag in characters, and how many a page offers."""


class AnswerScore(NamedTuple):
    """A score that each answer has."""

    id: ScoreId
    kind: Kind

    @property
    def address(self) -> str:
        """``TASK/SCORE``."""
        return self.id.address


def answer_scores(store: Store, run: Run) -> list[AnswerScore]:
    """Return the scores that a run gave its answers as the plan orders them; those of capping rules last."""
    used = select(evaluation.c.evaluator_id).where(
        evaluation.c.run_id == run.id, evaluation.c.sample_id != ""
    )
    with store.connect() as connection:
        evaluators = read_evaluators(connection, used.distinct()).values()
    order = {address: index for index, address in enumerate(run.score_order)}
    scores = {
        AnswerScore(score, evaluator.kind): evaluator.kind == "scorer" and caps(evaluator.signature)
        for evaluator in evaluators
        if evaluator.role == "answer"
        for score in evaluator.scores
    }
    return sorted(
        scores, key=lambda score: (scores[score], order.get(score.address, len(order)), score.address)
    )


def has_labels(store: Store) -> bool:
    """Return whether people have labelled answers of any run."""
    with store.connect() as connection:
        label = select(evaluator.c.id).where(evaluator.c.role == "human").limit(1)
        return connection.execute(label).first() is not None


def prompts(store: Store, run: Run, task: str, ids: Collection[str]) -> dict[str, str]:
    """Return the texts of some prompts of a run, by id."""
    query = (
        select(response.c.sample_id, sample.c.input)
        .join(sample, sample.c.hash == response.c.sample_hash)
        .where(response.c.run_id == run.id, response.c.task == task, response.c.sample_id.in_(ids))
    )
    with store.connect() as connection:
        inputs = {sample_id: json.loads(text) for sample_id, text in connection.execute(query)}
    return {name: value if isinstance(value, str) else value[-1][1] for name, value in inputs.items()}


def texts(
    store: Store, runs: Collection[Run], task: str, ids: Collection[str]
) -> dict[tuple[str, str], list[str]]:
    """Return the answers of runs to some prompts, by run and prompt, sorted by repeat."""
    query = (
        select(response.c.run_id, response.c.sample_id, response.c.text)
        .where(
            response.c.run_id.in_([run.id for run in runs]),
            response.c.task == task,
            response.c.sample_id.in_(ids),
        )
        .order_by(response.c.run_id, response.c.sample_id, response.c.repeat)
    )
    answers: dict[tuple[str, str], list[str]] = defaultdict(list)
    with store.connect() as connection:
        for run_id, sample_id, text in connection.execute(query):
            answers[run_id, sample_id].append(text)
    return answers


def matching(store: Store, runs: Collection[Run], task: str, text: str, tag: str) -> set[str]:
    """Return the prompts of runs that have a text in prompt or answer, and a tag in their metadata."""
    query = (
        select(response.c.sample_id)
        .join(sample, sample.c.hash == response.c.sample_hash)
        .where(response.c.run_id.in_([run.id for run in runs]), response.c.task == task)
        .distinct()
    )
    if text:
        has_text = (column.icontains(text, autoescape=True) for column in (response.c.text, sample.c.input))
        query = query.where(or_(*has_text))
    if tag:
        query = query.where(
            as_type(sample.c.metadata, String).contains(json.dumps(tag, ensure_ascii=False), autoescape=True)
        )
    with store.connect() as connection:
        return set(connection.execute(query).scalars())


def tags(store: Store, run: Run, task: str) -> list[str]:
    """Return the short texts in the metadata of a task's samples that several samples have."""
    query = (
        select(sample.c.metadata, func.count())
        .join(response, sample.c.hash == response.c.sample_hash)
        .where(response.c.run_id == run.id, response.c.task == task)
        .group_by(sample.c.metadata)
    )
    counts: Counter[str] = Counter()
    with store.connect() as connection:
        for metadata, count in connection.execute(query):
            lists = (value if isinstance(value, list) else [value] for value in json.loads(metadata).values())
            for tag in {tag for values in lists for tag in values if isinstance(tag, str) and tag}:
                counts[tag] += count if len(tag) <= MAX_TAG else 0
    return sorted(tag for tag, count in counts.items() if count > 1)[:MAX_TAGS]


class Progress(NamedTuple):
    """How far a run is."""

    answers: int
    expected: int | None
    usage: dict[str, Usage]
    """Calls and tokens by model."""


def progress(store: Store, run: Run) -> Progress:
    """Return the answers and calls that a run has stored so far."""
    answers = select(func.count()).select_from(response).where(response.c.run_id == run.id)
    sums = (func.sum(attempt.c[name]).label(name) for name in USAGE_FIELDS)
    calls = select(attempt.c.model, *sums).where(attempt.c.run_id == run.id).group_by(attempt.c.model)
    with store.connect() as connection:
        done = connection.execute(answers).scalar_one()
        rows = [dict(columns) for columns in connection.execute(calls).mappings()]
    return Progress(done, _expected(run), {row.pop("model"): Usage(**row) for row in rows})


def _expected(run: Run) -> int | None:
    """Return how many answers a run will have; None if that is not recorded."""
    tasks = run.facts.get("tasks")
    try:
        return sum(facts["samples_taken"] * int(facts["repeats"]) for facts in tasks.values())  # type: ignore[attr-defined]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
