"""Wrap a backend so that its calls are limited, retried, counted against the budget, and recorded."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, cast

from hengwen.backends.parameters import WrappedBackend
from hengwen.engine.limits import Limiter, interruptible_sleep
from hengwen.errors import BackendError, JudgeError
from hengwen.protocols import Backend, Ledger, Parsed
from hengwen.records import Attempt, Reply, Request, Usage

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState


OUTPUT_TOKENS = 400
"""Expected output tokens of a call without ``max_tokens``, such as a judge's reply with a reason."""
MESSAGE_TOKENS = 4
"""Estimated tokens of each message in addition to its text."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices of a million input tokens and a million output tokens."""

    input: float
    output: float
    currency: str = ""
    """Such as ``USD``; empty if it is not stated."""
    source: str = "plan"
    """Who stated it: ``plan``, ``--price``, or the date of the list of prices."""

    def cost(self, usage: Usage) -> float:
        """Return the cost of calls that used the given numbers of tokens."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / MILLION


def estimate(request: Request, params: Mapping[str, object] | None = None) -> Usage:
    """Return the expected numbers of input and output tokens of a call."""
    input_tokens = sum(MESSAGE_TOKENS + estimate_tokens(content) for _, content in request.messages)
    merged = {**(params or {}), **request.params}
    limit = merged.get("max_completion_tokens") or merged.get("max_tokens")
    output_tokens = limit if isinstance(limit, int) else OUTPUT_TOKENS
    return Usage(calls=1, input_tokens=input_tokens, output_tokens=output_tokens)


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    size = len(text)
    wide = 0 if text.isascii() else (len(text.encode("utf-8", "replace")) - size) // 2
    return min(size, wide + ceil((size - wide) / 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What the calls of a command have used and cost."""

    usage: Usage = field(default_factory=Usage)
    costs: Mapping[str, float] = field(default_factory=dict)
    """Cost in each currency."""
    has_unpriced_calls: bool = False
    """Whether the price of a call is unknown, so that ``costs`` lacks it."""
    seconds: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        """Return the bill of two processes that worked at the same time."""
        names = {*self.costs, *other.costs}
        return Bill(
            usage=self.usage + other.usage,
            costs={name: self.costs.get(name, 0.0) + other.costs.get(name, 0.0) for name in sorted(names)},
            has_unpriced_calls=self.has_unpriced_calls or other.has_unpriced_calls,
            seconds=max(self.seconds, other.seconds),
        )


class Budget:
    """Limit of the cost of all calls. A call that has no reply yet counts with its estimated cost."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.reserved = 0.0
        self.usage = Usage()
        self.costs: defaultdict[str, float] = defaultdict(float)
        """Cost of the calls so far, in each currency."""
        self.has_unpriced_calls = False
        self.stopped = False
        self._started_at = time.monotonic()

    @property
    def spent(self) -> float:
        """Cost of the calls so far; a limit needs prices in one currency."""
        return sum(self.costs.values())

    def bill(self) -> Bill:
        """Return what the calls have used so far, and the time since the budget was made."""
        return Bill(
            usage=self.usage,
            costs=dict(self.costs),
            has_unpriced_calls=self.has_unpriced_calls,
            seconds=time.monotonic() - self._started_at,
        )

    def reserve(self, price: Price | None, expected: Usage) -> float:
        """Reserve the expected cost of a call, and return it."""
        if self.limit is None or price is None:
            return 0.0
        cost = price.cost(expected)
        if self.spent + self.reserved + cost > self.limit:
            self.stopped = True
            raise BackendError(
                f"budget of {self.limit:g} would be exceeded ({self.spent:.4f} spent)", status="budget"
            )
        self.reserved += cost
        return cost

    def charge(self, reserved: float, price: Price | None, usage: Usage) -> None:
        """Replace the reserved cost of a call by its actual cost."""
        self.reserved -= reserved
        self.usage += usage
        if price is None:
            self.has_unpriced_calls |= usage.calls > 0
        elif usage.calls:
            self.costs[price.currency] += price.cost(usage)


PREFETCH_RATIO = 16
"""For this many concurrent calls, one more sample is started early; a killed process may lose its reply."""
START_STAGGER_TICKS = 2
"""Iterations of the loop between the starts of two workers: calls sent together are answered together."""
MAX_BLOCKING_SECONDS = 0.01
"""Seconds for which evaluations may block the event loop; after that, waiting calls proceed."""
PY311_EXTRA_TICK = sys.version_info < (3, 12)
"""Whether aiohttp sends a request an iteration late: before Python 3.12, it does so in a task."""
COMMIT_INTERVAL = 0.01
"""Seconds between two commits of all records; after a crash, later scores are recomputed from replies."""
MAX_UNCOMMITTED_PAID = 3
"""Number of uncommitted paid replies that are committed at once, not in the next iteration of the loop."""


def worker_count(concurrency: int, total: int) -> int:
    """Return the number of samples in progress at the same time."""
    return min(concurrency + concurrency // PREFETCH_RATIO, total)


async def stagger_start() -> None:
    """Wait for ``START_STAGGER_TICKS`` iterations of the event loop before the next worker starts."""
    for _ in range(START_STAGGER_TICKS):
        await asyncio.sleep(0)


class LoopYielder:
    """Let the event loop, in which this is created, run when evaluations have blocked it for too long."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last_turn = self._loop.time()

    async def yield_if_due(self) -> None:
        """Let waiting calls proceed if the event loop was blocked longer than ``MAX_BLOCKING_SECONDS``."""
        if self._loop.time() - self._last_turn > MAX_BLOCKING_SECONDS:
            await asyncio.sleep(0)
            self._last_turn = self._loop.time()


class FairScheduler:
    """Let one coroutine proceed per iteration of the event loop, in the order of requests.

    Replies often arrive together; processed in one iteration, they would lead to bursts of calls.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turn_taken = False

    async def take_turn(self) -> None:
        """Wait until no other coroutine has proceeded in the present iteration of the event loop."""
        loop = asyncio.get_running_loop()
        if not self._turn_taken:
            self._turn_taken = True
            loop.call_soon(self._start_next_turn)
            return
        waiter = loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _start_next_turn(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                asyncio.get_running_loop().call_soon(self._start_next_turn)
                return
        self._turn_taken = False


class Committer:
    """Schedule commits; if a commit fails, the next method call on this object raises the error."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._scheduled: asyncio.TimerHandle | None = None
        self._uncommitted_paid = 0
        self._not_before = 0.0
        self._error: Exception | None = None

    def schedule_commit(self, *, paid: bool = False) -> None:
        """Schedule a commit, because something was recorded."""
        self.check()
        self._uncommitted_paid += paid
        if self._uncommitted_paid >= MAX_UNCOMMITTED_PAID:
            self._commit_paid()
            self.check()
        elif paid and self._uncommitted_paid == 1:
            asyncio.get_running_loop().call_soon(self._commit_paid)
        if self._scheduled is None:
            delay = max(0.0, self._not_before - monotonic())
            self._scheduled = asyncio.get_running_loop().call_later(delay, self._commit)

    def _commit_paid(self) -> None:
        """Commit the paid replies; if the process is killed before this, the run must pay for them again."""
        if self._uncommitted_paid:
            self._try(self._ledger.commit_attempts)

    def check(self) -> None:
        """Raise the error of an earlier commit, if there was one."""
        if self._error is not None:
            raise self._error

    def flush(self) -> None:
        """Commit all pending records, and raise the error of a failed commit."""
        self._commit()
        self.check()

    def _commit(self) -> None:
        if self._scheduled is not None:
            self._scheduled.cancel()
        self._scheduled = None
        self._try(self._ledger.commit)
        self._not_before = monotonic() + COMMIT_INTERVAL

    def _try(self, commit: Callable[[], None]) -> None:
        self._uncommitted_paid = 0
        if self._error is not None:
            return
        try:
            commit()
        except Exception as error:  # check() raises the error later; here nothing would catch it
            self._error = error


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
