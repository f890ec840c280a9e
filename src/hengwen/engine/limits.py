"""Limits of the calls to an endpoint: concurrency, and calls and tokens per minute."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Literal

from hengwen.errors import BackendError

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter


WINDOW = 20
"""Number of the latest calls among which refused ones are counted; those without a reply are not refused."""
MIN_REFUSED, MIN_REFUSED_SHARE = 3, 0.25
"""Calls count as sent too fast if at least this number and this share of the latest calls were refused."""
BLOCK = 60
"""The send rate is checked after each block of this many replies (good replies and refusals)."""
MAX_CALM = 2
"""A block of replies is calm with at most this many refusals. If one at a lowered rate is not, refusals have
another cause than the rate."""
REPROBE = 1.25
"""Factor by which a lowered rate is raised after a block that is not calm."""
SAFE_SHARE = 0.8
"""Share of the rate before a refusal that counts as safe: up to it, the limit rises quickly, then slowly."""
START, RECOVERY, GROWTH = 1.03, 1.05, 1.001
"""Factors by which a good reply raises the rate: while no safe rate is known, below it, above it."""
GROWTH_PER_SECOND = 0.02
"""Share by which the rate grows in a second above the safe rate, if ``GROWTH`` would be slower."""
MIN_RATE = 1.0
"""The rate never falls below this number of calls per second."""
METER_SECONDS = 1.0
"""Length in seconds of the period in which good replies are counted."""
MAX_LATE_SECONDS = 0.02
"""If a call was sent late, the next call may be sent earlier by at most this many seconds."""


class SendRate:
    """Limit on the calls per second; there is no limit until the endpoint refuses a quarter of the calls.

    Then the limit is half of the rate at which the endpoint has answered, is halved again at a quarter of
    refusals, and rises with good replies. Few refusals are judged by blocks of 60 replies: after a calm block
    the next refusal halves the limit, after another one the limit is raised.
    """

    def __init__(self) -> None:
        self.rate = inf
        self._target = inf
        self._next = 0.0
        self._held_until = self._last_good = 0.0
        self._good_times: deque[float] = deque()
        self._last_changed = self._first_refused = 0
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._refused_tickets: deque[int] = deque(maxlen=WINDOW)
        self._is_calm = False
        self._begin_block()

    def _begin_block(self) -> None:
        self._replies = self._refused = 0

    def next_at(self) -> float:
        """Return the time at which the next call may be sent."""
        return max(self._next, self._held_until)

    def on_sent(self, now: float) -> None:
        """Record that a call was sent."""
        if self.rate < inf:
            self._next = max(self._next, now - MAX_LATE_SECONDS) + 1 / self.rate

    def on_good(self, ticket: int, now: float) -> None:
        """Raise the rate after a good reply."""
        self._good_times.append(now)
        self._forget_good_times(now)
        if ticket <= self._first_refused:
            return
        if self._next > now:  # only if the limit delays calls at present
            self._grow(min(1.0, now - self._last_good))
        self._last_good = now
        self._count_reply()

    def _grow(self, seconds: float) -> None:
        if self._target == inf:
            self.rate *= START
        elif self.rate < self._target:
            self.rate = min(self._target, self.rate * RECOVERY)
        else:
            self.rate *= max(GROWTH, 1 + GROWTH_PER_SECOND * seconds)

    def on_refused(self, ticket: int, *, last_ticket: int, in_flight: int, wait: float, now: float) -> None:
        """Lower the rate if the refusals show that it is too high."""
        if ticket <= self._last_changed:  # the call was sent before the rate was lowered
            return
        self._refused_tickets.append(ticket)
        refused = [number for number in self._refused_tickets if number > ticket - WINDOW]
        share = len(refused) / min(WINDOW, ticket - self._last_changed)
        if len(refused) >= MIN_REFUSED and share >= MIN_REFUSED_SHARE:
            if self.rate == inf:
                self._slow_down(self._answered_rate(now, in_flight) / 2, inf, last_ticket)
                self._first_refused = min(refused)  # only replies to later calls raise the rate
                self._next = now + 1 / self.rate
            elif share < 1:
                self._held_until = now + wait
                self._slow_down(self.rate / 2, SAFE_SHARE * self.rate * (1 - share), last_ticket)
            else:  # if every call is refused, the rate is not the cause
                self._held_until = now + wait
                self._slow_down(self.rate, self._target, last_ticket)
        elif self._is_calm and self.rate < inf:
            self._slow_down(self.rate / 2, SAFE_SHARE * self.rate, last_ticket)
        else:
            self._refused += 1
            self._count_reply()

    def forget_limit(self) -> None:
        """Let the rate grow fast: after an outage, the refusals in it say nothing of the accepted rate."""
        self._target = inf

    def _slow_down(self, rate: float, target: float, last_ticket: int) -> None:
        self.rate = max(MIN_RATE, rate)
        self._target = max(self.rate, target)
        self._last_changed = self._first_refused = last_ticket
        self._begin_epoch()

    def _count_reply(self) -> None:
        self._replies += 1
        if self._replies < BLOCK:
            return
        self._is_calm = self._refused <= MAX_CALM
        if not self._is_calm:
            self.rate *= REPROBE
            self._target = max(self._target, self.rate)
        self._begin_block()

    def _answered_rate(self, now: float, in_flight: int) -> float:
        """Return how many calls the endpoint accepted in the last second; open calls count as accepted."""
        self._forget_good_times(now)
        return (len(self._good_times) + in_flight) / METER_SECONDS

    def _forget_good_times(self, now: float) -> None:
        while self._good_times and self._good_times[0] < now - METER_SECONDS:
            self._good_times.popleft()


GIVE_UP_SECONDS = 60.0
"""An endpoint that replied before is given up when its calls have failed for this long."""
FIRST_GIVE_UP_SECONDS = 10.0
"""The same for an endpoint that never replied in this run: its address is probably wrong."""
PROBE_SECONDS = 1.0
"""Interval between probes during a pause. A probe is one of the calls that wait."""
MIN_FAILURES = 8
"""Calls pause after this number of failures in a row, or after half the slots if that is more."""
OUTAGES = ("transport_error", "rate_limited")
"""Statuses of an outage. A timeout is none: a slow model replies when fewer calls are open."""
FIRST_GIVE_UP_TIMEOUTS, GIVE_UP_TIMEOUTS = 2, 8
"""Timeouts in a row of calls open alone after which an endpoint that never replied, or did, is given up."""


class Circuit:
    """The state of one endpoint: ``closed`` (calls are sent), ``paused`` (only probes), or ``given_up``."""

    def __init__(self, slots: int, give_up_seconds: float = GIVE_UP_SECONDS) -> None:
        self.state: Literal["closed", "paused", "given_up"] = "closed"
        self.failures = 0
        """Number of failures since the last good reply."""
        self.status = ""
        """Status of the last failure."""
        self._slots = slots
        self._give_up_seconds = give_up_seconds
        self.has_replied = False
        self._timeouts = 0
        self._failing_since = 0.0
        self._probe_at = 0.0

    def next_at(self) -> float:
        """Return the time from which a call may be sent."""
        return self._probe_at if self.state == "paused" else 0.0

    def on_sent(self, now: float) -> None:
        """Record that a call was sent."""
        self._probe_at = max(self._probe_at, now + PROBE_SECONDS)

    def on_reply(self) -> bool:
        """Record that the endpoint replied; return whether this ends a pause."""
        self.failures = self._timeouts = 0
        self.has_replied = True
        if self.state != "paused":
            return False
        self.state = "closed"
        return True

    def on_timeout(self, *, alone: bool) -> None:
        """Record that the endpoint did not reply in time to the calls that were open, or to one alone."""
        self._timeouts += 1
        if alone and self._timeouts >= (GIVE_UP_TIMEOUTS if self.has_replied else FIRST_GIVE_UP_TIMEOUTS):
            self.state, self.status, self.failures = "given_up", "timeout", self._timeouts

    def on_failure(self, error: BackendError, wait: float, now: float) -> bool:
        """Return whether a call failed because of an outage, so that the failure says nothing of the call."""
        if error.status not in (*OUTAGES, "rejected"):
            return False
        if not self.failures:
            self._failing_since = now
        self.failures += 1
        self.status = error.status
        if not error.retryable:
            if self.failures >= max(MIN_FAILURES, 2 * self._slots):
                self.state = "given_up"
            return False
        if self.state == "paused":
            patience = self._give_up_seconds
            if not self.has_replied:
                patience = min(patience, FIRST_GIVE_UP_SECONDS)
            if now - self._failing_since >= patience:
                self.state = "given_up"
        elif self.state == "closed" and self.failures >= max(MIN_FAILURES, self._slots // 2):
            self.state = "paused"
        self._probe_at = max(self._probe_at, now + max(PROBE_SECONDS, wait))
        return self.state == "paused"


MINUTE = 60.0
TIMER_SLACK = 0.0005
"""Maximum number of seconds by which a timer may fire early."""


class Limiter:
    """Decide when each call to one endpoint may be sent: a slot must be free and the send rate must allow it.

    A timeout halves the slots (calls without a reply), once for calls open together; an endpoint that never
    replied keeps one. Good replies add slots: ten of ten slots add one. Status 429 lowers ``SendRate``.
    """

    def __init__(
        self,
        ceiling: int,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        give_up_seconds: float = GIVE_UP_SECONDS,
        stopping: asyncio.Event | None = None,
    ) -> None:
        self._stopping = stopping or asyncio.Event()
        self.ceiling = max(1, ceiling)
        self.circuit = Circuit(self.ceiling, give_up_seconds)
        self.limit = float(self.ceiling)
        self.in_flight = 0
        self.send_rate = SendRate()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_ticket = 0
        self._timeout_ticket = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stop_watcher: asyncio.Task[bool] | None = None
        self._rpm = _per_minute(rpm)
        self._tpm = _per_minute(tpm)

    @property
    def counts_tokens(self) -> bool:
        """Whether ``acquire`` needs the number of tokens of a call."""
        return self._tpm is not None

    async def acquire(self, tokens: int = 0) -> int:
        """Wait until a call may be sent; return a ticket that identifies the call in other methods."""
        if self._rpm is not None:
            await self._acquire_rate(self._rpm, 1)
        if self._tpm is not None:
            await self._acquire_rate(self._tpm, min(max(tokens, 1), self._tpm.max_rate))
        if self._waiting or not self._may_send():
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            self._wake_waiters()
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
                else:
                    self.release()
                raise
        else:
            self._take_slot()
        self._last_ticket += 1
        return self._last_ticket

    async def _acquire_rate(self, rate: AsyncLimiter, amount: float) -> None:
        """Wait until the limit per minute allows this amount (calls or tokens), or the run must stop."""
        if self._stopping.is_set():
            return
        if rate.has_capacity(amount):
            await rate.acquire(amount)
            return
        tasks = [asyncio.ensure_future(rate.acquire(amount)), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def _slots(self) -> int:
        return int(self.limit)

    def _may_send(self) -> bool:
        if self.in_flight >= self._slots():
            return False
        return (
            self._stopping.is_set()
            or self.circuit.state == "given_up"
            or self._next_at() <= asyncio.get_running_loop().time() + TIMER_SLACK
        )

    def _next_at(self) -> float:
        return max(self.send_rate.next_at(), self.circuit.next_at())

    def _take_slot(self) -> None:
        self.in_flight += 1
        now = asyncio.get_running_loop().time()
        self.send_rate.on_sent(now)
        self.circuit.on_sent(now)

    def release(self) -> None:
        """Record that a call has ended, so that another one may start."""
        self.in_flight -= 1
        self._wake_waiters()

    def on_success(self, ticket: int) -> None:
        """Raise the number of slots and the rate after a good reply."""
        if self.circuit.on_reply():
            self.send_rate.forget_limit()
        self.send_rate.on_good(ticket, asyncio.get_running_loop().time())
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)
        self._wake_waiters()

    def on_failure(self, ticket: int, error: BackendError, wait: float) -> bool:
        """Lower the limits after a failed call; return whether it failed because of an outage."""
        now = asyncio.get_running_loop().time()
        if error.status == "timeout" and ticket > self._timeout_ticket:
            self._timeout_ticket = self._last_ticket
            self.circuit.on_timeout(alone=self.limit < 2)
            self.limit = max(1.0, self.limit / 2) if self.circuit.has_replied else 1.0
        if error.status == "rate_limited" and self.circuit.state == "closed":
            self.send_rate.on_refused(
                ticket, last_ticket=self._last_ticket, in_flight=self.in_flight, wait=wait, now=now
            )
        return self.circuit.on_failure(error, wait, now)

    def _wake_waiters(self) -> None:
        """Let as many waiting calls proceed as the limits allow; schedule a timer for the next call."""
        while self._waiting and self._may_send():
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._take_slot()
                waiter.set_result(None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and self.in_flight < self._slots():
            self._timer = asyncio.get_running_loop().call_at(self._next_at(), self._wake_waiters)
            self._watch_stop()

    def _watch_stop(self) -> None:
        """Let waiting calls proceed when the run must stop, so that they can end."""
        if self._stop_watcher is None:
            self._stop_watcher = asyncio.ensure_future(self._stopping.wait())
            self._stop_watcher.add_done_callback(lambda _: self._wake_waiters())


async def interruptible_sleep(seconds: float, stopping: asyncio.Event) -> None:
    """Sleep until the time is over or the event is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


def _per_minute(rate: float | None) -> AsyncLimiter | None:
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    return AsyncLimiter(rate, MINUTE)
