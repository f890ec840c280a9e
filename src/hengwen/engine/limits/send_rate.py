"""Find the rate of calls that an endpoint accepts, if it refuses some of them (status 429)."""

from __future__ import annotations

from collections import deque
from math import inf

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
