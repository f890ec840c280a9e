"""Commit the records of a run (the ledger) at intervals, and paid replies sooner.

A paid reply is committed at the latest in the next iteration of the event loop.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from hengwen.engine.pacing import COMMIT_INTERVAL, MAX_UNCOMMITTED_PAID

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.protocols import Ledger


class Committer:
    """Schedule commits; if a commit fails, the next method call on this object raises the error."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._scheduled: asyncio.TimerHandle | None = None
        self._uncommitted_paid = 0
        self._not_before = 0.0
        self._error: Exception | None = None
        self._after_attempts: list[Callable[[], None]] = []
        self._after_all: list[Callable[[], None]] = []

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

    def when_committed(self, callback: Callable[[], None], *, attempts_only: bool = False) -> None:
        """Call a function after the next commit, or at once if nothing has to be committed."""
        if self._scheduled is not None:
            (self._after_attempts if attempts_only else self._after_all).append(callback)
        elif self._error is None:
            callback()

    def _commit_paid(self) -> None:
        """Commit the paid replies; if the process is killed before this, the run must pay for them again."""
        if self._uncommitted_paid:
            self._try(self._ledger.commit_attempts, [self._after_attempts])

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
        self._try(self._ledger.commit, [self._after_attempts, self._after_all])
        self._not_before = monotonic() + COMMIT_INTERVAL

    def _try(self, commit: Callable[[], None], waiting: list[list[Callable[[], None]]]) -> None:
        self._uncommitted_paid = 0
        if self._error is not None:
            return
        try:
            commit()
        except Exception as error:  # check() raises the error later; here nothing would catch it
            self._error = error
            return
        for callbacks in waiting:
            for callback in callbacks:
                callback()
            callbacks.clear()
