"""A plan lock for SQLite: an operating-system lock on a file next to the store, which names the process."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from hengwen.errors import StoreError
from hengwen.store.locks.run_lock import LockOwner

if TYPE_CHECKING:
    from pathlib import Path


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
