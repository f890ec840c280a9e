"""The lock of a plan in a store: only its holder may run the plan, and other processes can see the holder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.store.locks.plan_lock import RunLock
    from hengwen.store.store import Store


def run_lock(store: Store, plan: str) -> RunLock | None:
    """Return the lock that a process holds while it runs a plan; None for a database in memory."""
    engine = store.writable_engine()
    if engine.dialect.name == "postgresql":
        from hengwen.store.locks.advisory_lock import AdvisoryLock

        return AdvisoryLock(engine, plan)
    from hengwen.store.location import sqlite_path
    from hengwen.store.locks.plan_lock import PlanFileLock

    path = sqlite_path(engine.url)
    if path is None:
        return None
    path = path.resolve()  # different names of one store must give the same lock
    return PlanFileLock(path.with_name(f"{path.name}.{plan}.lock"))
