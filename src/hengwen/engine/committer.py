"""One commit for all that one turn of the event loop brought."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.protocols import Ledger


class Committer:
    """Schedules commits; a commit that failed is raised to whoever asks next.

    Args:
        ledger: What is committed.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._scheduled = False
        self._error: Exception | None = None

    def touch(self) -> None:
        """Something was recorded: commit it at the end of this turn.

        Raises:
            StoreError: An earlier commit failed.
        """
        self.check()
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

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
        except Exception as error:  # a callback of the loop: the error waits for check()
            self._error = error
