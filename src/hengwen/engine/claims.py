"""Take and release claims in batches, in a thread, so that the event loop never waits for the database."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from hengwen.engine.limits.limiter import interruptible_sleep
from hengwen.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Answer = asyncio.Future[tuple[bool, bool]]
"""Whether this process has the claim now, and whether the work is completed or has stored attempts."""

POLL_SECONDS = 0.05
"""Seconds between two attempts to take a claim that another process holds."""
RELEASE_SECONDS = 0.005
"""Seconds by which the release of a claim may be delayed, to be sent together with other requests."""
PING_SECONDS = 5.0
"""Seconds after which an idle database connection is used, so that its loss is noticed."""


class ClaimSession(Protocol):
    """Claims of one process on units (such as samples) and calls in a database; see ``AdvisoryClaims``."""

    def exchange(
        self, released: Sequence[str], units: Sequence[str], calls: Sequence[str]
    ) -> tuple[list[bool], set[str], set[str]]:
        """Release claims and take others.

        Args:
            released: Names of claims that are released.
            units: Names of units (such as samples) to claim if no other process has claimed them.
            calls: Keys of calls to claim if no other process has claimed them.

        Returns:
            A list and two sets. The list states for each unit, and then for each call, whether this process
            has the claim now. The first set has the units that are completed already. The second set has the
            calls that have stored attempts already.
        """
        ...

    def lock(self, *name: str, shared: bool = False) -> bool:
        """Take a lock if it is free or, with ``shared``, if all holders share it; return whether it was."""
        ...

    def unlock(self, *name: str, shared: bool = False) -> None:
        """Release a lock, which was taken with or without ``shared``."""
        ...

    def is_shared(self, *name: str) -> bool:
        """Return whether another process holds a lock as a shared lock."""
        ...

    def forget_completed_units(self, run_id: str) -> None:
        """Remove the records of which units of a run are completed, while no process works on it."""
        ...

    def close(self) -> None:
        """Release all claims and locks."""
        ...


@dataclass(slots=True)
class _Batch:
    """Requests that are sent to the database server together."""

    released: list[str] = field(default_factory=list)
    units: dict[str, Answer] = field(default_factory=dict)
    calls: dict[str, Answer] = field(default_factory=dict)

    def cancel(self) -> None:
        for answer in (*self.units.values(), *self.calls.values()):
            answer.cancel()


class Claims:
    """The claims of this process; a lost connection loses all, sets ``stopping`` and leaves its ``error``."""

    def __init__(self, session: ClaimSession, stopping: asyncio.Event) -> None:
        self.session = session
        self.stopping = stopping
        self.error: BaseException | None = None
        self._is_closed = False
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "hengwen-claims")
        self._batch = _Batch()
        self._is_busy = False
        self._timer = self._loop.call_later(PING_SECONDS, self._exchange)
        self._open_calls: dict[str, asyncio.Future[None]] = {}

    async def take_units(self, names: Sequence[str]) -> list[tuple[bool, bool]]:
        """Claim units (such as samples); return whether each is claimed now, and whether it is completed."""
        try:
            answers = [self._batch.units.setdefault(name, self._answer()) for name in names]
            self._request()
            return [await answer for answer in answers]
        except asyncio.CancelledError:
            if self.error is None:
                raise
            return [(False, False)] * len(names)

    async def take_call(self, call_key: str) -> bool:
        """Claim a call as soon as no other process has a claim on it."""
        while (same_call := self._open_calls.get(call_key)) is not None:
            await asyncio.wait([same_call])
        self._open_calls[call_key] = self._loop.create_future()
        try:
            while True:
                answer = self._batch.calls[call_key] = self._answer()
                self._request()
                is_taken, is_stored = await answer
                if is_taken:
                    return is_stored
                await self.sleep()
                self.check()
        except BaseException:
            self._close_call(call_key)
            raise

    def release_call(self, call_key: str) -> None:
        """Release the claim on a call whose attempts are committed."""
        self.release_units([call_key])
        self._close_call(call_key)

    def release_units(self, names: Sequence[str]) -> None:
        """Release the claims on units (such as samples) whose results are committed."""
        self._batch.released += names
        self._wait_at_most(RELEASE_SECONDS)

    async def sleep(self) -> None:
        """Wait before another attempt to take a claim, but no longer than until the run is stopping."""
        await interruptible_sleep(POLL_SECONDS, self.stopping)

    def check(self) -> None:
        """Raise CancelledError if the run is stopping."""
        if self.stopping.is_set():
            raise asyncio.CancelledError

    async def run(
        self,
        method: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """Call a method of ``session`` in the thread that accesses the database, and return its result."""
        return await self._loop.run_in_executor(self._thread, partial(method, *arguments, **options))

    async def close(self) -> None:
        """Release all claims, and close the database connection that holds them."""
        self._is_closed = True
        self._timer.cancel()
        self._batch.cancel()
        with suppress(StoreError):
            await self.run(self.session.close)
        self._thread.shutdown()

    def _answer(self) -> Answer:
        if self._is_closed:
            raise asyncio.CancelledError
        return self._loop.create_future()

    def _close_call(self, call_key: str) -> None:
        self._open_calls.pop(call_key).set_result(None)

    def _request(self) -> None:
        if not self._is_busy:
            self._exchange()

    def _wait_at_most(self, seconds: float) -> None:
        if self._timer.when() > self._loop.time() + seconds:
            self._timer.cancel()
            self._timer = self._loop.call_later(seconds, self._exchange)

    def _exchange(self) -> None:
        if self._is_busy or self._is_closed:
            return
        self._is_busy = True
        batch, self._batch = self._batch, _Batch()
        result = self._loop.run_in_executor(
            self._thread, self.session.exchange, batch.released, list(batch.units), list(batch.calls)
        )
        result.add_done_callback(partial(self._end, batch))

    def _end(self, batch: _Batch, result: asyncio.Future[tuple[list[bool], set[str], set[str]]]) -> None:
        self._is_busy = False
        error = result.exception()
        if error is not None:
            self._fail(error)
        if self._is_closed:
            batch.cancel()
            return
        taken, completed, stored = result.result()
        requests = [(name, answer, completed) for name, answer in batch.units.items()]
        requests += [(key, answer, stored) for key, answer in batch.calls.items()]
        for (name, answer, done), is_taken in zip(requests, taken, strict=True):
            if not answer.done():
                answer.set_result((is_taken, name in done))
            elif is_taken:  # the request was cancelled, so nobody needs the claim
                self._batch.released.append(name)
        self._timer.cancel()
        self._timer = self._loop.call_later(
            RELEASE_SECONDS if self._batch.released else PING_SECONDS, self._exchange
        )
        if self._batch.units or self._batch.calls:
            self._exchange()

    def _fail(self, error: BaseException) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.error = error
            self._batch.cancel()
            self.stopping.set()
