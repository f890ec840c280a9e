"""Parts of a dry run for batch endpoints: count the requests and the batch files, but write none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.engine.dry_run import PLACEHOLDER_ANSWER
from hengwen.engine.metered_backend import CallPending
from hengwen.records import Reply, Usage
from hengwen.runs.batch.backend import BatchBackend
from hengwen.runs.batch.queue import BatchQueue
from hengwen.store.call_key_filter import CallKeyFilter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hengwen.protocols import Parsed
    from hengwen.records import Request
    from hengwen.runs.batch.queue import Limits
    from hengwen.store.batches import BatchCall, BatchStore


@dataclass(slots=True)
class FileCounts:
    """Batch files (files of requests) that a run would write for one backend and role.

    The counts are the number of files, the estimated usage of all files, and the size of the last file.
    """

    files: int = 0
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    """Number of requests in the last batch file."""
    bytes: int = 0
    """Size of the last batch file in bytes."""
    tokens: int = 0
    """Estimated tokens of the prompts in the last batch file."""


class DryBatchQueue(BatchQueue):
    """Count the calls that would be added to batch files."""

    def __init__(self, store: BatchStore, limits: dict[str, Limits], folder: Path) -> None:
        super().__init__(store, limits, folder, "dry")
        self.counts: dict[tuple[str, str], FileCounts] = {}
        self._added = CallKeyFilter()
        self._last: BatchCall | None = None

    def find(self, custom_id: str) -> BatchCall | None:
        """The call with this id; None if it is in no batch file and this dry run has not counted it."""
        return self._last if self._added.might_contain(custom_id) else self.store.find(custom_id)

    def add(self, backend: str, line: bytes, call: BatchCall, expected: Usage, cost: float) -> None:
        """Count a call."""
        self._added.add(call.custom_id)
        self._last = call
        counts = self.counts.setdefault((backend, call.attempt.role), FileCounts())
        size = (counts.requests + 1, counts.bytes + len(line), counts.tokens + expected.input_tokens)
        if not counts.files or self._limits[backend].is_exceeded(*size):
            counts.files += 1
            size = (1, len(line), expected.input_tokens)
        counts.requests, counts.bytes, counts.tokens = size
        counts.usage += expected
        self.collected += 1


class DryBatchBackend(BatchBackend):
    """Count calls; for a model under test, return a placeholder, because judges need an answer."""

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return the stored reply to a request, or count the call and return a placeholder reply."""
        try:
            return await super().complete_parsed(request, parse)
        except CallPending:
            if self._role == "judge":
                raise
        reply = Reply(text=PLACEHOLDER_ANSWER)
        return reply, parse(reply)
