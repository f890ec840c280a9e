"""Give shards to workers, such as local processes; score those again whose worker died or failed."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from hengwen._internal.parallel import usable_cores
from hengwen._internal.worker_pool import WorkerPool
from hengwen.runs.shards.score_shard import ShardError, ShardTask, score_shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hengwen.runs.shards.manifest import ShardResult


MAX_ATTEMPTS: dict[str, int] = {"error": 3, "worker died": 3, "machine died": 10}
"""For each reason of failure, the number of failed attempts after which a shard is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A shard without a result, because its worker or its machine died."""

    reason: Literal["worker died", "machine died"]
    message: str


class ShardPool(Protocol):
    """Workers that score shards."""

    def window(self) -> int:
        """Return how many unfinished shards the pool accepts at a time."""

    def submit(self, task: ShardTask) -> None:
        """Start to score a shard, or queue it."""

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError | Lost]:
        """Wait until a shard ends; return its task, and its result or why it has none."""


def run_shards(pool: ShardPool, tasks: Iterable[ShardTask]) -> Iterator[ShardResult | ShardError]:
    """Yield the result of each shard when it is finished; a shard that is given up is a ``ShardError``."""
    remaining = iter(tasks)
    again: deque[ShardTask] = deque()
    attempts: Counter[tuple[int, str]] = Counter()
    running = 0
    while True:
        while running < pool.window():
            task = next(remaining, None) or (again.popleft() if again else None)
            if task is None:
                break
            pool.submit(task)
            running += 1
        if not running:
            return
        task, outcome = pool.wait()
        running -= 1
        if isinstance(outcome, (ShardError, Lost)):
            reason = outcome.reason if isinstance(outcome, Lost) else "error"
            number = task.shard.number
            attempts[number, reason] += 1
            if attempts[number, reason] >= MAX_ATTEMPTS[reason]:
                yield ShardError(number=number, message=outcome.message)
            else:
                again.append(replace(task, isolated=attempts[number, "worker died"] > 0))
        else:
            yield outcome


Outcome: TypeAlias = "ShardResult | ShardError | Lost"


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

    def wait(self) -> tuple[ShardTask, Outcome]:
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
