"""Share one run: which samples this process evaluates, and which calls it sends."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from hengwen.protocols import Ledger
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from hengwen.engine.sharing.claims import Claims
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


class Committing(Protocol):
    """The methods of a committer that ``RunSharing`` calls."""

    def schedule_commit(self, *, paid: bool = False) -> None:
        """Schedule a commit, because something was recorded."""
        ...

    def when_committed(self, callback: Callable[[], None], *, attempts_only: bool = False) -> None:
        """Call a function after the next commit; at once if nothing has to be committed."""
        ...


class RunSharing:
    """Claims of one process on the samples and calls of a run that several processes share."""

    def __init__(
        self,
        claims: Claims,
        run: Run,
        ledger: SharedLedger,
        committer: Committing,
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
