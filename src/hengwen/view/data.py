"""The store that pages show: read-only, opened again where its file was replaced; results are kept."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReady
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy import func, select

from hengwen.errors import StoreError
from hengwen.results.score_table import ScoreTable
from hengwen.store import open_store, store_files
from hengwen.store.tables import HAS_FAILURE, evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Sequence

    from hengwen.records import Run
    from hengwen.score_id import ScoreId
    from hengwen.store import Store

T = TypeVar("T")
MAX_KEPT = 300
"""Number of results that are kept, the ones used last; of 100 checkpoints, each has some."""
PATIENCE = 0.1
"""Seconds that a page waits for a result that takes longer; then it is drawn without."""


class StoreData:
    """What pages read of a store."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._lock = RLock()
        self._store: Store | None = None
        self._file: tuple[int, int] | None = None
        self._kept: OrderedDict[Hashable, object] = OrderedDict()
        self._last_id = 0
        self._writes: dict[str, int] = {}
        self._worker = ThreadPoolExecutor(1)
        self._next: Future[Any] | None = None
        self.starts: dict[str, tuple[float, int]] = {}
        """When a running run was first asked for, and how many answers it had then: for the time left."""

    @property
    def name(self) -> str:
        """The last part of the path or URL, for the heads of pages."""
        return self.store.name.rpartition("/")[2]

    @property
    def store(self) -> Store:
        """The store, open for reading.

        Raises:
            StoreError: The store is not there any more, or cannot be read.
        """
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
                location = f"{files[0].absolute().as_uri()}?mode=ro" if files else self.location
                self._store, self._file = open_store(location), file
            return self._store

    def close(self) -> None:
        """Close the store; what is still computed is given up."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._forget()

    def _forget(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None
            self._kept.clear()
            self._writes.clear()
            self._last_id = 0

    def states(self, runs: Sequence[Run]) -> tuple[Hashable, ...]:
        """Return for each run a value that changes whenever answers or scores of the run do."""
        with self.store.connect() as connection, self._lock:
            last = connection.execute(select(func.max(evaluation.c.id))).scalar() or 0
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
        return result

    def awaited(self, name: Hashable, runs: Sequence[Run], compute: Callable[[], T]) -> T | None:
        """Return a result that may take long; None if it is not ready yet: ask again in a second."""
        key = name, self.states(runs)
        with self._lock:
            future = cast("Future[T] | None", self._kept.get(key))
            if future is None or future.cancelled():
                if self._next is not None:
                    self._next.cancel()  # the reader went on to another page; what is computed goes on
                future = self._next = self._worker.submit(compute)
                self._kept[key] = future
        try:
            return future.result(PATIENCE)
        except NotReady:
            return None

    def table(self, runs: Sequence[Run], scores: Collection[ScoreId] | None = None) -> ScoreTable:
        """Return the outcomes of runs, by default of all scores; each run is read once."""
        names = None if scores is None else frozenset(scores)
        whole = ScoreTable()
        for run, state in zip(runs, self.states(runs), strict=True):

            def read(run: Run = run) -> ScoreTable:
                return self.store.table([run], names)

            whole.series |= self._get(("table", names, state), read).series
        return whole
