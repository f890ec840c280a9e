"""The lock of a plan: who holds it, what it does, and the lock on a file next to an SQLite store."""

from __future__ import annotations

import os
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from hengwen.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


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


class PlanFileLock:
    """A lock on a file; ``RunLock`` describes its methods."""

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
