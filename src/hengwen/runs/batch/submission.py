"""Send the files of one backend to its batch endpoint, watch the batches, and collect their replies.

Each step is recorded after it was done; after a crash, ``recover`` looks for steps that are not recorded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from hengwen.backends.openai.batch_client import TOKEN_LIMIT_CODE, MissingError
from hengwen.engine.limits.limiter import interruptible_sleep
from hengwen.engine.metered_backend import retrying
from hengwen.errors import BackendError
from hengwen.runs.batch.queue import file_errors, make_private_folder
from hengwen.runs.batch.replies import ReplyCounts, record_replies

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import AsyncRetrying

    from hengwen.backends.openai.batch_client import BatchClient, RemoteBatch
    from hengwen.engine.budget import Budget
    from hengwen.runs.batch.backend import BatchedBackend
    from hengwen.runs.batch.queue import BatchQueue
    from hengwen.store.batches import BatchFile, CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The batches of one backend after a round of polling."""

    open: int
    """Number of batches that have not ended."""
    waiting: int
    """Number of open batches that wait for room in the provider's queue."""
    completed: int
    """Number of calls of running batches (started, not ended) that have succeeded or failed."""
    total: int
    """Number of calls of running batches (started, not ended) whose state is known."""
    problem: str = ""
    """Why the state or the replies of a batch are missing, or why a batch was refused; empty if neither."""
    lost: tuple[str, ...] = ()
    """Messages about batches that the provider does not know."""


def describe(states: list[Progress]) -> str:
    """Return the state of open batches in words; "" if none is open."""
    batches, waiting = sum(state.open for state in states), sum(state.waiting for state in states)
    if not batches:
        return ""
    completed, total = sum(state.completed for state in states), sum(state.total for state in states)
    words = f"{batches} open {'batch' if batches == 1 else 'batches'}: {completed:,} of {total:,} calls done"
    problems = [f"{waiting} wait for room in the provider's queue"] if waiting else []
    problems += [state.problem for state in states if state.problem]
    return "; ".join([words, *problems])


Result = TypeVar("Result")
ID_KEY, RUN_KEY, SHARD_KEY = "hengwen_batch", "hengwen_run", "hengwen_shard"
"""Keys of the metadata that is sent to the provider with a batch."""
MAX_METADATA = 512
"""Maximum number of characters of one value in the metadata of a batch."""
MAX_SKIPPED = 16
"""Maximum number of rounds between two attempts to create a batch for which there was no room."""
MAX_UNKNOWN = 20 * 60
"""Seconds for which the state or the replies of a batch may be missing before the run stops."""
DOWNLOADS = 2
"""Maximum number of downloads of a file; only a file with unreadable lines is downloaded again."""


class Submission:
    """The batches of one backend."""

    def __init__(
        self,
        client: BatchClient,
        backend: BatchedBackend,
        queue: BatchQueue,
        budget: Budget,
        stopping: asyncio.Event,
    ) -> None:
        self._client = client
        self._backend = backend
        self._queue = queue
        self._store = queue.store
        self._budget = budget
        self._stopping = stopping
        self._tokens = backend.spec.batch_tokens
        self._backoff = 0
        self._skip = 0
        self._unknown_since: dict[str, float] = {}
        """When the state or the replies of a batch were first missing, by the id of its file."""
        self._too_large = ""
        """Message about a batch that exceeded the token limit although no other batch was open."""
        self.warnings: list[str] = []
        self.cancelled: list[str] = []
        """Ids of batches that were cancelled at the provider."""

    def _files(self, *states: str) -> list[BatchFile]:
        files = self._store.files()
        return [file for file in files if file.backend == self._backend.name and file.state in states]

    def _attempts(self) -> AsyncRetrying:
        return retrying(self._backend.spec.retries, partial(interruptible_sleep, stopping=self._stopping))

    async def _retried(self, call: Callable[..., Awaitable[Result]], *arguments: object) -> Result:
        return await self._attempts()(call, *arguments)

    async def recover(self) -> None:
        """Record the files and batches that a crashed command sent; delete the files that it did not send."""
        for file in self._files("collecting"):
            self._queue.remove(file)
        ready = {remote_name(file): file for file in self._files("ready")}
        if ready:
            await self._retried(self._adopt_files, ready)
            for file in ready.values():
                self._queue.remove(file)
        uploaded = self._files("uploaded")
        if uploaded:
            await self._retried(self._adopt_batches, uploaded)
        for file in self._files("uploaded"):
            if self._exceeds_tokens(file):
                self._queue.remove(file)

    def _exceeds_tokens(self, file: BatchFile) -> bool:
        """Return whether a file has more tokens than a limit that was set after the file was written."""
        return self._tokens is not None and file.requests > 1 and file.input_tokens > self._tokens

    async def _adopt_files(self, ready: dict[str, BatchFile]) -> None:
        async for remote in self._client.files():
            file = ready.get(remote.name)
            if file is not None and remote.bytes == file.bytes:
                self._store.save(replace(file, state="uploaded", file_id=remote.id))
                self._queue.delete_content(file)
                del ready[remote.name]
            if not ready:
                return

    async def _adopt_batches(self, uploaded: list[BatchFile]) -> None:
        missing = {file.id: file for file in uploaded}
        async for remote in self._client.batches():
            file = next((file for file in missing.values() if _is_of(remote, file)), None)
            if file is not None:
                self._store.save(replace(file, state="created", remote_id=remote.id))
                del missing[file.id]
            if not missing:
                return

    async def upload(self) -> None:
        """Upload the files that are complete."""
        for file in self._files("ready"):
            if self._stopping.is_set():
                raise asyncio.CancelledError
            path, name = self._queue.path(file), remote_name(file)
            try:
                file_id = await self._retried(self._client.upload, path, name)
            except BackendError as error:
                raise _with_hint(error) from None
            self._store.save(replace(file, state="uploaded", file_id=file_id))
            self._queue.delete_content(file)

    async def advance(self) -> Progress:
        """Start batches for which there is room, and collect the replies of batches that have ended."""
        completed = total = ended = 0
        problems: list[str] = []
        lost: list[str] = []
        created = self._files("created")
        for file in created:
            try:
                remote = await self._client.retrieve(file.remote_id)
            except MissingError:
                lost.append(
                    f"batch {file.remote_id} is unknown to the provider; give it up with: "
                    "hengwen batch cancel PLAN"
                )
                continue
            except BackendError as error:
                if not error.retryable or self._is_unknown_for_long(file):
                    raise
                problems.append(str(error))
                continue
            if remote.lacks_replies and remote.is_final:
                problems.append(f"batch {remote.id} has ended, and its replies are not there yet")
                if self._is_unknown_for_long(file):
                    raise BackendError(
                        f"{problems[-1]}; the same command looks for them again, hengwen batch cancel PLAN "
                        "gives them up"
                    )
                continue
            self._unknown_since.pop(file.id, None)
            if remote.exceeds_token_limit:
                self._refuse(file, remote, is_alone=len(created) == 1)
            elif remote.is_final:
                await self._collect(file, remote)
                ended += 1
            else:
                completed += remote.completed + remote.failed
                total += file.requests
                if remote.status != "validating":
                    self._too_large = ""
        await self._start_batches(has_room=ended > 0)
        waiting = len(self._files("uploaded"))
        number = waiting + len(self._files("created"))
        problem = "; ".join([*lost, *problems, *filter(None, [self._too_large])])
        return Progress(
            open=number,
            waiting=waiting,
            completed=completed,
            total=total,
            problem=problem,
            lost=tuple(lost),
        )

    def _is_unknown_for_long(self, file: BatchFile) -> bool:
        now = monotonic()
        return now - self._unknown_since.setdefault(file.id, now) >= MAX_UNKNOWN

    def _refuse(self, file: BatchFile, remote: RemoteBatch, *, is_alone: bool) -> None:
        if self._exceeds_tokens(file):
            self._budget.reserved -= self._reserved(file)
            self._queue.remove(file)
            return
        self._store.save(replace(file, state="uploaded", remote_id=""))
        self._wait_for_room()
        if is_alone:
            reason = next(message for code, message in remote.errors if code == TOKEN_LIMIT_CODE)
            self._too_large = (
                f"batch {remote.id} was refused: {reason or TOKEN_LIMIT_CODE}; if nothing else is enqueued, "
                f"set batch_tokens of backend {self._backend.name!r}, then start the same command again"
            )

    def _wait_for_room(self) -> None:
        self._backoff = min(2 * self._backoff or 1, MAX_SKIPPED)
        self._skip = self._backoff

    async def _start_batches(self, *, has_room: bool) -> None:
        if self._skip and not has_room:
            self._skip -= 1
            return
        self._skip = 0
        for file in self._files("uploaded"):
            enqueued = [other.input_tokens for other in self._files("created")]
            if self._tokens is not None and enqueued and sum(enqueued) + file.input_tokens > self._tokens:
                return
            remote = await self._create(file)
            if remote is None:
                self._wait_for_room()
                return
            self._store.save(replace(file, state="created", remote_id=remote.id))

    async def _create(self, file: BatchFile) -> RemoteBatch | None:
        """Create a batch; return None if the provider has no room for it now."""
        metadata = {ID_KEY: file.id, RUN_KEY: file.runs[:MAX_METADATA], SHARD_KEY: str(file.shard)}
        async for attempt in self._attempts():
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    async for remote in self._client.batches():
                        if _is_of(remote, file):
                            return remote
                try:
                    return await self._client.create(file.file_id, metadata)
                except BackendError as error:
                    if error.status == "rate_limited" and error.retryable:
                        return None
                    raise
        raise AssertionError("tenacity raises the last error again")  # pragma: no cover

    async def _collect(self, file: BatchFile, remote: RemoteBatch, *, again: bool = True) -> None:
        """Write the replies of an ended batch to the store, and count their cost."""
        counts = ReplyCounts()
        for _ in range(DOWNLOADS):
            counts = await self._download(file, remote)
            if not counts.unreadable:
                break
        status, state, message = _end_of(remote)
        self._budget.charge(self._reserved(file), self._backend.price, counts.usage)
        if remote.status == "cancelled":
            self.cancelled.append(remote.id)
        if counts.problems():
            self.warnings.append(f"batch {remote.id}: skipped {counts.problems()}")
        if again:
            self._store.end(file, status=status, message=message, state=state)
        else:
            self._store.void(file, was_cancelled=True)

    async def _download(self, file: BatchFile, remote: RemoteBatch) -> ReplyCounts:
        counts = ReplyCounts()
        path = self._queue.path(file).with_suffix(".replies")
        try:
            with file_errors(path):
                make_private_folder(path.parent)
            for file_id in filter(None, (remote.output_file_id, remote.error_file_id)):
                try:
                    with file_errors(path):
                        await self._retried(self._client.download, file_id, path)
                except MissingError as error:  # the provider deletes files after some weeks
                    self.warnings.append(f"batch {remote.id}: file {file_id} is lost: {error}")
                else:
                    record_replies(path, self._store, lambda _: self._backend.lines, counts)
        finally:
            path.unlink(missing_ok=True)
            self._queue.delete_content(file)
        return counts

    async def cancel(self) -> None:
        """Ask the provider to cancel the batches."""
        for file in self._files("uploaded"):
            self._queue.remove(file)
        for file in self._files("created"):
            try:
                await self._retried(self._client.cancel, file.remote_id)
            except MissingError as error:
                self.warnings.append(f"batch {file.remote_id} is given up: {error}")
                self._queue.remove(file)
            except BackendError as error:
                remote = await self._retried(self._client.retrieve, file.remote_id)
                if not remote.is_final:  # a batch that has ended cannot be cancelled
                    raise error from None

    async def advance_cancelled(self) -> Progress:
        """Collect the replies of cancelled batches that have ended."""
        for file in self._files("created"):
            remote = await self._retried(self._client.retrieve, file.remote_id)
            if remote.is_final:
                await self._collect(file, remote, again=False)
        return Progress(open=len(self._files("created")), waiting=0, completed=0, total=0)

    def hold_budget(self) -> None:
        """Reserve the cost of batches that an earlier process sent."""
        self._budget.reserved += sum(self._reserved(file) for file in self._files("uploaded", "created"))

    def _reserved(self, file: BatchFile) -> float:
        return 0.0 if self._budget.limit is None else file.cost

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def remote_name(file: BatchFile) -> str:
    """Return the name of an uploaded file at the provider."""
    return f"hengwen-{file.id}.jsonl"


def _is_of(remote: RemoteBatch, file: BatchFile) -> bool:
    """Return whether a batch was created from a file, and was not refused."""
    same_file = bool(file.file_id) and remote.input_file_id == file.file_id
    return remote.status != "failed" and (same_file or remote.metadata.get(ID_KEY) == file.id)


def _end_of(remote: RemoteBatch) -> tuple[str, CallState, str]:
    """Return status, state and message of the calls for which an ended batch has no line."""
    if remote.status == "expired":
        return "timeout", "again", f"batch {remote.id} expired before this call was executed"
    if remote.status == "cancelled":
        return "transport_error", "again", f"batch {remote.id} was cancelled before this call was executed"
    if remote.status == "failed":
        reasons = "; ".join(message or code for code, message in remote.errors[:3])
        message = f"batch {remote.id} was refused: {reasons or 'the provider gives no reason'}"
        return "rejected", "failed" if reasons else "again", message
    return "transport_error", "again", f"batch {remote.id} ended without a line for this call"


def _with_hint(error: BackendError) -> BackendError:
    if error.status != "rejected":
        return error
    return BackendError(
        f"the batch endpoint refused a file: {error}; if the server has no batch endpoint, set batch: false "
        "for its backend, or use: hengwen batch export PLAN FOLDER",
        status=error.status,
        raw=error.raw,
    )
