"""Write a file atomically: other programs see the complete old file or the complete new file."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, HengwenError
from hengwen.io.output_target import check_file

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PREFIX = 40
"""The name of the temporary file contains at most this many characters of the file's name, because file
systems limit names to 255 bytes."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file that replaces ``path`` if the ``with`` block ends without an error.

    The permissions of an existing file are kept. If the file has a second name (hard link), the second name
    keeps the old content.

    Args:
        path: The file to write; its folder exists.

    Raises:
        ConfigError: The file cannot be written, or the path is a link.

    Examples:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     target = Path(folder, "x.txt")
        ...     with atomic_write(target) as temporary:
        ...         _ = temporary.write_text("new")
        ...     target.read_text(), len(os.listdir(folder))
        ('new', 1)
    """
    check_file(path)
    temporary: Path | None = None
    try:
        prefix = f".{path.name[:MAX_PREFIX]}."
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=".part", dir=path.parent)
        temporary = Path(name)
        os.close(handle)
        yield temporary
        temporary.chmod(_mode(path))
        temporary.replace(path)
    except HengwenError:  # raised by the with block; caught first because a StoreError is also an OSError
        raise
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """Return the permissions of an existing file, or the usual permissions of a new file (umask)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
