"""A backend under the engine's rule: limited, retried, counted, and every attempt in the ledger."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Literal

from hengwen.errors import BackendError, JudgeError
from hengwen.records import Attempt, Reply, Usage

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState

    from hengwen.engine.committer import Committer
    from hengwen.protocols import Backend, Ledger
    from hengwen.records import Request

Role = Literal["judge", "subject"]

LONGEST_WAIT = 60.0
"""Seconds: the longest pause before a call is tried again, also where an endpoint asks for more."""


class Meter:
    """What the backends of one run share: slots, usage, and the ledger.

    Args:
        ledger: Where attempts are kept.
        committer: Makes them durable.
        run_id: Of the run.
        concurrency: Calls in flight at the same time, >= 1.
    """

    def __init__(self, ledger: Ledger, committer: Committer, run_id: str, concurrency: int) -> None:
        self.ledger = ledger
        self.committer = committer
        self.run_id = run_id
        self.slots = asyncio.Semaphore(concurrency)
        self.give_up_after = max(8, 2 * concurrency)
        self.usage: dict[Role, Usage] = {"judge": Usage(), "subject": Usage()}

    def wrap(self, backend: Backend, role: Role, *, scope: str = "", retries: int = 4) -> MeteredBackend:
        """Return the backend under this meter.

        Args:
            backend: Who answers.
            role: Whose calls these are, for the bill.
            scope: Calls of other scopes are not used again: empty, or the run id.
            retries: How often a call is tried again where that may help.
        """
        return MeteredBackend(self, backend, role, scope, retries)


class MeteredBackend:
    """See ``Meter.wrap``. A call that is in flight, or was answered well before, is not made again."""

    def __init__(self, meter: Meter, backend: Backend, role: Role, scope: str, retries: int) -> None:
        self._meter = meter
        self._backend = backend
        self._role: Role = role
        self._scope = scope
        self._retries = retries
        self._in_flight: dict[str, asyncio.Task[Reply]] = {}
        self._unreachable = 0

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
            JudgeError: The reply was of no use (``request.accept`` said so).
            BackendError: There was no reply, after all retries.
            StoreError: The ledger failed.
        """
        key = request.key(self.endpoint)
        found = self._meter.ledger.find_call(key, self._scope)
        if found is not None:
            return _reply_of(found)
        task = self._in_flight.get(key)
        if task is None:
            task = asyncio.ensure_future(self._call(key, request))
            self._in_flight[key] = task
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return await task

    async def _call(self, key: str, request: Request) -> Reply:
        retrying = _retrying(self._retries)
        async for attempt in retrying:
            with attempt:
                async with self._meter.slots:
                    self._give_up_if_unreachable()
                    return await self._attempt(key, request)
        raise AssertionError("tenacity re-raises the last error")  # pragma: no cover

    def _give_up_if_unreachable(self) -> None:
        if self._unreachable >= self._meter.give_up_after:
            raise BackendError(
                f"{self.endpoint} is unreachable: {self._unreachable} calls in a row got no reply",
                status="transport_error",
            )

    async def _attempt(self, key: str, request: Request) -> Reply:
        started = time.monotonic()
        reply: Reply | None = None
        status, raw = "ok", ""
        try:
            reply = await self._backend.complete(request)
            raw = reply.text
            self._unreachable = 0
            if request.accept is not None:
                request.accept(reply)
            return reply
        except JudgeError as error:
            status, raw = error.status, error.raw or raw
            if reply is None:
                self._unreachable += status == "transport_error"
            raise
        except asyncio.CancelledError:
            status = "cancelled"
            raise
        finally:
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
                request={"messages": list(request.messages), "params": dict(request.params)},
                raw=raw,
                usage=usage,
                latency=reply.latency if reply is not None else seconds,
                model=reply.model if reply is not None else "",
                finish=reply.finish if reply is not None else "",
            )
        )
        meter.committer.touch()


def _reply_of(attempt: Attempt) -> Reply:
    """Make the reply of a stored attempt; it costs nothing now, so its usage is empty."""
    return Reply(
        text=attempt.raw,
        model=attempt.model,
        latency=attempt.latency,
        finish=attempt.finish or "stop",
    )


def _retrying(retries: int) -> AsyncRetrying:
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

    jitter = wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, BackendError) else None
        return min(asked, LONGEST_WAIT) if asked is not None else jitter(state)

    return AsyncRetrying(
        stop=stop_after_attempt(retries + 1),
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, BackendError) and error.retryable),
        reraise=True,
    )
