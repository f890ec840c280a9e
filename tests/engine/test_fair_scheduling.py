"""Turns of the event loop, one to each."""

from __future__ import annotations

import asyncio

from hengwen.engine.fair_scheduling import FairScheduler


async def test_who_asks_alone_goes_on_at_once() -> None:
    turns = FairScheduler()
    turned = []
    asyncio.get_running_loop().call_soon(turned.append, True)
    await turns.take()
    assert turned == []
    await asyncio.sleep(0)
    assert turned == [True]


async def test_those_who_ask_together_go_on_in_order_in_turns_of_their_own() -> None:
    turns, went = FairScheduler(), []
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1
        if counted < 40:
            asyncio.get_running_loop().call_soon(count)

    async def work(number: int) -> None:
        await turns.take()
        went.append((number, counted))

    asyncio.get_running_loop().call_soon(count)
    await asyncio.gather(*(work(number) for number in range(5)))
    assert [number for number, _ in went] == [0, 1, 2, 3, 4]
    turns_of = [turn for _, turn in went]
    assert len(set(turns_of)) == 5
    assert turns_of == sorted(turns_of)


async def test_who_is_cancelled_while_waiting_holds_nobody_up() -> None:
    turns, went = FairScheduler(), []

    async def work(number: int) -> None:
        await turns.take()
        went.append(number)

    tasks = [asyncio.create_task(work(number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert went == [0, 3]
    await asyncio.wait_for(turns.take(), 1)
