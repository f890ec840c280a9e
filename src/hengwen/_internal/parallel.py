"""A function over many items, in one process or several: in order, with flat memory."""

from __future__ import annotations

from collections import deque
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from hengwen.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

BATCH = 200
MAX_QUEUED_BATCHES = 3
"""Batches for each worker that are under way at once: memory does not grow with the number of items."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_stream(
    function: Callable[[Item], Result], items: Iterable[Item], *, workers: int = 1
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item in turn.

    Args:
        function: Picklable where there are several workers, and so are items and results.
        items: Any number; read as they are needed.
        workers: Processes; 1 works in this one. Starting one takes a second.

    Raises:
        ValueError: ``workers`` is below 1.
        WorkerError: A worker process died.

    Examples:
        >>> list(map_stream(str.upper, iter(["a", "b"])))
        ['A', 'B']
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a whole number of at least 1, got {workers!r}")
    return map(function, items) if workers == 1 else _in_processes(function, items, workers)


def _in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    waiting: deque[Future[list[Result]]] = deque()
    rest = iter(items)
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            while batch := list(islice(rest, BATCH)):
                waiting.append(pool.submit(_map, function, batch))
                if len(waiting) > MAX_QUEUED_BATCHES * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
    except BrokenExecutor:
        raise WorkerError("a worker process died (was it out of memory?); try fewer workers") from None


def _map(function: Callable[[Item], Result], batch: list[Item]) -> list[Result]:
    return [function(item) for item in batch]
