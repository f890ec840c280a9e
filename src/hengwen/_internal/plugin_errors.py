"""Describe the exception of a plug-in for a Failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.errors import JudgeError
from hengwen.records import STATUSES

if TYPE_CHECKING:
    from hengwen.records import Status


def describe_error(error: BaseException) -> tuple[Status, str, str]:
    """Return the status, the message and the raw reply for the Failure of an exception.

    Examples:
        >>> describe_error(JudgeError("cut off", status="truncated", raw="{"))
        ('truncated', 'cut off', '{')
        >>> describe_error(KeyError("title"))
        ('scorer_error', "KeyError: 'title'", '')
    """
    if isinstance(error, JudgeError):
        status: Status = next((known for known in STATUSES if known == error.status), "scorer_error")
        return status, str(error), error.raw
    return "scorer_error", f"{type(error).__name__}: {error}", ""
