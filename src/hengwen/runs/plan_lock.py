"""The lock of a plan: one process runs it at a time, because two would pay for every call twice."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from hengwen.engine.limits import interruptible_sleep
from hengwen.errors import StoreBusyError, StoreError
from hengwen.records import digest
from hengwen.store.database import sqlite_path, store_errors
from hengwen.store.store import Store

LOCK_SECONDS = 0.5
"""Seconds between two attempts to take the lock of a plan that another process runs."""
MAX_NAME_BYTES = 63
"""Maximum length of an application name in bytes; PostgreSQL cuts longer names."""
_TRY_LOCK = text("SELECT pg_try_advisory_lock(:high, :low)")
_NAME = text("SELECT set_config('application_name', :name, false)")
_OWNER = text(
    "SELECT activity.application_name FROM pg_locks AS held JOIN pg_stat_activity AS activity USING (pid) "
    "WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 2 "
    "AND held.classid::bigint = :high AND held.objid::bigint = :low "
    "AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@asynccontextmanager
async def plan_lock(
    store: Store, plan: str, stopping: asyncio.Event, *, wait: bool | Callable[[str], None]
) -> AsyncIterator[None]:
    """Hold the lock of a plan, so that no other process runs the plan at the same time."""
    lock = lock_of(store, plan)
    is_waiting = False
    while lock is not None and not lock.acquire():
        owner = lock.owner()
        if not wait:
            raise StoreBusyError(
                f"{store.name}: plan {plan!r} is being run by {owner}; wait for it with --wait", owner=owner
            )
        if callable(wait) and not is_waiting:
            wait(owner)
        is_waiting = True
        await interruptible_sleep(LOCK_SECONDS, stopping)
        if stopping.is_set():
            raise asyncio.CancelledError
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def lock_of(store: Store, plan: str) -> ServerLock | FileLock | None:
    """Return the lock of a plan; None for a database in memory."""
    engine = store.writable_engine()
    if engine.dialect.name == "postgresql":
        return ServerLock(engine, plan)
    path = sqlite_path(engine.url)
    if path is None:
        return None
    path = path.resolve()  # different names of one store must give the same lock
    return FileLock(path.with_name(f"{path.name}.{plan}.lock"))


def _this_process() -> str:
    host = re.sub(r"[^\w.-]", "_", socket.gethostname(), flags=re.ASCII) or "localhost"
    return f"hengwen {os.getpid()} {datetime.now(UTC):%Y-%m-%d %H:%M:%S} {host}"


def _describe(line: str) -> str:
    """Return who holds a lock, from the text of ``_this_process``; anything else names nobody."""
    match = re.fullmatch(r"hengwen (\d{1,10}) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) ([\w.-]+)", line, re.ASCII)
    return f"process {match[1]} on {match[3]} since {match[2]} UTC" if match else "another process"


class FileLock:
    """A lock on a file beside a SQLite store; the system releases it when the process ends or is killed."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock as SystemLock

        self._path = path
        self._lock = SystemLock(path)

    def acquire(self) -> bool:
        """Take the lock if it is free; return whether it was taken."""
        from filelock import Timeout

        if self._path.is_symlink() or (self._path.is_file() and self._path.stat().st_nlink > 1):
            raise StoreError(
                f"{self._path}: is a link to another file, which a run would overwrite; remove it"
            )
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        except OSError as error:
            raise StoreError(
                f"{self._path}: {error.strerror or error}; a run needs this file to lock the store"
            ) from None
        with suppress(OSError):  # Windows denies access to a locked file; then the owner is unknown
            self._path.write_text(_this_process(), "ascii")
        return True

    def owner(self) -> str:
        """Return who holds the lock, for messages."""
        try:
            return _describe(self._path.read_text("ascii"))
        except (OSError, ValueError):
            return _describe("")

    def release(self) -> None:
        """Remove the lock file if possible, and release the lock."""
        with suppress(OSError):
            self._path.unlink()
        self._lock.release()


class ServerLock:
    """An advisory lock of PostgreSQL, which the server releases when the session that holds it ends."""

    def __init__(self, engine: Engine, plan: str) -> None:
        key = int(digest("hengwen run", plan)[:16], 16)
        self._key = {"high": key >> 33, "low": key & 0x7FFFFFFF}
        self._engine = engine
        self._connection: Connection | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; return whether it was taken."""
        with store_errors(self._engine):
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            try:
                if connection.execute(_TRY_LOCK, self._key).scalar_one():
                    connection.execute(_NAME, {"name": _this_process()[:MAX_NAME_BYTES]})
                    self._connection = connection
            finally:
                if self._connection is None:
                    connection.close()
        return self._connection is not None

    def owner(self) -> str:
        """Return who holds the lock, for messages."""
        with store_errors(self._engine), self._engine.connect() as connection:
            return _describe(connection.execute(_OWNER, self._key).scalar() or "")

    def release(self) -> None:
        """End the session that holds the lock."""
        connection, self._connection = self._connection, None
        if connection is not None:
            if not connection.invalidated:
                connection.detach()  # the pool must not keep the session; a lost one holds no lock
            connection.close()
