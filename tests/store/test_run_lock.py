"""One process at a time holds the lock of a plan; others read who it is; a dead process holds nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rows import each_row
from sqlalchemy import make_url

from hengwen.errors import StoreError
from hengwen.runs.plan_lock import FileLock, ServerLock, lock_of
from hengwen.store.database import Database, sqlite_path
from hengwen.store.store import Store, open_store

HOLD = """
import sys, time
from hengwen.runs.plan_lock import lock_of
from hengwen.store.store import open_store
lock = lock_of(open_store(sys.argv[1]), "p")
print(lock.acquire(), flush=True)
time.sleep(600)
"""


@contextmanager
def other_process(location: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that holds the lock of plan p."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, location], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "True\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def store(file_store: Store) -> Store:
    return file_store


def lock(store: Store, plan: str) -> Any:
    taken = lock_of(store, plan)
    assert taken is not None
    return taken


def is_held_by(owner: str, pid: int) -> bool:
    return bool(re.fullmatch(rf"process {pid} on \S+ since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC", owner))


def test_the_lock_of_a_plan_is_held_once_and_names_its_owner(store: Store, tmp_path: Path) -> None:
    first, second = lock(store, "p"), lock(store, "p")
    assert (first.acquire(), second.acquire()) == (True, False)
    assert is_held_by(second.owner(), os.getpid())
    assert (tmp_path / "x.db.p.lock").exists()
    first.release()
    assert not (tmp_path / "x.db.p.lock").exists()
    assert second.acquire()
    second.release()


def test_two_plans_of_one_store_have_two_locks(store: Store) -> None:
    first, second = lock(store, "p"), lock(store, "q")
    assert (first.acquire(), second.acquire()) == (True, True)
    first.release()
    second.release()


def test_a_store_that_is_reached_by_a_link_has_the_same_lock(store: Store, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "x.db")
    first = lock(store, "p")
    assert first.acquire()
    with open_store(tmp_path / "link.db") as linked:
        assert not lock(linked, "p").acquire()
    first.release()


@pytest.mark.slow
def test_a_killed_owner_does_not_block(store: Store) -> None:
    held = lock(store, "p")
    with other_process(store.name) as process:
        assert not held.acquire()
        assert is_held_by(held.owner(), process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert held.acquire()
    assert is_held_by(held.owner(), os.getpid())
    held.release()


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_no_lock_is_written_through_a_link(tmp_path: Path, link: str) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    getattr(tmp_path / "x.lock", link)(tmp_path / "mine.txt")
    with pytest.raises(
        StoreError, match=r"x.lock: is a link to another file, which a run would overwrite; remov"
    ):
        FileLock(tmp_path / "x.lock").acquire()
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"


def test_a_file_that_names_no_owner_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("\x1b[31mhengwen 1 now here\n")
    assert FileLock(path).owner() == "another process"
    assert FileLock(tmp_path / "none").owner() == "another process"


def test_a_lock_file_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "x.lock").mkdir()
    with pytest.raises(StoreError, match=r"x.lock: Is a directory; a run needs this file to lock the store$"):
        FileLock(tmp_path / "x.lock").acquire()


@each_row(
    ("location", "name"),
    [
        ("sqlite://", None),
        ("sqlite:///:memory:", None),
        ("sqlite:///file:x?mode=memory&uri=true", None),
        ("sqlite:///file:my%20x.db?mode=rw&uri=true", "my x.db"),
        ("sqlite:///x.db", "x.db"),
    ],
)
def test_a_database_in_memory_has_no_path_and_so_no_lock(location: str, name: str | None) -> None:
    path = sqlite_path(make_url(location))
    assert path == (None if name is None else Path(name))


def test_a_store_in_memory_needs_no_lock() -> None:
    with open_store("sqlite://") as store:
        assert lock_of(store, "p") is None


class FakeConnection:
    """The part of a PostgreSQL connection that the lock uses; ``server`` holds the locks of all sessions."""

    def __init__(self, server: dict[tuple[int, int], FakeConnection]) -> None:
        self.server, self.name, self.detached, self.invalidated = server, "", False, False

    def __enter__(self) -> FakeConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def execution_options(self, **options: str) -> FakeConnection:
        assert options == {"isolation_level": "AUTOCOMMIT"}
        return self

    def execute(self, statement: object, values: dict[str, Any]) -> Any:
        if "set_config" in str(statement):
            self.name = values["name"]
            return None
        key = (values["high"], values["low"])
        assert all(0 <= part < 2**31 for part in key)
        if "pg_try_advisory_lock" in str(statement):
            is_free = key not in self.server
            self.server.setdefault(key, self)
            return SimpleNamespace(scalar_one=lambda: is_free)
        return SimpleNamespace(scalar=lambda: self.server[key].name if key in self.server else None)

    def detach(self) -> None:
        self.detached = True

    def close(self) -> None:
        if self.detached:
            for key in [key for key, holder in self.server.items() if holder is self]:
                del self.server[key]


def test_a_lock_of_postgresql_lives_as_long_as_its_session() -> None:
    server: dict[tuple[int, int], FakeConnection] = {}
    engine = SimpleNamespace(
        connect=lambda: FakeConnection(server),
        dialect=SimpleNamespace(name="postgresql"),
        url=make_url("x://"),
    )
    store = Store(Database(engine=engine))
    first, second, other = lock(store, "p"), lock(store, "p"), lock(store, "q")
    assert isinstance(first, ServerLock)
    assert first.owner() == "another process"
    assert (first.acquire(), second.acquire(), other.acquire()) == (True, False, True)
    assert is_held_by(second.owner(), os.getpid())
    second.release()  # holds nothing
    first.release()
    assert second.acquire()


@pytest.mark.slow
def test_the_lock_of_a_real_postgresql(postgres: str) -> None:
    with open_store(postgres) as store, other_process(postgres) as process:
        held = lock(store, "p")
        assert not held.acquire()
        assert is_held_by(held.owner(), process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait()
        while not held.acquire():  # the server notices the end of the session
            pass
        assert is_held_by(held.owner(), os.getpid())
        held.release()
        assert held.owner() == "another process"
