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
    """Yield an empty temporary file that replaces ``path`` if the ``with`` block ends without an error."""
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
    """Return the permissions of an existing file; a new file, which may hold answers, is for its owner."""
    return target.stat().st_mode & 0o777 if target.exists() else 0o600
