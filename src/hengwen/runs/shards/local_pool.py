"""Score shards in processes of this machine."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen._internal.parallel import usable_cores
from hengwen._internal.worker_pool import WorkerPool
from hengwen.runs.shards.schedule import Lost
from hengwen.runs.shards.score_shard import ShardError, ShardTask, score_shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.runs.shards.manifest import ShardResult

    Outcome = ShardResult | ShardError | Lost


class LocalPool:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: WorkerPool[ShardTask, Outcome] = WorkerPool(score_shard, workers, crashed=_lost)
        self._running: dict[Future[list[Outcome]], ShardTask] = {}

    def window(self) -> int:
        """Return the number of processes."""
        return self._workers

    def submit(self, task: ShardTask) -> None:
        """Start to score a shard in an idle process."""
        self._running[self._pool.submit([task])] = task

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError | Lost]:
        """Wait until a shard ends; return its task, and its result or why it has none."""
        finished, _ = wait(self._running, return_when=FIRST_COMPLETED)
        future = min(finished, key=lambda item: self._running[item].shard.number)
        task = self._running.pop(future)
        (outcome,) = future.result()
        return task, outcome

    def close(self) -> None:
        """End all processes."""
        self._pool.close()


def _lost(_task: ShardTask, message: str) -> Lost:
    return Lost(reason="worker died", message=message)


@contextmanager
def local_pool(workers: int | None = None) -> Iterator[LocalPool]:
    """Yield processes of this machine that score shards."""
    pool = LocalPool(workers or usable_cores())
    try:
        yield pool
    finally:
        pool.close()
