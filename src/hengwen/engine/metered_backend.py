"""Wrap a backend so that its calls are limited, retried, counted against the budget, and recorded."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal, cast

from hengwen.backends.parsing import WrappedBackend
from hengwen.engine.budget import OUTPUT_TOKENS, Budget, Price, estimate
from hengwen.engine.limits.limiter import interruptible_sleep
from hengwen.engine.pacing import PY311_EXTRA_TICK, FairScheduler
from hengwen.errors import BackendError, JudgeError
from hengwen.records import Attempt, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tenacity import AsyncRetrying, RetryCallState

    from hengwen.engine.limits.limiter import Limiter
    from hengwen.engine.pacing import Committer
    from hengwen.protocols import Backend, Ledger, Parsed
    from hengwen.records import Request

MAX_RETRY_WAIT = 60.0
"""Maximum number of seconds before a retry, even if the endpoint asks for more."""


Role = Literal["judge", "subject"]


class CallContext:
    """State shared by the backends of one run: ledger, budget, used tokens, and the stop signal."""

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
        self.in_flight: dict[str, asyncio.Future[None]] = {}
        """For the key of each call that was not replied to yet, a future that is set when it has ended."""
        self.scheduler = FairScheduler()

    async def sleep(self, seconds: float) -> None:
        """Sleep; wake up early if the run is stopping."""
        await interruptible_sleep(seconds, self.stopping)


class LedgerBackend(WrappedBackend):
    """Limit, retry and record calls; no request is sent for one in progress or with a stored reply."""

    def __init__(
        self,
        context: CallContext,
        backend: Backend,
        role: Role,
        limiter: Limiter,
        *,
        cache_scope: str = "",
        retries: int = 4,
        price: Price | None = None,
        params: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(backend)
        self._context = context
        self._role: Role = role
        self._limiter = limiter
        self._cache_scope = cache_scope
        self._retries = retries
        self._price = price
        self._params = params or {}
        self._needs_estimate = limiter.counts_tokens or context.budget.limit is not None

    async def complete(self, request: Request) -> Reply:
        """Return the reply to a request, without parsing it."""
        reply, _ = await self.complete_parsed(request, _no_value)
        return reply

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """A reply with its parsed value; send no call if the reply is stored or an equal call is open."""
        call_key = request.key(self._backend.endpoint)
        in_flight = self._context.in_flight
        while True:
            stored = self._context.ledger.find_call(call_key, self._cache_scope)
            if stored is not None:
                reply = reply_of(stored)
                return reply, parse(reply)
            same_call = in_flight.get(call_key)
            if same_call is None:
                break
            await asyncio.wait([same_call])  # afterwards its reply is stored, or this call is sent
        ended = in_flight[call_key] = asyncio.get_running_loop().create_future()
        try:
            completion = await self._call(call_key, request, parse)
        finally:
            del in_flight[call_key]
            ended.set_result(None)
        if PY311_EXTRA_TICK:  # the reply is recorded by now, so a run that stops here loses nothing
            await self._context.scheduler.take_turn()
        return completion

    async def _call(
        self, call_key: str, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        try:
            return await self._attempt(call_key, request, parse)
        except BackendError as error:
            if not error.retryable or not self._retries:
                raise
            first_error: BackendError | None = error

        async def attempt() -> tuple[Reply, Parsed]:
            nonlocal first_error
            if first_error is not None:
                raised, first_error = first_error, None
                raise raised
            return await self._attempt(call_key, request, parse)

        # tenacity is slow, so it is used only after a failure
        return await retrying(self._retries, self._context.sleep)(attempt)

    async def _attempt(
        self, call_key: str, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        expected = estimate(request, self._params) if self._needs_estimate else Usage()
        ticket = await self._limiter.acquire(expected.input_tokens + expected.output_tokens)
        try:
            if self._context.stopping.is_set():
                raise asyncio.CancelledError
            self._raise_if_unreachable()
            reserved = self._context.budget.reserve(self._price, expected)
            return await self._send(call_key, request, parse, ticket, reserved)
        finally:
            self._limiter.release()

    def _raise_if_unreachable(self) -> None:
        circuit = self._limiter.circuit
        if circuit.state == "given_up":
            state = "rejects every call" if circuit.status == "rejected" else "is unreachable"
            raise BackendError(
                f"{self.endpoint} {state}: {circuit.failures} calls in a row got no reply",
                status=circuit.status,
            )

    async def _send(
        self,
        call_key: str,
        request: Request,
        parse: Callable[[Reply], Parsed],
        ticket: int,
        reserved: float,
    ) -> tuple[Reply, Parsed]:
        started_at = time.monotonic()
        reply: Reply | None = None
        status, raw = "ok", ""
        try:
            reply = await self._backend.complete(request)
            raw = reply.text
            self._limiter.on_success(ticket)
            return reply, parse(reply)
        except JudgeError as error:
            status, raw = error.status, error.raw or raw
            if isinstance(error, BackendError):
                wait = min(error.retry_after or 0.0, MAX_RETRY_WAIT)
                error.is_outage = self._limiter.on_failure(ticket, error, wait)
            raise
        except asyncio.CancelledError:
            status = "cancelled"
            raise
        finally:
            self._context.budget.charge(reserved, self._price, reply.usage if reply else Usage())
            if status != "cancelled":
                self._record(call_key, request, reply, status, raw, time.monotonic() - started_at)

    def _record(
        self, call_key: str, request: Request, reply: Reply | None, status: str, raw: str, seconds: float
    ) -> None:
        reply = reply or Reply(text="", latency=seconds, finish="")
        context = self._context
        context.usage[self._role] += reply.usage
        context.ledger.record_attempt(
            self.new_attempt(
                call_key,
                request,
                status,
                raw=raw,
                usage=reply.usage,
                latency=reply.latency,
                model=reply.model,
                finish=reply.finish,
                extras=extras_of(reply),
            )
        )
        context.committer.schedule_commit(paid=status == "ok")

    def new_attempt(
        self, call_key: str, request: Request, status: str, raw: str = "", **fields: Any
    ) -> Attempt:
        """Return the record of the next attempt of a call."""
        return Attempt(
            call_key=call_key,
            cache_scope=self._cache_scope,
            attempt_no=self._context.ledger.next_attempt_no(call_key, self._cache_scope),
            status=status,
            run_id=self._context.run_id,
            role=self._role,
            request={"messages": request.messages, "params": dict(request.params)},
            raw=raw,
            **fields,
        )


def _no_value(_: Reply) -> None:
    """Parser for callers that need only the reply: it returns None."""


def extras_of(reply: Reply) -> dict[str, Any]:
    """Return the response format and log-probabilities of a reply as JSON values."""
    extras: dict[str, Any] = {}
    if reply.response_format:
        extras["form"] = reply.response_format
    if reply.logprobs is not None:
        extras["logprobs"] = [
            [token.decode("latin-1"), logprob, [[other.decode("latin-1"), value] for other, value in others]]
            for token, logprob, others in reply.logprobs
        ]
    return extras


def reply_of(attempt: Attempt) -> Reply:
    """Return the reply of a stored successful call, with zero used tokens: it is not paid for again."""
    tokens = attempt.extras.get("logprobs")
    return Reply(
        text=attempt.raw,
        model=attempt.model,
        latency=attempt.latency,
        finish=attempt.finish or "stop",
        response_format=attempt.extras.get("form", ""),
        logprobs=None
        if tokens is None
        else tuple(
            (
                token.encode("latin-1"),
                logprob,
                tuple((other.encode("latin-1"), value) for other, value in others),
            )
            for token, logprob, others in tokens
        ),
    )


def retrying(retries: int, sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """Return an iterator over the attempts to make a call; a failure during an outage uses up no retry."""
    from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential

    jitter = wait_random_exponential(multiplier=0.5, max=MAX_RETRY_WAIT)
    failures = 0

    def stop(state: RetryCallState) -> bool:
        nonlocal failures
        failures += not _error(state).is_outage
        return failures > retries

    def wait(state: RetryCallState) -> float:
        error = _error(state)
        if error.is_outage:  # the limiter holds the call until the endpoint replies again
            return 0.0
        return jitter(state) if error.retry_after is None else min(error.retry_after, MAX_RETRY_WAIT)

    return AsyncRetrying(
        sleep=sleep,
        stop=stop,
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, BackendError) and error.retryable),
        reraise=True,
    )


def _error(state: RetryCallState) -> BackendError:
    """Return the error of a call that is retried."""
    assert state.outcome is not None
    return cast("BackendError", state.outcome.exception())


PLACEHOLDER_ANSWER = "答" * OUTPUT_TOKENS
"""Response that a dry run assumes for the model under test, so that judges' calls can be counted."""


class DryBackend(WrappedBackend):
    """Count the calls to a backend without sending them."""

    def __init__(
        self, backend: Backend, *, answers: bool, params: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(backend)
        self._answers = answers
        self._params = params
        self.expected = Usage()

    async def complete(self, request: Request) -> Reply:
        """Count a call."""
        self.expected += estimate(request, self._params)
        if self._answers:
            return Reply(text=PLACEHOLDER_ANSWER)
        raise BackendError("a dry run sends no calls", status="budget")


class DryLedger:
    """Read from a ledger (the records of runs), and write nothing to it."""

    def __init__(self, ledger: Ledger) -> None:
        self.done, self.read = ledger.done, ledger.read
        self.find_call, self.next_attempt_no = ledger.find_call, ledger.next_attempt_no

    def commit(self, *_: object) -> None:
        """Write nothing."""

    begin = adopt = record_response = record_attempt = record_rows = commit_attempts = commit
