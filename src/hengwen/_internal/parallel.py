"""Map a function over many items in one or more processes, in order and with bounded memory."""

from __future__ import annotations

import os
from collections import deque
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from hengwen._internal.checks import whole_number
from hengwen._internal.worker_pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

BATCH_SIZE = 100
"""Number of items that are sent to a worker process at a time."""
MAX_QUEUED_BATCHES = 3
"""Maximum number of batches in progress per worker process."""
MIN_ITEMS = 1000
"""Minimum number of items for which processes are started by default. Starting a process and loading the
dictionaries of Chinese words takes about as long as scoring this number of lyrics."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_stream(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = 1,
    crashed: Callable[[Item, str], Result] | None = None,
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in the order of the items."""
    if workers is None:
        items = iter(items)
        first = list(islice(items, MIN_ITEMS))
        workers = usable_cores() if len(first) == MIN_ITEMS else 1
        items = chain(first, items)
    else:
        workers = whole_number("workers", workers)
    if workers == 1:
        return map(function, items)
    return map_in_processes(WorkerPool(function, workers, crashed=crashed), items)


def map_in_processes(pool: WorkerPool[Item, Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the results of a pool in the order of the items, and close the pool at the end."""
    pending: deque[Future[list[Result]]] = deque()
    remaining = iter(items)
    try:
        while batch := list(islice(remaining, BATCH_SIZE)):
            pending.append(pool.submit(batch))
            if len(pending) > MAX_QUEUED_BATCHES * pool.workers:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
    finally:
        pool.close()
