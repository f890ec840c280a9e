"""Locks on a plan: one process runs it, because two would pay for every call twice, or several share it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from hengwen.engine.claims import POLL_SECONDS, Claims
from hengwen.engine.limits.limiter import interruptible_sleep
from hengwen.engine.run_sharing import ACTIVE, RunSharing
from hengwen.errors import StoreBusyError, StoreError
from hengwen.store.location import sqlite_path
from hengwen.store.locks import AdvisoryClaims, AdvisoryLock, PlanFileLock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from hengwen.engine.metered_backend import CallContext
    from hengwen.records import Run
    from hengwen.store.ledger import SqlLedger
    from hengwen.store.locks import LockOwner
    from hengwen.store.store import Store


def run_lock(store: Store, plan: str) -> AdvisoryLock | PlanFileLock | None:
    """Return the lock that a process holds while it runs a plan; None for a database in memory."""
    engine = store.writable_engine()
    if engine.dialect.name == "postgresql":
        return AdvisoryLock(engine, plan)
    path = sqlite_path(engine.url)
    if path is None:
        return None
    path = path.resolve()  # different names of one store must give the same lock
    return PlanFileLock(path.with_name(f"{path.name}.{plan}.lock"))


LOCK_SECONDS = 0.5
"""Seconds between two attempts to take the lock of a plan that another process runs."""
WORKING = "hengwen working"
"""First part of the name of the lock that the processes of a run share until their commands end."""
CHANGING = "hengwen changing"
"""First part of the name of the lock of the process that joins or leaves a run of a plan."""


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
        while not lock.acquire():
            await interruptible_sleep(LOCK_SECONDS, stopping)
            if stopping.is_set():
                raise asyncio.CancelledError
    try:
        yield
    finally:
        lock.release()


def describe_owner(owner: LockOwner | None) -> str:
    """Return the id, host and start of the process that holds a lock, for messages."""
    if owner is None:
        return "another process"
    since = owner.since.replace("T", " ").replace("Z", " UTC")
    return f"process {owner.pid} on {owner.host} since {since}"


class PlanSharing:
    """Locks and claims of one process for a plan that several processes run together."""

    def __init__(self, store: Store, plan: str, stopping: asyncio.Event) -> None:
        self._store = store
        self._plan = plan
        self._session = AdvisoryClaims(store)
        self._claims = Claims(self._session, stopping)
        self._joined: list[str] = []

    @property
    def error(self) -> BaseException | None:
        """The error that ended the connection for claims (locks on samples); None without an error."""
        return self._claims.error

    async def start(self, *, wait: bool | Callable[[str], None]) -> None:
        """Take the lock of the plan, which all processes that share the plan hold together."""
        is_waiting = False
        while not await self._claims.run(self._session.lock_plan, self._plan):
            owner = describe_owner(self._session.owner(self._plan))
            if not wait:
                raise StoreBusyError(
                    f"{self._store.name}: plan {self._plan!r} is being run by {owner}, "
                    "which does not share it; wait for it with --wait",
                    owner=owner,
                )
            if callable(wait) and not is_waiting:
                wait(owner)
            is_waiting = True
            await self._claims.sleep()
            self._claims.check()
        await self._claims.run(self._session.lock, ACTIVE, self._plan, shared=True)

    @asynccontextmanager
    async def changing(self, *, stoppable: bool = False) -> AsyncIterator[None]:
        """Let no other process join or leave a run of the plan in the ``with`` block."""
        lock = partial(self._claims.run, self._session.lock, CHANGING, self._plan)
        while not await lock():  # another process has it
            if stoppable:
                await self._claims.sleep()
                self._claims.check()
            else:
                await asyncio.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            await self._claims.run(self._session.unlock, CHANGING, self._plan)

    async def is_running(self, run: Run) -> bool:
        """Return whether another process works on a run."""
        return await self._claims.run(self._session.is_shared, WORKING, run.id)

    def busy_error(self, run: Run) -> StoreBusyError:
        """Return the error that a process raises if it cannot share the work on a checkpoint."""
        owner = describe_owner(self._session.owner(self._plan))
        return StoreBusyError(
            f"{self._store.name}: checkpoint {run.checkpoint!r} of plan {self._plan!r} is being run by "
            f"{owner} with other prompts, answers, labels, judges or versions of packages; "
            "only processes for which all of these are equal share the work",
            owner=owner,
        )

    async def join(self, run: Run, context: CallContext, ledger: SqlLedger) -> RunSharing:
        """Begin to work on a run; call this method only in a ``with`` block of ``changing``."""
        if not await self.is_running(run):
            await self._claims.run(self._session.forget_completed_units, run.id)
        await self._claims.run(self._session.lock, WORKING, run.id, shared=True)
        self._joined.append(run.id)
        return RunSharing(
            self._claims,
            run,
            ledger,
            context.committer,
            context.is_exhausted,
            partial(self._leave, run.id),
        )

    async def _leave(self, run_id: str) -> bool:
        """End the work on a run; return whether no other process works on it."""
        # a lost connection has released all locks; after a cancellation, close() soon releases them
        with suppress(StoreError, asyncio.CancelledError):
            async with self.changing():
                self._joined.remove(run_id)
                await self._claims.run(self._session.unlock, WORKING, run_id, shared=True)
                if not await self._claims.run(self._session.is_shared, WORKING, run_id):
                    await self._claims.run(self._session.forget_completed_units, run_id)
                    return True
        return False

    async def close(self) -> None:
        """Leave all runs and release all claims."""
        for run_id in list(self._joined):
            await self._leave(run_id)
        await self._claims.close()


@asynccontextmanager
async def shared_plan(
    store: Store, plan: str, stopping: asyncio.Event, *, wait: bool | Callable[[str], None]
) -> AsyncIterator[PlanSharing]:
    """Make this process one of those that run a plan together, until the end of the ``with`` block."""
    sharing = PlanSharing(store, plan, stopping)
    try:
        await sharing.start(wait=wait)
        yield sharing
    except asyncio.CancelledError:
        if sharing.error is None:
            raise
        raise StoreError(
            f"{sharing.error}; this process stopped, because it lost its claims on the work that it shares; "
            "the same command goes on"
        ) from None
    finally:
        await sharing.close()
