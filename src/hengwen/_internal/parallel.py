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
    """Return the number of processor cores that this process may use.

    Examples:
        >>> usable_cores() >= 1
        True
    """
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
    """Yield ``function(item)`` for each item, in the order of the items.

    Args:
        function: Function of one item. With several workers, the function, the items and the results must be
            picklable.
        items: Any number of items; an iterator is consumed as items are needed.
        workers: Number of processes; 1 uses the current one. Starting a process takes about a second. None
            uses one process per core if there are at least ``MIN_ITEMS`` items, otherwise the current one.
        crashed: Function that is called with an item at which a worker process died, and with a message; it
            returns the result of the item. By default, such an item raises a WorkerError.

    Raises:
        ValueError: ``workers`` is below 1.
        WorkerError: A worker process died at an item, or cannot start.

    Examples:
        >>> list(map_stream(str.upper, iter(["a", "b"])))
        ['A', 'B']
    """
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
    """Yield the results of a pool in the order of the items, and close the pool at the end.

    Args:
        pool: The processes and their function.
        items: Any number of items; an iterator is consumed as items are needed.

    Examples:
        >>> list(map_in_processes(WorkerPool(str.upper, 1), ["a", "b"]))
        ['A', 'B']
    """
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
