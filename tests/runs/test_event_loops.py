"""Runs inside a running event loop, as in a notebook, and how they are interrupted there."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from pathlib import Path

import pytest

import hengwen
from hengwen import RunOptions, arun_plan, run_plan
from hengwen.errors import TimeLimitError
from hengwen.runs.run_plan import Interrupts, estimate_plan
from hengwen.store import open_store

SAMPLES = 40


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Write a plan of one checkpoint and many samples."""
    samples = [{"id": str(n), "input": "写一句话"} for n in range(SAMPLES)]
    answers = [{"id": str(n), "output": "海风吹过灯塔。"} for n in range(SAMPLES)]
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, samples)), "utf-8")
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    (tmp_path / "plan.yaml").write_text(
        "name: p\n"
        "tasks: [{name: t, samples: samples.jsonl, scorers: [length], judges: [{rubric: lyric_craft}]}]\n"
        "checkpoints: [{name: a, responses: a.jsonl}]\n",
        "utf-8",
    )
    return tmp_path / "plan.yaml"


@pytest.mark.parametrize("where", ["sqlite://", "store.db"])
def test_a_plan_runs_within_a_running_loop(plan: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plan.parent)

    async def cell() -> None:
        with open_store(where) as store:
            result = run_plan(plan, store=store)
            assert [run.status for run in result.runs] == ["finished"]
            assert sum(1 for row in store.rows(result.runs) if row.score.name == "length.words") == SAMPLES

    asyncio.run(cell())


def test_a_plan_is_estimated_within_a_running_loop(plan: Path) -> None:
    async def cell() -> list[object]:
        return list(estimate_plan(plan, store="sqlite://"))

    assert asyncio.run(cell()) == []


def test_an_error_of_a_run_reaches_the_cell(plan: Path) -> None:
    async def cell() -> None:
        run_plan(plan, store="sqlite://", options=RunOptions(time_limit=0.0))

    with pytest.raises(TimeLimitError, match="the time limit of 0 s is reached"):
        asyncio.run(cell())


def test_an_awaited_run_leaves_the_loop_to_other_tasks(plan: Path) -> None:
    async def cell() -> tuple[hengwen.RunResult, int]:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counter = asyncio.create_task(count())
        result = await arun_plan(plan, store="sqlite://")
        counter.cancel()
        return result, turns

    result, turns = asyncio.run(cell())
    assert [run.status for run in result.runs] == ["finished"]
    assert turns > 1


def test_an_awaited_run_leaves_signals_alone(plan: Path) -> None:
    handlers = []

    async def cell() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: handlers.append("program"))
        await arun_plan(plan, store="sqlite://", options=RunOptions(progress=lambda *_: None))
        signal.raise_signal(signal.SIGTERM)
        await asyncio.sleep(0.01)
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)

    asyncio.run(cell())
    assert handlers == ["program"]


def test_a_cancelled_run_resumes(plan: Path) -> None:
    async def cell() -> hengwen.RunResult:
        with open_store("sqlite://") as store:
            loop = asyncio.get_running_loop()
            task = asyncio.create_task(
                arun_plan(
                    plan,
                    store=store,
                    options=RunOptions(concurrency=1, progress=lambda *_: loop.call_soon(task.cancel)),
                )
            )
            with pytest.raises(asyncio.CancelledError):
                await task
            (run,) = store.runs()
            assert run.status == "interrupted"
            result = await arun_plan(plan, store=store)
            assert [resumed.id for resumed in result.runs] == [run.id]
            return result

    assert [run.status for run in asyncio.run(cell()).runs] == ["finished"]


@pytest.mark.slow
def test_an_interrupt_of_a_notebook_stops_the_run_and_the_same_call_resumes_it(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    is_requested = threading.Event()
    request = Interrupts.request

    def requested(interrupts: Interrupts) -> None:
        request(interrupts)
        is_requested.set()

    monkeypatch.setattr(Interrupts, "request", requested)
    monkeypatch.setattr(
        "hengwen.engine.metered_backend.MAX_BLOCKING_SECONDS", -1
    )  # the loop turns after each sample

    def interrupt(_checkpoint: str, completed: int, _total: int) -> None:
        threads.append(threading.current_thread().name)
        if completed == 1:
            signal.raise_signal(signal.SIGINT)
            assert is_requested.wait(900)

    async def cell() -> None:
        with open_store("sqlite://") as store:
            with pytest.raises(KeyboardInterrupt):
                run_plan(plan, store=store, options=RunOptions(concurrency=1, progress=interrupt))
            (run,) = store.runs()
            assert run.status == "interrupted"
            result = run_plan(plan, store=store)
            assert [(resumed.id, resumed.status) for resumed in result.runs] == [(run.id, "finished")]

    loop = asyncio.new_event_loop()  # asyncio.run would replace the handler of SIGINT
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
    assert {name.partition("_")[0] for name in threads} == {"hengwen-run"}


def test_a_stop_that_is_requested_before_the_start_is_kept() -> None:
    interrupts = Interrupts(signals=False)
    interrupts.request()

    async def start() -> bool:
        stopping = asyncio.Event()
        with interrupts.stop_on_request(stopping):
            return stopping.is_set()

    assert asyncio.run(start())


def test_the_second_request_cancels_the_task() -> None:
    interrupts = Interrupts(signals=False)

    async def start() -> None:
        with interrupts.stop_on_request(asyncio.Event()):
            interrupts.request()
            await asyncio.sleep(0)
            interrupts.request()
            await asyncio.sleep(60)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(start())
