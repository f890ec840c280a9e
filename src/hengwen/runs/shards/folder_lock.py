"""Let only one command at a time score into a folder."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK = ".lock"
"""Name of the lock file. The file is never removed: a command could lock a new file of this name while
another command still holds the lock of the removed file."""


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of scores in the ``with`` block."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise ConfigError(f"{folder}: another command scores into it; wait for it") from None
    except OSError:
        pass
    try:
        yield
    finally:
        lock.release()
