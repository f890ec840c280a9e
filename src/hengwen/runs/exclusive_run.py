"""Let at most one process run a plan in a store, because two processes would pay for every call twice."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from hengwen.engine.limits.limiter import interruptible_sleep
from hengwen.errors import StoreBusyError
from hengwen.store.locks.run_lock import run_lock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from hengwen.store.locks.plan_lock import LockOwner, RunLock
    from hengwen.store.store import Store

POLL_SECONDS = 0.5
"""Seconds between two attempts to take a lock that another process holds."""


@asynccontextmanager
async def exclusive_run(
    store: Store, plan: str, stopping: asyncio.Event, *, wait: bool | Callable[[str], None]
) -> AsyncIterator[None]:
    """Hold the lock of a plan, so that no other process runs the plan at the same time."""
    lock = run_lock(store, plan)
    if lock is None:
        yield
        return
    if not lock.acquire():
        owner = describe_owner(lock.owner())
        if not wait:
            raise StoreBusyError(
                f"{store.name}: plan {plan!r} is being run by {owner}; wait for it with --wait", owner=owner
            )
        if callable(wait):
            wait(owner)
        await _acquire_later(lock, stopping)
    try:
        yield
    finally:
        lock.release()


async def _acquire_later(lock: RunLock, stopping: asyncio.Event) -> None:
    while not lock.acquire():
        await interruptible_sleep(POLL_SECONDS, stopping)
        if stopping.is_set():
            raise asyncio.CancelledError


def describe_owner(owner: LockOwner | None) -> str:
    """Return the id, host and start of the process that holds a lock, for messages."""
    if owner is None:
        return "another process"
    since = owner.since.replace("T", " ").replace("Z", " UTC")
    return f"process {owner.pid} on {owner.host} since {since}"
