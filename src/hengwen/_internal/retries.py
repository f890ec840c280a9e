"""Retries of a failed call: which failures are retried, and how long each retry waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import AsyncRetrying, RetryCallState

MAX_RETRY_WAIT = 60.0
"""Maximum number of seconds before a retry, even if the endpoint asks for more."""


def retrying(retries: int, sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """Return an iterator over the attempts to make a call; a failure during an outage uses up no retry."""
    from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential

    jitter = wait_random_exponential(multiplier=0.5, max=MAX_RETRY_WAIT)
    failures = 0

    def stop(state: RetryCallState) -> bool:
        nonlocal failures
        failures += not _is_outage(state)
        return failures > retries

    def wait(state: RetryCallState) -> float:
        if _is_outage(state):  # the limiter holds the call until the endpoint replies again
            return 0.0
        error = state.outcome.exception() if state.outcome is not None else None
        retry_after = error.retry_after if isinstance(error, BackendError) else None
        return min(retry_after, MAX_RETRY_WAIT) if retry_after is not None else jitter(state)

    return AsyncRetrying(
        sleep=sleep,
        stop=stop,
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, BackendError) and error.retryable),
        reraise=True,
    )


def _is_outage(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome is not None else None
    return isinstance(error, BackendError) and error.is_outage
