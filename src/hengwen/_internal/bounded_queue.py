"""A queue of limited size between two stages of a pipeline in one event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class BoundedQueue(Generic[Item]):
    """A queue whose producers wait while it is full, and whose consumers get None after its end."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: deque[Item] = deque()
        self._getters: deque[asyncio.Future[None]] = deque()
        self._putters: deque[asyncio.Future[None]] = deque()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    async def put(self, item: Item) -> None:
        """Add an item; wait while the queue is full."""
        while len(self._items) >= self._size:
            await self._wait(self._putters)
        self._items.append(item)
        _wake(self._getters)

    async def get(self) -> Item | None:
        """Return the next item; None after the last item of a closed queue."""
        while not self._items:
            if self._closed:
                return None
            await self._wait(self._getters)
        return self.get_nowait()

    def get_nowait(self) -> Item | None:
        """Return the next item; None if no item waits."""
        if not self._items:
            return None
        item = self._items.popleft()
        _wake(self._putters)
        return item

    def close(self) -> None:
        """End the queue: consumers get the waiting items, then None."""
        self._closed = True
        while self._getters:
            _wake(self._getters)

    async def _wait(self, waiters: deque[asyncio.Future[None]]) -> None:
        waiter = asyncio.get_running_loop().create_future()
        waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in waiters:
                waiters.remove(waiter)
            elif not waiter.cancelled():
                _wake(waiters)  # this waiter was woken, but another one must take its turn
            raise


def _wake(waiters: deque[asyncio.Future[None]]) -> None:
    """Wake the first waiter that was not cancelled."""
    while waiters:
        waiter = waiters.popleft()
        if not waiter.done():
            waiter.set_result(None)
            return
