"""The store that pages show: read-only, opened again where its file was replaced; results are kept."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import TYPE_CHECKING, TypeVar, cast

from sqlalchemy import func, select

from hengwen.errors import StoreError
from hengwen.store import Store, open_store, store_files
from hengwen.store.tables import HAS_FAILURE, evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from hengwen.records import Run

T = TypeVar("T")
MAX_KEPT = 64
"""Number of results that are kept, the ones used last."""


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
                    self.close()
                    raise StoreError(
                        f"{files[0]}: no such store; it was there when this command began"
                    ) from None
                file = state.st_dev, state.st_ino
            if self._store is None or file != self._file:
                self.close()
                location = f"{files[0].absolute().as_uri()}?mode=ro" if files else self.location
                self._store, self._file = open_store(location), file
            return self._store

    def close(self) -> None:
        """Close the store, and forget what was read from it."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None
            self._kept.clear()
            self._writes.clear()
            self._last_id = 0

    def states(self, runs: Sequence[Run]) -> tuple[Hashable, ...]:
        """Return for each run a value that changes whenever answers or scores of the run do."""
        number, failures = func.max(evaluation.c.id), func.count()
        with self.store.connect() as connection, self._lock:
            last = connection.execute(select(number)).scalar() or 0
            if last != self._last_id:
                since = (
                    select(evaluation.c.run_id).where(evaluation.c.id > min(last, self._last_id)).distinct()
                )
                for run_id in connection.execute(since).scalars():
                    self._writes[run_id] = self._writes.get(run_id, 0) + 1
                self._last_id = last
            failed: dict[str, int] = dict(
                connection.execute(
                    select(evaluation.c.run_id, failures).where(HAS_FAILURE).group_by(evaluation.c.run_id)
                )
                .tuples()
                .all()
            )
        return tuple((run.id, run.status, self._writes.get(run.id, 0), failed.get(run.id, 0)) for run in runs)

    def kept(self, key: Hashable, runs: Sequence[Run], compute: Callable[[], T]) -> T:
        """Return a result about runs; it is computed again once one of the runs has changed."""
        whole = key, self.states(runs)
        with self._lock:
            if whole in self._kept:
                self._kept.move_to_end(whole)
                return cast("T", self._kept[whole])
        result = compute()
        with self._lock:
            self._kept[whole] = result
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return result
