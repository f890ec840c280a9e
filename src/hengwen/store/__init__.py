"""Store runs, answers, calls and scores in SQLite or another database that SQLAlchemy supports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.store.export import Rows, rows
    from hengwen.store.location import store_files
    from hengwen.store.store import Store, open_store

_EXPORTS = {
    "Rows": "export",
    "Store": "store",
    "open_store": "store",
    "rows": "export",
    "store_files": "location",
}

__all__ = [
    "Rows",
    "Store",
    "open_store",
    "rows",
    "store_files",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
