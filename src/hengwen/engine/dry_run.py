"""A run without calls: what would be asked, and about how many tokens that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.engine.budget import OUTPUT_TOKENS, estimate
from hengwen.errors import BackendError
from hengwen.records import Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.protocols import Backend, CompletedIndex, EvaluationKey, Ledger
    from hengwen.records import Attempt, Outcome, Request, Response, Row, Run, Sample

STAND_IN = "答" * OUTPUT_TOKENS
"""For the answer of a subject, so that what is asked about it can be counted."""


class DryBackend:
    """Counts what a backend would be asked.

    Args:
        backend: Who would be asked.
        answers: Whether a stand-in comes back (for subjects); else every call fails.
        params: Of the backend, for estimates.
    """

    def __init__(
        self, backend: Backend, *, answers: bool, params: Mapping[str, object] | None = None
    ) -> None:
        self._backend = backend
        self._answers = answers
        self._params = params
        self.expected = Usage()

    @property
    def signature(self) -> str:
        """Of the backend behind."""
        return self._backend.signature

    @property
    def endpoint(self) -> str:
        """Of the backend behind."""
        return self._backend.endpoint

    async def complete(self, request: Request) -> Reply:
        """Count the call."""
        self.expected += estimate(request, self._params)
        if self._answers:
            return Reply(text=STAND_IN)
        raise BackendError("a dry run asks nobody", status="budget")

    async def close(self) -> None:
        """Close the backend behind."""
        await self._backend.close()


class DryLedger:
    """Reads from a ledger, and writes nothing to it.

    Args:
        ledger: What is there already.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def begin(self, run: Run) -> None:
        """Nothing begins."""

    def done(self, run: Run) -> CompletedIndex:
        """What is settled already."""
        return self._ledger.done(run)

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Nothing is copied."""

    def read(self, run_id: str, key: EvaluationKey) -> Sequence[Outcome]:
        """What is there already."""
        return self._ledger.read(run_id, key)

    def find_call(self, call_key: str, scope: str) -> Attempt | None:
        """The good attempt at this call, if there is one."""
        return self._ledger.find_call(call_key, scope)

    def next_number(self, call_key: str, scope: str) -> int:
        """The number of the next attempt at this call."""
        return self._ledger.next_number(call_key, scope)

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Nothing is kept."""

    def record_attempt(self, attempt: Attempt) -> None:
        """Nothing is kept."""

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Nothing is kept."""

    def commit(self) -> None:
        """Nothing is written."""

    def commit_attempts(self) -> None:
        """Nothing is written."""
