"""Queues of the units of work of a run: a unit is one sample of a task, or one anchor (frozen response)."""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hengwen.engine.sharing.run_sharing import RunSharing

MAX_BATCH = 16
"""Number of units that are claimed together. If more were claimed, one process would have many left while the
others have none."""
POLL_SECONDS = 0.05
"""Maximum number of seconds until a stopping run is noticed."""


class Named(Protocol):
    """A unit: a sample, or an anchor (frozen response)."""

    @property
    def key(self) -> tuple[str | int, ...]:
        """Texts and numbers that identify this sample or anchor in its run."""
        ...


Unit = TypeVar("Unit", bound=Named)


class UnitQueue(Protocol[Unit]):
    """Units (samples and anchors) that this process evaluates."""

    async def take(self) -> Unit | None:
        """Return the next unit (sample or anchor); None after the last one, or if the run is stopping."""
        ...

    def take_nowait(self) -> Unit | None:
        """Return the next unit (sample or anchor); None if there is none at present."""
        ...

    def complete(self, unit: Unit) -> bool:
        """Record that a unit is completed, or leave it to other processes and return False.

        A process leaves units to others if it can make no more calls, for example because its budget is
        used up.
        """
        ...


class LocalUnits(Generic[Unit]):
    """Units (samples and anchors) of a run on which only this process works."""

    def __init__(self, units: Iterator[Unit]) -> None:
        self._units = units

    async def take(self) -> Unit | None:
        """Return the next unit (sample or anchor); None if there is none."""
        return next(self._units, None)

    def take_nowait(self) -> Unit | None:
        """Return the next unit (sample or anchor); None if there is none."""
        return next(self._units, None)

    def complete(self, unit: Unit) -> bool:
        """Return True (completed) and record nothing, because no other process works on the run."""
        return True


class SharedUnits(Generic[Unit]):
    """Units (samples and anchors) of a run on which several processes work.

    A unit that another process has claimed is tried again after all others. Unless the run is stopping,
    ``take`` returns None only after every unit is completed. The units of a process that died are therefore
    evaluated by the other processes.
    """

    def __init__(
        self,
        sharing: RunSharing,
        units: Iterator[Unit],
        *,
        limit: int,
        on_completed_elsewhere: Callable[[], None],
    ) -> None:
        self._sharing = sharing
        self._units = units
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
        """Return the next unit (sample or anchor); None if all are completed, or the run is stopping."""
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
