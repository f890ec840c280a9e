"""The lock of a plan: who holds it, what it does, and the lock on a file next to an SQLite store."""

from __future__ import annotations

import os
import re
import secrets
import socket
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from hengwen.errors import ConfigError, StoreError
from hengwen.records import digest
from hengwen.store.database import store_errors
from hengwen.store.location import display_url

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from hengwen.store.store import Store


@dataclass(frozen=True, slots=True)
class LockOwner:
    """The process that holds a lock."""

    pid: int
    host: str
    since: str
    """Time in UTC at which the process took the lock."""

    @classmethod
    def of_this_process(cls) -> LockOwner:
        """Return this process as the owner of a lock that it takes now."""
        host = re.sub(r"[^\w.-]", "_", socket.gethostname(), flags=re.ASCII) or "localhost"
        return cls(os.getpid(), host, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")

    @classmethod
    def parse(cls, line: str) -> LockOwner | None:
        """Parse the text of ``str(owner)`` and return the owner; None if the text has another form."""
        match = re.fullmatch(
            r"hengwen (\d{1,10}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) ([\w.-]+)", line, re.ASCII
        )
        return cls(int(match[1]), match[3], match[2]) if match else None

    def __str__(self) -> str:
        return f"hengwen {self.pid} {self.since} {self.host}"


class PlanFileLock:
    """A lock on a file, which the system releases when the process ends, even if it is killed."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock

        self._path = path
        self._lock = FileLock(path)

    def acquire(self) -> bool:
        """Take the lock if it is free; return whether it was taken."""
        from filelock import Timeout

        try:
            if self._path.is_symlink() or (self._path.is_file() and self._path.stat().st_nlink > 1):
                raise StoreError(
                    f"{self._path}: is a link to another file, which a run would overwrite; remove it"
                )
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(
                f"{self._path}: {error.strerror or error}; a run needs this file to lock the store"
            ) from None
        with suppress(OSError):  # Windows denies access to a locked file; then the owner is unknown
            self._path.write_text(str(LockOwner.of_this_process()), "ascii")
        return True

    def owner(self) -> LockOwner | None:
        """Return the process that holds the lock; None if the file does not state it."""
        try:
            return LockOwner.parse(self._path.read_text("ascii"))
        except (OSError, ValueError):
            return None

    def release(self) -> None:
        """Remove the lock file if possible, and release the lock."""
        with suppress(OSError):
            self._path.unlink()
        self._lock.release()


MAX_NAME_BYTES = 63
"""Maximum length of an application name in bytes; PostgreSQL cuts longer names."""
_TRY_LOCK = text("SELECT pg_try_advisory_lock(:high, :low)")
_UNLOCK = text("SELECT pg_advisory_unlock(:high, :low)")
_NAME = text("SELECT set_config('application_name', :name, false)")
_OWNER = text(
    "SELECT activity.application_name FROM pg_locks AS held JOIN pg_stat_activity AS activity USING (pid) "
    "WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 2 "
    "AND held.classid::bigint = :high AND held.objid::bigint = :low "
    "AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def plan_key(plan: str) -> dict[str, int]:
    """Return the key of a plan's lock: a hash as two positive 32-bit integers."""
    key = int(digest("hengwen run", plan)[:16], 16)
    return {"high": key >> 33, "low": key & 0x7FFFFFFF}


class AdvisoryLock:
    """A lock on a plan, which the server releases when the database session that holds it ends."""

    def __init__(self, engine: Engine, plan: str) -> None:
        self._engine = engine
        self._key = plan_key(plan)
        self._connection: Connection | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; return whether it was taken."""
        with store_errors(self._engine):
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            try:
                if connection.execute(_TRY_LOCK, self._key).scalar_one():
                    name = str(LockOwner.of_this_process())[:MAX_NAME_BYTES]
                    connection.execute(_NAME, {"name": name})
                    self._connection = connection
            finally:
                if self._connection is None:
                    connection.close()
        return self._connection is not None

    def owner(self) -> LockOwner | None:
        """Return the process that holds the lock; None if no process holds it, or if it is unknown."""
        return plan_owner(self._engine, self._key)

    def release(self) -> None:
        """Release the lock and end its database session."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            with suppress(StoreError), store_errors(self._engine):  # a lost session holds no lock
                connection.execute(_UNLOCK, self._key)
        finally:
            if not connection.invalidated:
                connection.detach()  # the pool must not keep a session that may still hold the lock
            connection.close()


def plan_owner(engine: Engine, key: dict[str, int]) -> LockOwner | None:
    """Return a process that holds the lock of a plan; None if no process holds it, or if it is unknown."""
    with store_errors(engine), engine.connect() as connection:
        name = connection.execute(_OWNER, key).scalar()
    return LockOwner.parse(name or "")


SESSION_SETTINGS = {
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "idle_session_timeout": "0",
    "default_transaction_isolation": "read committed",
}
"""Settings by which the server ends the session of a silent machine, with its claims, after a minute."""

_SESSION = "SELECT current_setting('hengwen.claims', true)"
_BEGIN = """
SELECT set_config('hengwen.claims', %(token)s, false), set_config('application_name', %(name)s, false),
    (SELECT count(set_config(name, value, false)) FROM pg_settings
        JOIN unnest(%(names)s::text[], %(values)s::text[]) AS new (name, value) USING (name))
"""
_EXCHANGE = """
SELECT current_setting('hengwen.claims', true),
    (SELECT count(pg_advisory_unlock(key)) FROM unnest(%(released)s::bigint[]) AS key),
    ARRAY(SELECT pg_try_advisory_lock(key) FROM unnest(%(taken)s::bigint[]) WITH ORDINALITY AS t (key, n)
        ORDER BY n)
"""
_COMPLETED = "SELECT unit FROM completed_unit WHERE unit = ANY(%s)"
_STORED = "SELECT DISTINCT call_key FROM attempt WHERE call_key = ANY(%s)"
_LOCK_PLAN = "SELECT pg_try_advisory_lock_shared(%(high)s, %(low)s)"
_FORGET = "DELETE FROM completed_unit WHERE run_id = %s"
_OTHERS = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock' AND pid <> pg_backend_pid()
    AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def lock_key(name: str) -> int:
    """Return the key of a lock: the first 64 bits of a hash as a signed integer."""
    return int(name[:16], 16) - 2**63


class AdvisoryClaims:
    """The claims of one process: advisory locks on the samples and calls that it works on."""

    # Only one thread at a time may call a method.

    def __init__(self, store: Store) -> None:
        self._engine: Engine = store.writable_engine()
        self._name = display_url(self._engine.url)
        if self._engine.dialect.name != "postgresql":
            raise ConfigError(
                f"{self._name}: processes can share a plan only in a PostgreSQL store: "
                "--store postgresql://USER@HOST/DATABASE"
            )
        self._token = secrets.token_hex(8)
        with store_errors(self._engine):
            pooled = self._engine.raw_connection()
            self._connection: Any = pooled.dbapi_connection
            pooled.detach()  # the connection pool must not keep a session that holds claims
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        self._connection.autocommit = True
        token = self._scalar(_SESSION, ())
        if token:  # another process uses the same session
            self._check_token(token)
        begin = {
            "token": self._token,
            "name": str(LockOwner.of_this_process())[:MAX_NAME_BYTES],
            "names": list(SESSION_SETTINGS),
            "values": list(SESSION_SETTINGS.values()),
        }
        self._execute(_BEGIN, begin)

    def exchange(
        self, released: Sequence[str], units: Sequence[str], calls: Sequence[str]
    ) -> tuple[list[bool], set[str], set[str]]:
        """Release claims and take others; see ``ClaimSession``."""
        keys = {
            "released": [lock_key(name) for name in released],
            "taken": [lock_key(name) for name in (*units, *calls)],
        }
        ((token, _, taken),) = self._execute(_EXCHANGE, keys)
        self._check_token(token)
        # these statements see all that was committed before the locks were taken
        completed = {name for (name,) in self._execute(_COMPLETED, (list(units),))} if units else set()
        stored = {key for (key,) in self._execute(_STORED, (list(calls),))} if calls else set()
        return taken, completed, stored

    def _execute(self, statement: str, values: Any) -> Sequence[Any]:
        """Execute a statement on a cursor of the driver, which is faster than SQLAlchemy; return the rows."""
        with store_errors(self._engine), closing(self._connection.cursor()) as cursor:
            cursor.execute(statement, values)
            rows: Sequence[Any] = cursor.fetchall() if cursor.description else ()
            return rows

    def _check_token(self, token: str | None) -> None:
        if token != self._token:
            raise StoreError(
                f"{self._name}: a connection pooler moves the statements of this connection to different "
                "sessions of the server, so it can hold no lock; connect to the server itself, or let the "
                "pooler work by session"
            )

    def lock_plan(self, plan: str) -> bool:
        """Take a plan's lock together with the processes that share the plan; return whether it was taken."""
        return bool(self._scalar(_LOCK_PLAN, plan_key(plan)))

    def owner(self, plan: str) -> LockOwner | None:
        """Return a process that runs a plan; None if no process runs it, or if the process is unknown."""
        return plan_owner(self._engine, plan_key(plan))

    def lock(self, *name: str, shared: bool = False) -> bool:
        """Take a lock if it is free or, with ``shared``, if all holders share it; see ``ClaimSession``."""
        suffix = "_shared" if shared else ""
        return bool(self._scalar(f"SELECT pg_try_advisory_lock{suffix}(%s)", (lock_key(digest(*name)),)))

    def unlock(self, *name: str, shared: bool = False) -> None:
        """Release a lock; see ``ClaimSession``."""
        suffix = "_shared" if shared else ""
        self._scalar(f"SELECT pg_advisory_unlock{suffix}(%s)", (lock_key(digest(*name)),))

    def is_shared(self, *name: str) -> bool:
        """Return whether another process holds the lock ``name`` as a shared lock; see ``ClaimSession``."""
        return bool(self._scalar(_OTHERS, (lock_key(digest(*name)),)))

    def forget_completed_units(self, run_id: str) -> None:
        """Remove the records that say which units (such as samples) of a run are completed."""
        self._execute(_FORGET, (run_id,))

    def _scalar(self, statement: str, values: Any) -> Any:
        return self._execute(statement, values)[0][0]

    def close(self) -> None:
        """End the session, if it has not ended; the server releases all locks."""
        self._connection.close()
