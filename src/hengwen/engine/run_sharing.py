"""Share the work of a run among several processes, so that each sample is evaluated once.

A process claims a sample before it evaluates it, and a call before it sends it. A claim ends when its holder
releases it or dies. A claim is released only after everything that it protects is committed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from hengwen.engine.claims import POLL_SECONDS
from hengwen.protocols import Ledger
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from hengwen.engine.claims import Claims
    from hengwen.engine.pacing import Committer
    from hengwen.records import Attempt, Response, Run


ACTIVE = "hengwen active"
"""First part of the name of the lock that the processes of a plan share as long as they can make calls."""


class SharedLedger(Ledger, Protocol):
    """Ledger of a run that other processes write too."""

    def record_completed_unit(self, run_id: str, unit: str) -> None:
        """Record that a unit (such as a sample) is completed, in the same commit as its results."""
        ...

    def refresh_call(self, call_key: str, cache_scope: str) -> None:
        """Let the next ``find_call`` read the database, because another process has made this call."""
        ...

    def stored_responses(self, run: Run, task: str) -> Iterator[Response]:
        """Yield the responses to a task that all processes committed in a run, by sample and repeat."""
        ...


class RunSharing:
    """Claims of one process on the samples and calls of a run that several processes share."""

    def __init__(
        self,
        claims: Claims,
        run: Run,
        ledger: SharedLedger,
        committer: Committer,
        is_exhausted: Callable[[], bool],
        leave: Callable[[], Awaitable[bool]],
    ) -> None:
        self._claims = claims
        self._run = run
        self._ledger = ledger
        self._committer = committer
        self._is_exhausted = is_exhausted
        self._is_last = False
        self.leave = leave

    @property
    def hands_over(self) -> bool:
        """Whether this process leaves all samples to others, because it can make no more calls."""
        return self._is_exhausted() and not self._is_last

    def name_of(self, *parts: object) -> str:
        """Return the name of a unit of this run: a piece of work, such as a sample, that one process does."""
        return digest("hengwen unit", self._run.id, *parts)[:32]

    async def take(self, names: list[str]) -> list[tuple[bool, bool]]:
        """Claim units (such as samples); return for each whether it was taken and whether it is completed."""
        answers = await self._claims.take_units(names)
        self._claims.release_units(
            [name for name, (is_taken, is_completed) in zip(names, answers, strict=True)
             if is_taken and is_completed]
        )  # fmt: skip
        return answers

    def complete(self, name: str) -> None:
        """Record that a unit (such as a sample) is completed, and release its claim after the next commit."""
        self._ledger.record_completed_unit(self._run.id, name)
        self.release(name)

    def release(self, name: str) -> None:
        """Let other processes claim a unit (such as a sample) when all that was recorded is committed."""
        self._committer.schedule_commit()
        self._committer.when_committed(partial(self._claims.release_units, [name]))

    @property
    def is_stopping(self) -> bool:
        """Whether this process ends its work."""
        return self._claims.stopping.is_set()

    async def sleep(self) -> None:
        """Wait before another attempt to take a claim, but no longer than until the run is stopping."""
        await self._claims.sleep()

    async def let_others_go_first(self) -> None:
        """Wait until no other process of the plan can make calls, or the run is stopping."""
        session = self._claims.session
        await self._claims.run(session.unlock, ACTIVE, self._run.plan, shared=True)
        while self.hands_over and not self.is_stopping:
            self._is_last = not await self._claims.run(session.is_shared, ACTIVE, self._run.plan)
            if not self._is_last:
                await self.sleep()

    async def once(self, function: Callable[[], None], *parts: object) -> None:
        """Call a function in only one of the processes; the others wait until its results are committed."""
        name = self.name_of(*parts)
        while True:
            self._claims.check()
            ((is_taken, is_completed),) = await self.take([name])
            if is_completed:
                return
            if is_taken:
                function()
                self.complete(name)
                return
            await self.sleep()

    @asynccontextmanager
    async def call(self, call_key: str, cache_scope: str) -> AsyncIterator[Attempt | None]:
        """Claim a call, and yield its successful attempt if another process has stored it."""
        is_stored = await self._claims.take_call(call_key)
        try:
            if is_stored:
                self._ledger.refresh_call(call_key, cache_scope)
                yield self._ledger.find_call(call_key, cache_scope)
            else:
                yield None
        finally:
            self._committer.when_committed(partial(self._claims.release_call, call_key), attempts_only=True)

    def stored_responses(self, task: str) -> Iterator[list[Response]]:
        """Yield, for each sample of a task, the responses that all processes committed in this run."""
        responses = self._ledger.stored_responses(self._run, task)
        for _, repeats in groupby(responses, key=attrgetter("sample_id")):
            yield list(repeats)


MAX_BATCH = 16
"""Number of units that are claimed together; with more, one process would have many left at the end."""


class Named(Protocol):
    """A unit: a sample, or an anchor (frozen response)."""

    @property
    def key(self) -> tuple[str | int, ...]:
        """Texts and numbers that identify this sample or anchor in its run."""
        ...


Unit = TypeVar("Unit", bound=Named)


class UnitQueue(Generic[Unit]):
    """Units (samples and anchors) of a run on which only this process works."""

    def __init__(self, units: Iterator[Unit]) -> None:
        self._units = units

    async def take(self) -> Unit | None:
        """Return the next unit; None after the last one, or if the run is stopping."""
        return self.take_nowait()

    def take_nowait(self) -> Unit | None:
        """Return the next unit; None if there is none at present."""
        return next(self._units, None)

    def complete(self, unit: Unit) -> bool:
        """Record that a unit is completed; return False if it is left to others, for want of calls."""
        return True


class SharedUnits(UnitQueue[Unit]):
    """Units of a run on which several processes work; those that others claimed are tried again at the end.

    ``take`` returns None only after every unit is completed, also those of a process that died.
    """

    def __init__(
        self,
        sharing: RunSharing,
        units: Iterator[Unit],
        *,
        limit: int,
        on_completed_elsewhere: Callable[[], None],
    ) -> None:
        super().__init__(units)
        self._sharing = sharing
        self._limit = limit
        self._batch_size = max(1, min(MAX_BATCH, limit // 8))
        self._on_completed_elsewhere = on_completed_elsewhere
        self._claimed: deque[Unit] = deque()
        self._deferred: deque[Unit] = deque()
        self._in_progress = 0
        self._tried_in_vain = 0
        self._filling = asyncio.Lock()
        self._progress: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def take(self) -> Unit | None:
        """Return the next unit; None if all are completed, or the run is stopping."""
        async with self._filling:
            while (unit := self.take_nowait()) is None:
                if not await self._fill():
                    return None
            return unit

    def take_nowait(self) -> Unit | None:
        """Return a claimed unit (sample or anchor); None if there is none at present."""
        if not self._claimed or self._in_progress >= self._limit or self._sharing.hands_over:
            return None
        self._in_progress += 1
        return self._claimed.popleft()

    def complete(self, unit: Unit) -> bool:
        """Record that a unit is completed, or leave it to others if this process can make no more calls."""
        self._in_progress -= 1
        if not self._progress.done():
            self._progress.set_result(None)
        if self._sharing.hands_over:
            self._defer(unit)
            return False
        self._sharing.complete(self._name(unit))
        return True

    async def _fill(self) -> bool:
        """Claim units, or wait for a change; return False if all are completed or the run is stopping."""
        if self._sharing.is_stopping:
            return False
        if self._sharing.hands_over:
            while self._claimed:
                self._defer(self._claimed.popleft())
            await self._sharing.let_others_go_first()
        elif self._claimed:
            await self._wait_for_progress()
        elif units := list(islice(self._units, self._batch_size)):
            await self._claim(units)
        elif self._deferred:
            await self._try_again()
        elif self._in_progress:  # this process may leave a unit to others, and must try it again later
            await self._wait_for_progress()
        else:
            return False
        return True

    async def _try_again(self) -> None:
        """Try to claim units that were left for later; wait before another attempt at the same unit."""
        if self._tried_in_vain >= len(self._deferred):
            self._tried_in_vain = 0
            await self._sharing.sleep()
        units = [self._deferred.popleft() for _ in range(min(self._batch_size, len(self._deferred)))]
        self._tried_in_vain += len(units)
        await self._claim(units)

    async def _wait_for_progress(self) -> None:
        if self._progress.done():
            self._progress = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._progress], timeout=POLL_SECONDS)

    async def _claim(self, units: list[Unit]) -> None:
        answers = await self._sharing.take([self._name(unit) for unit in units])
        for unit, (is_taken, is_completed) in zip(units, answers, strict=True):
            if is_completed:
                self._on_completed_elsewhere()
            elif is_taken:
                self._claimed.append(unit)
            else:
                self._deferred.append(unit)

    def _defer(self, unit: Unit) -> None:
        self._sharing.release(self._name(unit))
        self._deferred.append(unit)

    def _name(self, unit: Unit) -> str:
        return self._sharing.name_of(*unit.key)
