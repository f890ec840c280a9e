"""Store runs, answers, calls and scores in SQLite or another database that SQLAlchemy supports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.store.export import Rows as Rows, rows as rows
    from hengwen.store.database import store_files as store_files
    from hengwen.store.store import Store as Store, open_store as open_store

_EXPORTS = {
    "database": "store_files",
    "export": "Rows rows",
    "store": "Store open_store",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
