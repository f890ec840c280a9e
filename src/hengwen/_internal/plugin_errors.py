"""Describe an exception that a plug-in raised, so that it can be recorded as a Failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.errors import JudgeError
from hengwen.records import STATUSES

if TYPE_CHECKING:
    from hengwen.records import Status


def describe_error(error: BaseException) -> tuple[Status, str, str]:
    """Return (status, message, raw reply) of the Failure that records an exception."""
    if isinstance(error, JudgeError):
        status: Status = next((known for known in STATUSES if known == error.status), "scorer_error")
        return status, str(error), error.raw
    return "scorer_error", f"{type(error).__name__}: {error}", ""
