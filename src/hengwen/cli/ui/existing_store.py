"""Open a store that must exist: commands that only read do not create one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.store import Store


def open_existing_store(location: str) -> Store:
    """Open a store that must exist.

    Args:
        location: Path or URL.

    Raises:
        ConfigError: There is no such file.
    """
    from hengwen.errors import ConfigError
    from hengwen.store import open_store

    if "://" not in location and not Path(location).exists():
        raise ConfigError(f"{location}: no such store; name one with --store, or create it with: hengwen run")
    return open_store(location)
