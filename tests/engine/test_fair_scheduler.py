"""Turns of the event loop, one for each coroutine."""

from __future__ import annotations

import asyncio

from hengwen.engine.metered_backend import FairScheduler


async def test_a_single_coroutine_proceeds_at_once() -> None:
    scheduler = FairScheduler()
    ticks: list[bool] = []
    asyncio.get_running_loop().call_soon(ticks.append, True)
    await scheduler.take_turn()
    assert ticks == []
    await asyncio.sleep(0)
    assert ticks == [True]


async def test_coroutines_that_wait_together_proceed_in_order_in_iterations_of_their_own() -> None:
    scheduler, log = FairScheduler(), []
    iteration = 0

    def count() -> None:
        nonlocal iteration
        iteration += 1
        if iteration < 40:
            asyncio.get_running_loop().call_soon(count)

    async def work(number: int) -> None:
        await scheduler.take_turn()
        log.append((number, iteration))

    asyncio.get_running_loop().call_soon(count)
    await asyncio.gather(*(work(number) for number in range(5)))
    assert [number for number, _ in log] == [0, 1, 2, 3, 4]
    iterations = [iteration for _, iteration in log]
    assert len(set(iterations)) == 5
    assert iterations == sorted(iterations)


async def test_a_coroutine_cancelled_while_waiting_does_not_delay_the_others() -> None:
    scheduler, log = FairScheduler(), []

    async def work(number: int) -> None:
        await scheduler.take_turn()
        log.append(number)

    tasks = [asyncio.create_task(work(number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert log == [0, 3]
    await asyncio.wait_for(scheduler.take_turn(), 30)
