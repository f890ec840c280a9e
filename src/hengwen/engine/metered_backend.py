"""A backend under the engine's rule: limited, retried, paid for, and every attempt in the ledger."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Literal

from hengwen.engine.attempt_codec import extras_of, reply_of
from hengwen.engine.budget import Budget, Price, estimate
from hengwen.engine.fair_scheduling import FairScheduler
from hengwen.engine.limiter import pause
from hengwen.errors import BackendError, JudgeError
from hengwen.records import Attempt, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tenacity import AsyncRetrying, RetryCallState

    from hengwen.engine.committer import Committer
    from hengwen.engine.limiter import Limiter
    from hengwen.protocols import Backend, Ledger
    from hengwen.records import Request

Role = Literal["judge", "subject"]

LONGEST_WAIT = 60.0
"""Seconds: the longest pause before a call is tried again, also where an endpoint asks for more."""
SENT_A_TURN_LATER = sys.version_info < (3, 12)
"""Until Python 3.12 a call is sent one turn of the loop after it is made (aiohttp needs a task of its own for
it); see ``FairScheduler``."""
SLOW_DOWN = ("rate_limited", "timeout")
"""Statuses that ask for fewer calls at a time."""


class CallContext:
    """What the backends of one run share: the ledger, the budget, the bill, and the wish to stop.

    Args:
        ledger: Where attempts are kept.
        committer: Makes them durable.
        run_id: Of the run.
        budget: What calls must not pass.
        stopping: Set where no new call is to begin; those in flight end.
    """

    def __init__(
        self,
        ledger: Ledger,
        committer: Committer,
        run_id: str,
        budget: Budget | None = None,
        stopping: asyncio.Event | None = None,
    ) -> None:
        self.ledger = ledger
        self.committer = committer
        self.run_id = run_id
        self.budget = budget or Budget()
        self.usage: dict[Role, Usage] = {"judge": Usage(), "subject": Usage()}
        self.stopping = stopping or asyncio.Event()
        self.turns = FairScheduler()

    async def pause(self, seconds: float) -> None:
        """Sleep, but not where the run is to stop."""
        await pause(seconds, self.stopping)

    def wrap(
        self,
        backend: Backend,
        role: Role,
        limiter: Limiter,
        *,
        scope: str = "",
        retries: int = 4,
        price: Price | None = None,
        params: Mapping[str, object] | None = None,
    ) -> LedgerBackend:
        """Return the backend under this meter.

        Args:
            backend: Who answers.
            role: Whose calls these are, for the bill.
            limiter: Of the endpoint.
            scope: Calls of other scopes are not used again: empty, or the run id.
            retries: How often a call is tried again where that may help.
            price: Of its tokens, where it is known.
            params: Of the backend, for estimates.
        """
        return LedgerBackend(self, backend, role, limiter, scope, retries, price, params or {})


class LedgerBackend:
    """See ``CallContext.wrap``. A call that is in flight, or was answered well before, is not made again."""

    def __init__(
        self,
        meter: CallContext,
        backend: Backend,
        role: Role,
        limiter: Limiter,
        scope: str,
        retries: int,
        price: Price | None,
        params: Mapping[str, object],
    ) -> None:
        self._meter = meter
        self._backend = backend
        self._role: Role = role
        self._limiter = limiter
        self._scope = scope
        self._retries = retries
        self._price = price
        self._params = params
        self._counts = limiter.counts_tokens or meter.budget.limit is not None
        self._in_flight: dict[str, asyncio.Future[None]] = {}
        self._unreachable = 0
        self._give_up_after = max(8, 2 * limiter.ceiling)

    @property
    def signature(self) -> str:
        """Of the backend behind."""
        return self._backend.signature

    @property
    def endpoint(self) -> str:
        """Of the backend behind."""
        return self._backend.endpoint

    async def close(self) -> None:
        """Close the backend behind."""
        await self._backend.close()

    async def complete(self, request: Request) -> Reply:
        """Answer a request: from the ledger, from a call in flight, or by a call.

        Raises:
            JudgeError: The reply was of no use (``request.validate`` said so).
            BackendError: There was no reply, after all retries.
            StoreError: The ledger failed.
            CancelledError: The run is stopping.
        """
        key = request.key(self._backend.endpoint)
        while True:
            found = self._meter.ledger.find_call(key, self._scope)
            if found is not None:
                return reply_of(found)
            other = self._in_flight.get(key)
            if other is None:
                break
            await asyncio.wait([other])  # its reply is in the ledger then, or it is this call's turn
        mine = self._in_flight[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._call(key, request)
        finally:
            del self._in_flight[key]
            mine.set_result(None)
        if SENT_A_TURN_LATER:
            await (
                self._meter.turns.take()
            )  # the reply is kept by now: a run that is stopped here loses nothing
        return reply

    async def _call(self, key: str, request: Request) -> Reply:
        try:
            return await self._attempt(key, request)
        except BackendError as error:
            if not error.retryable or not self._retries:
                raise
            first: BackendError | None = error
        async for attempt in _retrying(self._retries, self._meter.pause):  # only now: tenacity costs
            with attempt:
                if first is not None:
                    failed, first = first, None
                    raise failed
                return await self._attempt(key, request)
        raise AssertionError("tenacity raises the last error again")  # pragma: no cover

    async def _attempt(self, key: str, request: Request) -> Reply:
        expected = estimate(request, self._params) if self._counts else Usage()
        ticket = await self._limiter.acquire(expected.input_tokens + expected.output_tokens)
        try:
            if self._meter.stopping.is_set():
                raise asyncio.CancelledError
            self._give_up_if_unreachable()
            reserved = self._meter.budget.reserve(self._price, expected)
            return await self._ask(key, request, ticket, reserved)
        finally:
            self._limiter.release()

    def _give_up_if_unreachable(self) -> None:
        if self._unreachable >= self._give_up_after:
            raise BackendError(
                f"{self.endpoint} is unreachable: {self._unreachable} calls in a row got no reply",
                status="transport_error",
            )

    async def _ask(self, key: str, request: Request, ticket: int, reserved: float) -> Reply:
        started = time.monotonic()
        reply: Reply | None = None
        status, raw = "ok", ""
        try:
            reply = await self._backend.complete(request)
            raw = reply.text
            self._unreachable = 0
            self._limiter.keep_up()
            if request.validate is not None:
                request.validate(reply)
            return reply
        except JudgeError as error:
            status, raw = error.status, error.raw or raw
            if isinstance(error, BackendError):
                self._unreachable += status == "transport_error"
                if status in SLOW_DOWN:
                    self._limiter.slow_down(ticket, min(error.retry_after or 0.0, LONGEST_WAIT))
            raise
        except asyncio.CancelledError:
            status = "cancelled"
            raise
        finally:
            self._meter.budget.settle(reserved, self._price, reply.usage if reply else Usage())
            if status != "cancelled":
                self._record(key, request, reply, status, raw, time.monotonic() - started)

    def _record(
        self, key: str, request: Request, reply: Reply | None, status: str, raw: str, seconds: float
    ) -> None:
        meter = self._meter
        usage = reply.usage if reply is not None else Usage()
        meter.usage[self._role] += usage
        meter.ledger.record_attempt(
            Attempt(
                call_key=key,
                scope=self._scope,
                number=meter.ledger.next_number(key, self._scope),
                status=status,
                run_id=meter.run_id,
                role=self._role,
                request={"messages": request.messages, "params": dict(request.params)},
                raw=raw,
                usage=usage,
                latency=reply.latency if reply is not None else seconds,
                model=reply.model if reply is not None else "",
                finish=reply.finish if reply is not None else "",
                extras=extras_of(reply) if reply is not None else {},
            )
        )
        meter.committer.touch(bought=status == "ok")


def _retrying(retries: int, sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """Further tries behind a first one; the wait before each is jittered, or what the endpoint asked for."""
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

    jitter = wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, BackendError) else None
        return min(asked, LONGEST_WAIT) if asked is not None else jitter(state)

    return AsyncRetrying(
        sleep=sleep,
        stop=stop_after_attempt(retries + 1),
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, BackendError) and error.retryable),
        reraise=True,
    )
