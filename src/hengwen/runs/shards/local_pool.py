"""Score shards in processes of this machine."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen._internal.worker_process import worker_process
from hengwen.runs.shards.schedule import Lost
from hengwen.runs.shards.score_shard import ShardError, ShardTask, score_shard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ProcessPoolExecutor

    from hengwen.runs.shards.manifest import ShardResult


class LocalPool:
    """Processes of this machine, each with a queue of its own, so that it is known which shard killed one.

    Args:
        workers: Number of processes.
    """

    def __init__(self, workers: int) -> None:
        self._idle = [worker_process() for _ in range(workers)]
        self._workers = workers
        self._running: dict[Future[ShardResult | ShardError], tuple[ProcessPoolExecutor, ShardTask]] = {}

    def window(self) -> int:
        """Return the number of processes."""
        return self._workers

    def submit(self, task: ShardTask) -> None:
        """Start to score a shard in an idle process."""
        process = self._idle.pop()
        self._running[process.submit(score_shard, task)] = (process, task)

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError | Lost]:
        """Wait until a shard ends; return its task, and its result or why it has none."""
        finished, _ = wait(self._running, return_when=FIRST_COMPLETED)
        future = min(finished, key=lambda item: self._running[item][1].shard.number)
        process, task = self._running.pop(future)
        try:
            outcome: ShardResult | ShardError | Lost = future.result()
        except BrokenExecutor:
            process.shutdown()
            process = worker_process()
            outcome = Lost(
                reason="worker died",
                message="the worker process died (was it out of memory?); try fewer workers",
            )
        self._idle.append(process)
        return task, outcome

    def close(self) -> None:
        """End all processes."""
        for process in [*self._idle, *(process for process, _ in self._running.values())]:
            process.shutdown(cancel_futures=True)


@contextmanager
def local_pool(workers: int | None = None) -> Iterator[LocalPool]:
    """Yield processes of this machine that score shards.

    Args:
        workers: Number of processes; default: the number of CPUs that this process may use.
    """
    pool = LocalPool(workers or len(os.sched_getaffinity(0)))
    try:
        yield pool
    finally:
        pool.close()
