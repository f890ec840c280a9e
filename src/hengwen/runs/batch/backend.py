"""Backends of a run in batches: calls without a stored reply are written to files, or only counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hengwen.engine.budget import estimate
from hengwen.engine.dry_run import PLACEHOLDER_ANSWER
from hengwen.engine.metered_backend import CallPending, LedgerBackend, reply_of
from hengwen.errors import BackendError, JudgeError
from hengwen.records import Reply, Usage, digest
from hengwen.runs.batch.queue import BatchQueue
from hengwen.store.batches import BatchCall
from hengwen.store.call_key_filter import CallKeyFilter
from hengwen.store.tables import BATCHED, UNREAD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hengwen.backends.openai.backend import OpenAIBackend
    from hengwen.backends.openai.batch_lines import BatchLines
    from hengwen.engine.budget import Price
    from hengwen.plans.plan import BackendSpec
    from hengwen.protocols import Parsed
    from hengwen.records import Request
    from hengwen.runs.batch.queue import Limits
    from hengwen.store.batches import BatchStore


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedBackend:
    """Settings of one backend of a plan, as far as a run in batches needs them."""

    name: str
    online: OpenAIBackend
    lines: BatchLines
    spec: BackendSpec
    price: Price | None
    """Price of the batch endpoint; None if it is unknown."""


class BatchBackend(LedgerBackend):
    """Return the stored or downloaded reply to a call; if there is none, add the call to a batch file.

    A downloaded reply is parsed and recorded like one of a single call. If that fails, the judge's repair
    call goes into the next file; then the same error leads to the same repair call, now replied to.
    """

    def __init__(self, *online: Any, settings: BatchedBackend, queue: BatchQueue, **options: Any) -> None:
        super().__init__(*online, **options)
        self._settings = settings
        self._queue = queue

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return the reply to a request, together with its parsed value."""
        call_key = request.key(self.endpoint)
        custom_id = custom_id_of(call_key, self._cache_scope)
        call = self._queue.find(custom_id)
        was_read = self._queue.read.might_contain(custom_id)
        if call is not None and call.attempt.status == UNREAD and not was_read:
            return self._read(call, parse)
        stored = self._context.ledger.find_call(call_key, self._cache_scope)
        if stored is not None:
            reply = reply_of(stored)
            return reply, parse(reply)
        if call is not None and call.state == "replied":  # the reply could not be parsed
            reply = reply_of(call.attempt)
            return reply, parse(reply)
        if call is not None and not self._may_send_again(call):
            raise BackendError(call.message, status=call.attempt.status, raw=call.attempt.raw)
        if self._queue.online:
            return await super().complete_parsed(request, parse)
        if call is None or call.state != "open":
            self._collect(call_key, custom_id, request, call)
        raise CallPending

    def _may_send_again(self, call: BatchCall) -> bool:
        """Return whether a call waits in a batch file, or may be sent once more."""
        if call.state == "again":
            return call.tries <= self._retries
        return call.state in ("open", "refused")

    def _read(self, call: BatchCall, parse: Callable[[Reply], Parsed]) -> tuple[Reply, Parsed]:
        """Parse a downloaded reply, and record its attempt as if the call had been sent now."""
        reply, status = replace(reply_of(call.attempt), usage=call.attempt.usage), "ok"
        self._queue.read.add(call.custom_id)
        try:
            return reply, parse(reply)
        except JudgeError as error:
            status = error.status
            raise
        finally:
            self._context.usage[self._role] += call.attempt.usage
            self._context.ledger.record_attempt(replace(call.attempt, status=status))
            self._context.committer.schedule_commit()

    def _collect(self, call_key: str, custom_id: str, request: Request, earlier: BatchCall | None) -> None:
        backend = self._settings
        if earlier is not None:
            modes = backend.lines.schema_modes
            modes.start_at(earlier.response_format)
            if earlier.state == "refused":
                error = BackendError(earlier.message)
                modes.downgrade_on(400, error, earlier.response_format, earlier.logprobs)
        line, response_format, logprobs = backend.lines.encode(custom_id, request)
        if not self._queue.fits(backend.name, line):
            raise BackendError(
                f"a request of {len(line):,} bytes is larger than a batch file may be", status="rejected"
            )
        expected = estimate(request, self._params)
        self._context.budget.reserve(backend.price, expected)
        call = BatchCall(
            custom_id=custom_id,
            batch_id="",
            attempt=self.new_attempt(call_key, request, BATCHED),
            tries=1 if earlier is None else earlier.tries + (earlier.state != "refused"),
            response_format=response_format,
            logprobs=logprobs,
            message="" if earlier is None else earlier.message,
        )
        cost = 0.0 if backend.price is None else backend.price.cost(expected)
        self._queue.add(backend.name, line, call, expected, cost)


def custom_id_of(call_key: str, cache_scope: str) -> str:
    """Return the id of a call in batch files: its call key, or a hash if only one run may use the reply."""
    return digest("batch", call_key, cache_scope) if cache_scope else call_key


@dataclass(slots=True)
class FileCounts:
    """Batch files that a run would write for one backend and role, and the size of the last one."""

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
