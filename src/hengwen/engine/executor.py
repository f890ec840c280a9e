"""Run a job: get the responses to every sample, score and judge them, and record the results once.

Up to three stages have their own concurrency: a model under test answers (``_generate``), worker processes
score (``_score``), other scorers and judges evaluate. Queues of limited size connect them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import count
from typing import Generic, TypeAlias, TypeVar

from anyio import EndOfStream, WouldBlock

from hengwen.engine.job import Job
from hengwen.engine.metered_backend import Committer, LoopYielder, stagger_start, worker_count
from hengwen.engine.sample_evaluation import Answered, Answers, RunEvaluation
from hengwen.engine.scoring import ScoringPool
from hengwen.protocols import Ledger

Item = TypeVar("Item")
Progress = Callable[[int, int], None]
"""Function that is called with (number of completed samples, number of all samples)."""

BATCH_SAMPLES = 100
"""Maximum number of samples that a worker process scores at a time."""
BATCH_CHARACTERS = 1_000_000
"""When the responses of a batch have this many characters, the batch gets no further sample."""
BATCHES_PER_WORKER = 3
"""Maximum number of batches per worker process that are scored or wait to be scored."""


class _Stream(Generic[Item]):
    """A stream of limited size between two stages; its consumers get None after its end."""

    def __init__(self, size: int) -> None:
        from anyio import create_memory_object_stream

        self._send, self._receive = create_memory_object_stream[Item](size)

    async def put(self, item: Item) -> None:
        """Add an item; wait while the stream is full."""
        try:
            self._send.send_nowait(item)
        except WouldBlock:
            await self._send.send(item)

    async def get(self) -> Item | None:
        """Return the next item; None after the last one."""
        try:
            try:
                return self._receive.receive_nowait()
            except WouldBlock:
                return await self._receive.receive()
        except EndOfStream:
            return None

    def get_nowait(self) -> Item | None:
        """Return the next item; None if no item waits."""
        try:
            return self._receive.receive_nowait()
        except (WouldBlock, EndOfStream):
            return None

    def end(self) -> None:
        """Let the consumers get the waiting items, then None."""
        self._send.close()

    def close(self) -> None:
        """Close both ends."""
        self._send.close()
        self._receive.close()


_Source: TypeAlias = "Answers | _Stream[Answered]"
"""A stage from which the next stage gets answered samples."""


async def execute(
    job: Job,
    ledger: Ledger,
    committer: Committer,
    *,
    concurrency: int = 16,
    progress: Progress | None = None,
    stopping: asyncio.Event | None = None,
    pool: ScoringPool | None = None,
) -> None:
    """Evaluate all responses of a run, except those whose scores are already recorded in the ledger."""
    stop = stopping or asyncio.Event()
    run = RunEvaluation(job, ledger, committer, stop, pool)
    yielder = LoopYielder()
    total = sum(len(task.samples) + len(task.anchors) for task in job.tasks)
    workers = worker_count(concurrency, total)
    count_completed = _counter(progress, total)
    answers = Answers(run, stop)

    async def work(source: _Source) -> None:
        while (answered := await source.get()) is not None:
            if stop.is_set():
                continue  # discard the sample, so that no earlier stage waits for room in the queue
            await _evaluate(run, answered, stop)
            count_completed()
            await yielder.yield_if_due()

    try:
        with ExitStack() as streams:
            async with asyncio.TaskGroup() as group:
                source: _Source = answers
                if any(task.target is not None for task in job.tasks):
                    source = await _generate(group, streams, answers, workers)
                if pool is not None:
                    source = _score(group, streams, run, source, pool, workers)
                for _ in range(workers):
                    group.create_task(work(source))
                    await stagger_start()
    except ExceptionGroup as errors:
        raise _first_error(errors) from None
    try:
        run.finish()
    finally:
        committer.flush()


def _counter(progress: Progress | None, total: int) -> Callable[[], None]:
    """Return a function that counts a completed sample and shows the progress."""
    if progress is None:
        return lambda: None
    completed = count(1)
    return lambda: progress(next(completed), total)


async def _generate(group: asyncio.TaskGroup, streams: ExitStack, answers: Answers, workers: int) -> _Source:
    """Start the tasks that ask the model under test; return the queue of answered samples."""
    stream: _Stream[Answered] = streams.enter_context(closing(_Stream(workers)))
    running = workers

    async def generate() -> None:
        nonlocal running
        try:
            while (answered := await answers.get()) is not None:
                await stream.put(answered)
        finally:
            running -= 1
            if not running:
                stream.end()

    for _ in range(workers):
        group.create_task(generate())
        await stagger_start()
    return stream


def _score(
    group: asyncio.TaskGroup,
    streams: ExitStack,
    run: RunEvaluation,
    source: _Source,
    pool: ScoringPool,
    workers: int,
) -> _Source:
    """Start the tasks that send batches to worker processes; return the queue of scored samples."""
    batches: _Stream[asyncio.Task[list[Answered]]] = streams.enter_context(
        closing(_Stream(BATCHES_PER_WORKER * pool.workers))
    )
    scored: _Stream[Answered] = streams.enter_context(closing(_Stream(max(workers, BATCH_SAMPLES))))
    yielder = LoopYielder()

    async def send() -> None:
        try:
            while batch := await _batch(source, yielder):
                await batches.put(group.create_task(run.score_in_pool(batch, pool)))
        finally:
            batches.end()

    async def receive() -> None:
        try:
            while (task := await batches.get()) is not None:
                for answered in await task:
                    await scored.put(answered)
        finally:
            scored.end()

    group.create_task(send())
    group.create_task(receive())
    return scored


async def _batch(source: _Source, yielder: LoopYielder) -> list[Answered]:
    """Wait for a sample, and return it with further samples that are ready; an empty list at the end."""
    answered = await source.get()
    batch: list[Answered] = []
    characters = 0
    while answered is not None:
        batch.append(answered)
        characters += sum(len(response.text) for response in answered.responses)
        if len(batch) >= BATCH_SAMPLES or characters >= BATCH_CHARACTERS:
            break
        await yielder.yield_if_due()
        answered = source.get_nowait()
    return batch


async def _evaluate(run: RunEvaluation, answered: Answered, stop: asyncio.Event) -> None:
    """Evaluate a sample."""
    try:
        await run.evaluate(answered)
    except asyncio.CancelledError:  # a call ends so if the run is stopping
        task = asyncio.current_task()
        if not stop.is_set() or (task is not None and task.cancelling()):
            raise


def _first_error(errors: ExceptionGroup[Exception]) -> Exception:
    error: Exception = errors
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
