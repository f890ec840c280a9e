"""Claims of one process on samples and calls: advisory locks of one PostgreSQL session.

The server releases all locks of a session when the session ends, so a process that dies holds no claim. All
claims of a process are locks of the same session, because a session costs the server some megabytes.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, StoreError
from hengwen.records import digest
from hengwen.store.database import store_errors
from hengwen.store.location import display_url
from hengwen.store.locks.advisory_lock import MAX_NAME_BYTES, plan_key, plan_owner
from hengwen.store.locks.plan_lock import LockOwner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from hengwen.store.store import Store

SESSION_SETTINGS = {
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "idle_session_timeout": "0",
    "default_transaction_isolation": "read committed",
}
"""Settings of the session. After a minute without a sign of life of this machine, the server ends the session
and so releases its claims; without these settings, Linux would wait for two hours."""

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
    """The claims of one process: advisory locks on the samples and calls that it works on.

    Only one thread at a time may call a method.
    """

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
