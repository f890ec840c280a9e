"""One at a time: whoever has much to do when a reply came lets the loop turn before the next one does it."""

from __future__ import annotations

import asyncio
from collections import deque


class FairScheduler:
    """Hands out turns of the event loop, one to each who asks, in the order of asking.

    Replies often come together. Worked on in one turn, all the calls that follow them would leave together
    after the last, and be answered together again: waves, and between them idle time at both ends.

    Examples:
        >>> async def work(turns, number, done):
        ...     await turns.take()
        ...     done.append(number)
        ...     await asyncio.sleep(0)  # what it began goes on in the next turn, before others begin
        ...     done.append(-number)
        >>> async def both(turns, done):
        ...     await asyncio.gather(work(turns, 1, done), work(turns, 2, done), work(turns, 3, done))
        ...     return done
        >>> asyncio.run(both(FairScheduler(), []))
        [1, -1, 2, -2, 3, -3]
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken = False

    async def take(self) -> None:
        """Go on at once where nobody else did in this turn, else in a turn of one's own."""
        loop = asyncio.get_running_loop()
        if not self._taken:
            self._taken = True
            loop.call_soon(self._next)
            return
        waiter = loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _next(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                asyncio.get_running_loop().call_soon(self._next)
                return
        self._taken = False
