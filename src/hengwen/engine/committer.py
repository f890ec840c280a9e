"""One commit for what came in a while; answers that were bought do not wait for it."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.protocols import Ledger


PAUSE = 0.01
"""Seconds from one commit of everything to the next: what came since is made again, of the answers, where the
process is killed. A longer one writes less, but holds up the calls that follow for longer."""
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
            self._try(self._ledger.commit_attempts)
            self.check()
        if self._scheduled is None:
            wait = max(0.0, self._not_before - monotonic())
            self._scheduled = asyncio.get_running_loop().call_later(wait, self._flush)

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
        self._scheduled = None
        self._try(self._ledger.commit)
        self._not_before = monotonic() + PAUSE

    def _try(self, commit: Callable[[], None]) -> None:
        self._bought = 0
        if self._error is not None:
            return
        try:
            commit()
        except Exception as error:  # maybe in a callback of the loop: the error waits for check()
            self._error = error
