"""A lock of the operating system on a file beside a SQLite store; the file names its owner."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from hengwen.errors import StoreError
from hengwen.store.run_lock import LockOwner

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


class PlanFileLock:
    """A lock on a file; see ``RunLock``.

    Args:
        path: The file. It exists while a process holds the lock, and after a crash.
    """

    def __init__(self, path: Path) -> None:
        from filelock import FileLock

        self._path = path
        self._lock = FileLock(path)

    def acquire(self) -> bool:
        """Take the lock if it is free; return whether it was."""
        from filelock import Timeout

        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        except OSError as error:
            raise StoreError(
                f"{self._path}: {error.strerror or error}; a run needs this file to lock the store"
            ) from None
        with suppress(OSError):  # Windows denies access to a locked file; then the owner is unknown
            self._path.write_text(str(LockOwner.of_this_process()), "ascii")
        return True

    def owner(self) -> LockOwner | None:
        """Return who holds the lock, as far as the file says."""
        try:
            return LockOwner.parse(self._path.read_text("ascii"))
        except (OSError, ValueError):
            return None

    def release(self) -> None:
        """Release the lock, and remove the file while no other process can hold it."""
        with suppress(OSError):
            self._path.unlink()
        self._lock.release()


def sqlite_path(url: URL) -> Path | None:
    """Return the path of a SQLite file without links, or None for a database in memory.

    Args:
        url: URL of the database; its path may be a ``file:`` URI.

    Examples:
        >>> from sqlalchemy import make_url
        >>> sqlite_path(make_url("sqlite:////tmp/./x.db")).name
        'x.db'
        >>> sqlite_path(make_url("sqlite:///file:y.db?mode=rwc&uri=true")).name
        'y.db'
        >>> sqlite_path(make_url("sqlite://")) is None
        True
    """
    name = url.database or ""
    if name.startswith("file:"):
        parts = urlsplit(name)
        if parse_qs(parts.query).get("mode") == ["memory"] or url.query.get("mode") == "memory":
            return None
        name = unquote(parts.path)
    return Path(name).resolve() if name and name != ":memory:" else None
