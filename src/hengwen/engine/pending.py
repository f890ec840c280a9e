"""The exception for a call that waits for a batch endpoint; it is neither an error nor a ``Failure``."""

from __future__ import annotations


class CallPending(BaseException):
    """Raised by a backend instead of a reply: the call is in a file for a batch endpoint.

    The sample that needs the reply is left for a later pass of the run. The class derives from BaseException,
    like ``asyncio.CancelledError``, so that no scorer, judge or panel turns it into a ``Failure``.
    """
