"""Open the store of a command; commands that only read do not create a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.store import Store


def open_existing_store(location: str) -> Store:
    """Open a store that must exist."""
    from hengwen.errors import ConfigError
    from hengwen.store import store_files

    files = store_files(location)
    if files and not files[0].exists():
        raise ConfigError(f"{location}: no such store; name one with --store, or create it with: hengwen run")
    return open_or_create_store(location)


def name_plan(store: Store, taken: str, checkpoint: str = "") -> None:
    """Print which plan a command took from a store with several; of those with ``checkpoint``, if given."""
    from hengwen.cli.ui.messages import print_info

    others = {run.plan for run in store.runs() if checkpoint in ("", run.checkpoint)} - {taken}
    if others:
        print_info(
            f"plan {taken}, which ran last; also in {store.name}: {', '.join(sorted(others))} (--plan)"
        )


def open_or_create_store(location: str) -> Store:
    """Open or create a store; if its schema was migrated, print where the copy of the old store is."""
    from hengwen.cli.ui.messages import print_info
    from hengwen.store import open_store

    store = open_store(location)
    copy = store.copy_before_migration
    if copy is not None:
        print_info(f"{store.name}: migrated to the present schema; the store as it was: {copy}")
    return store
