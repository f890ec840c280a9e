"""Map a function over many items in one or more processes, in order and with bounded memory."""

from __future__ import annotations

from collections import deque
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from hengwen._internal.checks import whole_number
from hengwen.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

BATCH_SIZE = 200
"""Number of items that are sent to a worker process at a time."""
MAX_QUEUED_BATCHES = 3
"""Maximum number of batches in progress per worker process."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_stream(
    function: Callable[[Item], Result], items: Iterable[Item], *, workers: int = 1
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in the order of the items.

    Args:
        function: Function of one item. With several workers, the function, the items and the results must be
            picklable.
        items: Any number of items; an iterator is consumed as items are needed.
        workers: Number of processes; 1 uses the current one. Starting a process takes about a second.

    Raises:
        ValueError: ``workers`` is below 1.
        WorkerError: A worker process died.

    Examples:
        >>> list(map_stream(str.upper, iter(["a", "b"])))
        ['A', 'B']
    """
    workers = whole_number("workers", workers)
    return map(function, items) if workers == 1 else _in_processes(function, items, workers)


def _in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    pending: deque[Future[list[Result]]] = deque()
    remaining = iter(items)
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            while batch := list(islice(remaining, BATCH_SIZE)):
                pending.append(pool.submit(_map, function, batch))
                if len(pending) > MAX_QUEUED_BATCHES * workers:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
    except BrokenExecutor:
        raise WorkerError("a worker process died (was it out of memory?); try fewer workers") from None


def _map(function: Callable[[Item], Result], batch: list[Item]) -> list[Result]:
    return [function(item) for item in batch]
