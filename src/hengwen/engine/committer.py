"""One commit for what came in a turn of the event loop, or in a few where much comes."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.protocols import Ledger


SHARE = 9
"""How many times as long as the last commit took none is made: they take a tenth of the time at most."""
LONGEST_PAUSE = 0.02
"""Seconds: what came since the last commit is lost where the process is killed."""
MOST_BOUGHT = 3
"""Answers that a killed process would have to buy again: as many are committed at once."""


class Committer:
    """Schedules commits; a commit that failed is raised to whoever asks next.

    Args:
        ledger: What is committed.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._scheduled: asyncio.TimerHandle | None = None
        self._bought = 0
        self._not_before = 0.0
        self._error: Exception | None = None

    def touch(self, *, bought: bool = False) -> None:
        """Something was recorded: commit it soon.

        Args:
            bought: Lost, it would have to be bought again.

        Raises:
            StoreError: A commit failed.
        """
        self.check()
        self._bought += bought
        if self._bought >= MOST_BOUGHT:
            self.finish()
        elif self._scheduled is None:
            pause = max(0.0, self._not_before - monotonic())
            self._scheduled = asyncio.get_running_loop().call_later(pause, self._flush)

    def check(self) -> None:
        """Raise the error of an earlier commit, if there was one."""
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Commit what is left, and raise what went wrong."""
        self._flush()
        self.check()

    def _flush(self) -> None:
        if self._scheduled is not None:
            self._scheduled.cancel()
        self._scheduled, self._bought = None, 0
        if self._error is not None:
            return
        try:
            begin = monotonic()
            self._ledger.commit()
            end = monotonic()
            self._not_before = end + min(SHARE * (end - begin), LONGEST_PAUSE)
        except Exception as error:  # a callback of the loop: the error waits for check()
            self._error = error
