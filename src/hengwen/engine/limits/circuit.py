"""Whether calls are sent to an endpoint that fails; ``docs/judges.md`` draws the states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hengwen.errors import BackendError

GIVE_UP_SECONDS = 60.0
"""An endpoint that replied before is given up when its calls have failed for this long."""
FIRST_GIVE_UP_SECONDS = 10.0
"""The same for an endpoint that never replied in this run: its address is probably wrong."""
PROBE_SECONDS = 1.0
"""Interval between probes during a pause. A probe is one of the calls that wait."""
MIN_FAILURES = 8
"""Calls pause after this number of failures in a row, or after half the slots if that is more."""
OUTAGES = ("transport_error", "rate_limited")
"""Statuses with which an endpoint fails during an outage. A timeout is none: a slow model replies when fewer
calls are open, and the limiter sees to that."""
FIRST_GIVE_UP_TIMEOUTS, GIVE_UP_TIMEOUTS = 2, 8
"""Timeouts in a row after which an endpoint is given up, if the last call was open alone: of an endpoint that
never replied in this run, and of one that did. Calls that were open at the same time count as one."""


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
            if now - self._failing_since >= self._patience():
                self.state = "given_up"
        elif self.state == "closed" and self.failures >= max(MIN_FAILURES, self._slots // 2):
            self.state = "paused"
        self._probe_at = max(self._probe_at, now + max(PROBE_SECONDS, wait))
        return self.state == "paused"

    def _patience(self) -> float:
        return (
            self._give_up_seconds if self.has_replied else min(self._give_up_seconds, FIRST_GIVE_UP_SECONDS)
        )
