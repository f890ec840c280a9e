"""One commit for all that one turn of the event loop brought."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.protocols import Ledger


PAUSE = 0.005
"""Seconds between two commits: at a thousand replies a second one for each would cost more than the calls."""


class Committer:
    """Schedules commits; a commit that failed is raised to whoever asks next.

    Args:
        ledger: What is committed.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._scheduled = False
        self._not_before = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._error: Exception | None = None

    def touch(self) -> None:
        """Something was recorded: commit it at the end of this turn.

        Raises:
            StoreError: An earlier commit failed.
        """
        self.check()
        if not self._scheduled:
            self._scheduled = True
            loop = asyncio.get_running_loop()
            wait = self._not_before - loop.time()
            if wait > 0:
                loop.call_later(wait, self._flush)
            else:
                loop.call_soon(self._flush)
            self._loop = loop

    def check(self) -> None:
        """Raise the error of an earlier commit, if there was one."""
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Commit what is left, and raise what went wrong."""
        self._flush()
        self.check()

    def _flush(self) -> None:
        self._scheduled = False
        if self._error is not None:
            return
        try:
            self._ledger.commit()
            if self._loop is not None:
                self._not_before = self._loop.time() + PAUSE
        except Exception as error:  # a callback of the loop: the error waits for check()
            self._error = error
