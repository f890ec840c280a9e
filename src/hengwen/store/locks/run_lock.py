"""The lock of a plan in a store: only its holder may run the plan, and other processes can see the holder."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
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


class RunLock(Protocol):
    """A lock that the system releases when the process that holds it ends, even if it is killed."""

    def acquire(self) -> bool:
        """Take the lock if it is free, without waiting; return whether it was taken.

        Raises:
            StoreError: The lock can be neither taken nor tested.
        """
        ...

    def owner(self) -> LockOwner | None:
        """Return the process that holds the lock; None if no process holds it, or if it is unknown."""
        ...

    def release(self) -> None:
        """Release the lock, which this object holds."""
        ...


def run_lock(store: Store, plan: str) -> RunLock | None:
    """Return the lock that a process holds while it runs a plan; None for a database in memory."""
    engine = store.writable_engine()
    if engine.dialect.name == "postgresql":
        from hengwen.store.locks.advisory_lock import AdvisoryLock

        return AdvisoryLock(engine, plan)
    from hengwen.store.location import sqlite_path
    from hengwen.store.locks.file_lock import PlanFileLock

    path = sqlite_path(engine.url)
    if path is None:
        return None
    path = path.resolve()  # different names of one store must give the same lock
    return PlanFileLock(path.with_name(f"{path.name}.{plan}.lock"))
