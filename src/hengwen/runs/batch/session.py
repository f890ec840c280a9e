"""Run a plan in rounds: write the missing calls to files, send the files; repeat until no call is missing."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hengwen.backends.openai.backend import OpenAIBackend
from hengwen.engine.limits.limiter import interruptible_sleep
from hengwen.engine.metered_backend import LedgerBackend
from hengwen.errors import BackendError, ConfigError
from hengwen.records import digest
from hengwen.runs.batch.backend import (
    BatchBackend,
    BatchedBackend,
    DryBatchBackend,
    DryBatchQueue,
    FileCounts,
)
from hengwen.runs.batch.queue import BatchQueue, Limits
from hengwen.runs.batch.replies import ReplyCounts, record_replies
from hengwen.runs.batch.submission import Submission, describe
from hengwen.runs.options import BatchOptions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from hengwen.backends.openai.batch_lines import BatchLines
    from hengwen.engine.budget import Budget
    from hengwen.runs.batch.submission import Progress
    from hengwen.runs.resources import RunResources
    from hengwen.store.batches import CallHead

Result = TypeVar("Result")


class BatchSession:
    """The batches of one command."""

    def __init__(
        self,
        options: BatchOptions | None,
        queue: BatchQueue,
        backends: Mapping[str, BatchedBackend],
        budget: Budget,
        stopping: asyncio.Event,
    ) -> None:
        self.queue = queue
        self.warnings: list[str] = []
        self._options = options
        self._store = queue.store
        self._backends = backends
        self._budget = budget
        self._stopping = stopping
        self._submissions: dict[str, Submission] = {}
        queue.online = options is None

    def wrapper(self, name: str) -> Callable[..., LedgerBackend]:
        """Return what wraps a backend: a class that collects calls in files, or one that sends them."""
        if name not in self._backends:
            return LedgerBackend
        kind = DryBatchBackend if isinstance(self.queue, DryBatchQueue) else BatchBackend
        return partial(kind, settings=self._backends[name], queue=self.queue)

    def file_counts(self, name: str, role: str) -> FileCounts | None:
        """Return how many batch files, and of what size, a run would write for a backend and role."""
        if name not in self._backends or not isinstance(self.queue, DryBatchQueue):
            return None
        return self.queue.counts.get((name, role), FileCounts())

    async def run(self, evaluate: Callable[[], Awaitable[Result]]) -> Result | None:
        """Carry out the action of the batch options: ``run``, ``export``, ``import`` or ``cancel``."""
        action = "online" if self._options is None else self._options.action
        if action == "cancel":
            await self._cancel()
            return None
        if action == "online":
            self._check_none_open()
            result = await self._pass(evaluate)
            self._store.forget()
            return result
        if action == "export":
            return await self._export(evaluate)
        if action == "import":
            return await self._import(evaluate)
        return await self._run(evaluate)

    async def _run(self, evaluate: Callable[[], Awaitable[Result]]) -> Result:
        assert self._options is not None
        self._check_none_exported()
        submissions = self._open_submissions()
        for submission in submissions:
            await submission.recover()
            submission.hold_budget()
        while True:
            await self._send(submissions)
            result = await self._pass(evaluate)
            if not self.queue.collected:
                self._store.forget()
                return result
            if self.queue.collected < self._options.online_below:
                self._release(self.queue.discard())
                self.queue.online = True
            else:
                self.queue.seal()

    async def _pass(self, evaluate: Callable[[], Awaitable[Result]]) -> Result:
        self._budget.stopped = False  # a call that did not fit before may fit now
        self.queue.start_pass()
        return await evaluate()

    async def _send(self, submissions: list[Submission]) -> None:
        for submission in submissions:
            await submission.upload()
        await self._poll([submission.advance for submission in submissions])
        cancelled = [batch_id for submission in submissions for batch_id in submission.cancelled]
        if cancelled:
            raise BackendError(
                f"batch {cancelled[0]} was cancelled at the provider; its replies are kept, and the same "
                "command sends the rest again"
            )

    async def _poll(self, advances: list[Callable[[], Awaitable[Progress]]]) -> None:
        """Ask for the state of the batches at intervals until all have ended."""
        options = self._options
        assert options is not None
        last = ""
        while not self._stopping.is_set():
            states = [await advance() for advance in advances]
            words = describe(states)
            if words and words != last and options.report is not None:
                options.report(words)
            last = words
            open_batches = sum(state.open for state in states)
            lost = [message for state in states for message in state.lost]
            if lost and open_batches == len(lost):
                raise BackendError(lost[0])
            if not open_batches:
                return
            await interruptible_sleep(options.poll_seconds, self._stopping)
        raise asyncio.CancelledError

    def _open_submissions(self) -> list[Submission]:
        if not self._backends:
            raise ConfigError(
                "no backend of the plan has a batch endpoint: it needs provider: openai and batch: true"
            )
        for file in self._store.files():
            if file.backend not in self._backends:
                raise ConfigError(
                    f"batch {file.remote_id or file.id} was sent by backend {file.backend!r}, which has no "
                    "batch endpoint in the plan any more; restore the backend to collect its replies"
                )
        for name, backend in self._backends.items():
            self._submissions[name] = Submission(
                backend.online.batch_client(), backend, self.queue, self._budget, self._stopping
            )
        return list(self._submissions.values())

    def _check_none_open(self) -> None:
        """Check that no batch is open at a provider, because its calls would be paid for twice."""
        sent = self._store.files("uploaded", "created")
        if sent:
            raise ConfigError(
                f"plan {self._store.plan!r} has {len(sent)} open batches with "
                f"{sum(file.requests for file in sent):,} calls; collect them with: "
                "hengwen batch submit PLAN, or cancel them with: hengwen batch cancel PLAN"
            )

    def _check_none_exported(self) -> None:
        files = self._store.files("exported")
        if files:
            raise ConfigError(
                f"plan {self._store.plan!r} has {len(files)} exported files; import the replies with "
                "hengwen batch import PLAN FILE, or give the files up with: hengwen batch cancel PLAN"
            )

    async def _export(self, evaluate: Callable[[], Awaitable[Result]]) -> Result:
        if not self._backends:
            self._open_submissions()
        self._check_none_open()
        self._give_up_unsent()
        try:
            result = await self._pass(evaluate)
        except BaseException:
            self.queue.discard()  # an incomplete export would look like a complete one
            raise
        self.queue.seal("exported")
        return result

    async def _import(self, evaluate: Callable[[], Awaitable[Result]]) -> Result:
        assert self._options is not None
        counts = ReplyCounts()
        backend_of = {file.id: file.backend for file in self._store.files("exported")}

        def lines_of(head: CallHead) -> BatchLines | None:
            backend = self._backends.get(backend_of.get(head.batch_id, ""))
            return None if backend is None else backend.lines

        for path in self._options.files:
            record_replies(path, self._store, lines_of, counts)
        if counts.problems():
            self.warnings.append(f"skipped {counts.problems()}")
        if not counts.replies and not counts.errors:
            raise ConfigError(
                "the files hold no reply to an exported call of this plan; export the calls with "
                "hengwen batch export PLAN FOLDER first"
            )
        for file in self._store.files("exported"):
            if not self._store.count("open", batch_id=file.id):
                self._store.save(replace(file, state="ended"))
        result = await self._pass(evaluate)
        self._release(self.queue.discard())
        if not self.pending_calls:
            self._store.forget()
        return result

    def all_warnings(self) -> list[str]:
        """Return the warnings about files of replies and about batches that were given up."""
        of_batches = [words for submission in self._submissions.values() for words in submission.warnings]
        return self.warnings + of_batches

    @property
    def exported(self) -> tuple[Path, ...]:
        """Paths of the exported files, in the order of creation."""
        if self._options is None or self._options.action != "export":
            return ()
        return tuple(self.queue.path(file) for file in self._store.files("exported"))

    @property
    def pending_calls(self) -> int:
        """Number of calls that are still missing after an export or import."""
        return self.queue.missing + self._store.count("open")

    async def _cancel(self) -> None:
        self._give_up_unsent()
        if self._store.files():
            submissions = self._open_submissions()
            for submission in submissions:
                await submission.recover()
                await submission.cancel()
            await self._poll([submission.advance_cancelled for submission in submissions])

    def _give_up_unsent(self) -> None:
        """Drop exported files from the store (they stay on disk); delete the unsent files of earlier runs."""
        for file in self._store.files("exported"):
            self._store.void(file)
        for file in self._store.files("collecting", "ready"):
            self.queue.remove(file)

    def _release(self, cost: float) -> None:
        if self._budget.limit is not None:
            self._budget.reserved -= cost

    async def close(self) -> None:
        """Close the connections and files; files that were not sent are deleted by the next run."""
        self.queue.close()
        for submission in self._submissions.values():
            await submission.close()


def batch_session(resources: RunResources) -> BatchSession | None:
    """Return the batch session of a run; None if no batch is requested and none is open in the store."""
    plan, options = resources.suite.plan, resources.options
    store = resources.store.batches(plan.name)
    if options.batch is None and (resources.dry or not (store.has_replies() or store.files())):
        return None
    backends = {
        name: BatchedBackend(
            name=name,
            online=backend,
            lines=backend.batch_lines(),
            spec=spec,
            price=resources.batch_price(name),
        )
        for name, backend in resources.backends.items()
        if isinstance(backend, OpenAIBackend) and (spec := resources.specs[name]).batch
    }
    bounds = options.batch or BatchOptions()
    limits = {
        name: Limits(requests=bounds.max_requests, bytes=bounds.max_bytes, tokens=backend.spec.batch_tokens)
        for name, backend in backends.items()
    }
    batch = options.batch
    spool = _spool(store.path, resources.store.name, plan.name)
    folder = spool if batch is None or batch.folder is None else batch.folder
    if resources.dry:
        queue: BatchQueue = DryBatchQueue(store, limits, folder)
    else:
        prefix = f"{resources.started_at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        queue = BatchQueue(store, limits, folder, prefix, spool)
    return BatchSession(options.batch, queue, backends, resources.budget, resources.stopping)


def _spool(path: Path | None, store: str, plan: str) -> Path:
    """Return the folder of the files to send: next to a SQLite store, otherwise a temporary folder."""
    if path is None:  # the same folder for the same plan, so that the next command deletes what a crash left
        return Path(tempfile.gettempdir()) / f"hengwen-{digest(store, plan)[:16]}.batches"
    return path.with_name(f"{path.name}.batches")
