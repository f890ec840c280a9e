"""Backend and ledger of a dry run, which counts calls and estimates their tokens, but sends none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.backends.parsing import WrappedBackend
from hengwen.engine.budget import OUTPUT_TOKENS, estimate
from hengwen.errors import BackendError
from hengwen.records import Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.protocols import Backend, Ledger
    from hengwen.records import Request

PLACEHOLDER_ANSWER = "答" * OUTPUT_TOKENS
"""Response that a dry run assumes for the model under test, so that judges' calls can be counted."""


class DryBackend(WrappedBackend):
    """Count the calls to a backend without sending them."""

    def __init__(
        self, backend: Backend, *, answers: bool, params: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(backend)
        self._answers = answers
        self._params = params
        self.expected = Usage()

    async def complete(self, request: Request) -> Reply:
        """Count a call."""
        self.expected += estimate(request, self._params)
        if self._answers:
            return Reply(text=PLACEHOLDER_ANSWER)
        raise BackendError("a dry run sends no calls", status="budget")


class DryLedger:
    """Read from a ledger (the records of runs), and write nothing to it."""

    def __init__(self, ledger: Ledger) -> None:
        self.done, self.read = ledger.done, ledger.read
        self.find_call, self.next_attempt_no = ledger.find_call, ledger.next_attempt_no

    def commit(self, *_: object) -> None:
        """Write nothing."""

    begin = adopt = record_response = record_attempt = record_rows = commit_attempts = commit
