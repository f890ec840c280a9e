"""An empty store and a way to fill it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hengwen.records import Attempt, Row, Run
from hengwen.store.store import Store, open_store


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    """An empty store in a SQLite file."""
    with open_store(tmp_path / "x.db") as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store in a SQLite file, and one on a PostgreSQL server."""
    if request.param == "sqlite":
        yield request.getfixturevalue("file_store")
        return
    with open_store(request.getfixturevalue("postgres")) as opened:
        yield opened


@pytest.fixture
def record(store: Store) -> Callable[..., None]:
    """Record runs, rows and attempts in the store, in one transaction."""

    def write(*entries: Run | Row | Attempt) -> None:
        ledger = store.ledger()
        for entry in entries:
            if isinstance(entry, Run):
                ledger.begin(entry)
            elif isinstance(entry, Row):
                ledger.record_rows([entry])
            else:
                ledger.record_attempt(entry)
        ledger.commit()

    return write
