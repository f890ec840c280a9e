"""A signal ends a run in every phase: the first after the score in progress, the second at once."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hengwen.objective.checks import Length
from hengwen.records import Response, Run, Sample, Score
from hengwen.runs.run_plan import Interrupts, RunResult, run_plan, run_until_complete
from hengwen.store.store import open_store

COUNT = 12
SIGNALS = pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., RunResult]:
    """Run a plan of a dozen samples, whose scorer calls a function before each score."""
    rows = [{"id": f"q{number}", "input": "写一行"} for number in range(COUNT)]
    answers = [{"id": row["id"], "output": "云"} for row in rows]
    for name, values in (("p", rows), ("a", answers)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, values)), "utf-8")
    plan = {
        "name": "p",
        "tasks": [{"name": "t", "samples": "p.jsonl", "scorers": ["length", "self_bleu"]}],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    score = Length.score

    def start(before: Callable[[], None]) -> RunResult:
        def score_later(self: Length, sample: Sample, response: Response) -> Sequence[Score]:
            before()
            return score(self, sample, response)

        with monkeypatch.context() as patch:
            patch.setattr(Length, "score", score_later)
            return run_plan(tmp_path / "plan.yaml", store=tmp_path / "x.db")

    return start


def stored(folder: Path) -> tuple[Run, int]:
    with open_store(folder / "x.db") as store:
        (run,) = store.runs()
        return run, len({row.sample_id for row in store.rows([run])})


@pytest.mark.slow
@SIGNALS
def test_the_first_signal_ends_a_run_after_the_score_in_progress(
    run, tmp_path: Path, sent: signal.Signals
) -> None:
    scored: list[int] = []

    def interrupt() -> None:
        scored.append(1)
        if len(scored) == 3:
            signal.raise_signal(sent)

    with pytest.raises(KeyboardInterrupt):
        run(interrupt)
    assert len(scored) == 3
    interrupted, samples = stored(tmp_path)
    assert (interrupted.status, samples) == ("interrupted", 3)
    (finished,) = run(lambda: scored.append(1)).runs
    assert (finished.id, finished.status, len(scored)) == (interrupted.id, "finished", COUNT)


INTERRUPTED_TWICE = """
import signal, sys
from hengwen.objective.checks import Length
from hengwen.runs.run_plan import run_plan

scored = []
score = Length.score

def interrupt(self, sample, response):
    scored.append(1)
    if len(scored) == 3:
        signal.raise_signal(int(sys.argv[1]))
        signal.raise_signal(int(sys.argv[1]))
        print("the score went on")
    return score(self, sample, response)

Length.score = interrupt
try:
    run_plan("plan.yaml", store="x.db")
except KeyboardInterrupt:
    print(f"interrupted after {len(scored)} scores")
"""
"""A process of its own: after an exception that ends an event loop, CPython 3.11 may fail to compile code."""


@pytest.mark.slow
@SIGNALS
def test_the_second_signal_ends_a_run_in_the_middle_of_a_score(
    run, tmp_path: Path, sent: signal.Signals
) -> None:
    command = [sys.executable, "-c", INTERRUPTED_TWICE, str(int(sent))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "interrupted after 3 scores\n"
    interrupted, samples = stored(tmp_path)
    assert (interrupted.status, samples) == ("interrupted", 2)
    scored: list[int] = []
    (finished,) = run(lambda: scored.append(1)).runs
    assert (finished.id, finished.status, len(scored)) == (interrupted.id, "finished", COUNT - 2)


@SIGNALS
def test_a_signal_wakes_a_loop_that_waits(sent: signal.Signals) -> None:
    before = signal.getsignal(sent)

    async def wait_for_signal() -> None:
        stopping = asyncio.Event()
        with Interrupts(signals=True).stop_on_request(stopping):
            asyncio.get_running_loop().call_later(0.01, signal.raise_signal, sent)
            await asyncio.wait_for(stopping.wait(), 900)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(sent)

    asyncio.run(wait_for_signal())
    assert signal.getsignal(sent) is before


def test_outside_the_main_thread_no_handler_is_set() -> None:
    async def check() -> None:
        before = signal.getsignal(signal.SIGTERM)
        with Interrupts(signals=True).stop_on_request(asyncio.Event()):
            assert signal.getsignal(signal.SIGTERM) is before

    async def in_a_thread() -> None:
        await asyncio.to_thread(lambda: asyncio.run(check()))

    asyncio.run(in_a_thread())


def test_a_coroutine_that_a_request_ends_is_an_interruption_even_within_a_running_loop() -> None:
    async def work(interrupts: Interrupts) -> None:
        stopping = asyncio.Event()
        with interrupts.stop_on_request(stopping):
            interrupts.request()
            await asyncio.sleep(0)
            interrupts.request()
            await asyncio.Event().wait()

    async def notebook() -> None:
        run_until_complete(work)

    with pytest.raises(KeyboardInterrupt):
        run_until_complete(work)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(notebook())
