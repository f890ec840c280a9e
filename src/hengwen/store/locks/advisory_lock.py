"""A plan lock in PostgreSQL: an advisory lock of a session; its application name identifies the process."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import text

from hengwen.errors import StoreError
from hengwen.records import digest
from hengwen.store.database import store_errors
from hengwen.store.locks.plan_lock import LockOwner

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

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
    """A lock on a plan, held by one database session; ``RunLock`` describes its methods.

    The server releases the lock when the session ends.
    """

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
