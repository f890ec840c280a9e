"""``run_plan(share=True)`` in several threads gives the results of one process."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from hengwen import RunOptions, RunResult, StoreBusyError, open_store, run_plan
from hengwen.records import digest
from hengwen.runs.plan_lock import PlanSharing
from hengwen.store.locks import AdvisoryClaims, AdvisoryLock
from hengwen.store.store import Store

pytestmark = pytest.mark.slow

COUNT = 40
PLAN = {
    "name": "p",
    "tasks": [
        {
            "name": "t",
            "samples": "prompts.jsonl",
            "scorers": ["lyric", "distinct_n"],
            "judges": [{"rubric": "lyric_craft"}],
            "repeats": 2,
        }
    ],
    "labels": "labels.csv",
    "checkpoints": [{"name": name, "responses": f"{name}.jsonl"} for name in "ab"],
}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan of two checkpoints with scorers of answers and of checkpoints, a judge, and labels."""
    template = {"template": "(verse)\ncccR\ncccR"}
    rows: dict[str, list[dict]] = {"prompts": [], "a": [], "b": []}
    for number in range(COUNT):
        rows["prompts"].append({"id": f"q{number}", "input": f"写{number}行", "metadata": template})
        for name, repeat in (("a", 1), ("a", 2), ("b", 1), ("b", 2)):
            text = f"(verse)\n窗外{name}光{number}\n桌上有{'霜雨雪'[(number + repeat) % 3]}"
            rows[name].append({"id": f"q{number}", "repeat": repeat, "output": text})
    for name, lines in rows.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
    (tmp_path / "labels.csv").write_text(
        "task,id,checkpoint,repeat,score,value,rater\nt,q0,a,1,lyric_craft.level,0.5,me\n", "utf-8"
    )
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps(PLAN), "utf-8")
    return path


def results(store: Store) -> dict[tuple, tuple]:
    """Return the outcomes of all runs by checkpoint and key; each key must be there once."""
    outcomes: dict[tuple, tuple] = {}
    for run in store.runs():
        assert run.status == "finished"
        for row in store.rows([run]):
            key = (run.checkpoint, row.task, row.sample_id, row.repeat, row.score.name)
            assert key not in outcomes
            outcomes[key] = (getattr(row.outcome, "value", None), row.outcome.signature, row.item_hash)
    return outcomes


def share(plan: Path, url: str, processes: int) -> list[RunResult]:
    """Run a plan in several threads that share it."""
    barrier = Barrier(processes)

    def work(_: int) -> RunResult:
        barrier.wait()
        return run_plan(plan, store=url, options=RunOptions(share=True))

    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(work, range(processes)))


def test_processes_that_share_a_plan_have_the_results_of_one_process(
    plan: Path, postgres: str, tmp_path: Path
) -> None:
    run_plan(plan, store=tmp_path / "x.db")
    shared = share(plan, postgres, 3)
    with open_store(tmp_path / "x.db") as one, open_store(postgres) as team:
        assert results(team) == results(one)
        runs = team.runs()
        assert [run.checkpoint for run in reversed(runs)] == ["a", "b"]
        with team.writable_engine().connect() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM completed_unit").scalar() == 0
    assert {run.id for result in shared for run in result.runs} == {run.id for run in runs}
    assert [result.failures for result in shared] == [{}] * 3


def test_completed_samples_that_killed_processes_recorded_are_forgotten(
    plan: Path, postgres: str, tmp_path: Path
) -> None:
    """Else a judgment that failed would count as done in all later commands."""
    with open_store(postgres) as store:
        (run, _) = run_plan(plan, store=store, options=RunOptions(share=True, limit=1)).runs
        ledger = store.ledger()
        for number in range(COUNT):
            unit = digest("hengwen unit", run.id, "sample", "t", f"q{number}", 0)
            ledger.record_completed_unit(run.id, unit[:32])
        ledger.commit()
        run_plan(plan, store=store, options=RunOptions(share=True))
        run_plan(plan, store=tmp_path / "x.db")
        with open_store(tmp_path / "x.db") as single:
            assert results(store) == results(single)


def test_a_process_that_joins_a_finished_run_and_fails_leaves_it_finished(plan: Path, postgres: str) -> None:
    joined: list[str] = []

    def join(checkpoint: str, done: int, total: int) -> None:
        if checkpoint == "b" and not joined:
            joined.append(checkpoint)
            with ThreadPoolExecutor(1) as thread, pytest.raises(RuntimeError, match="a: 1 of"):
                thread.submit(
                    run_plan, plan, store=postgres, options=RunOptions(share=True, progress=fail)
                ).result()

    def fail(checkpoint: str, done: int, total: int) -> None:
        raise RuntimeError(f"{checkpoint}: {done} of {total}")

    run_plan(plan, store=postgres, options=RunOptions(share=True, progress=join))
    with open_store(postgres) as store:
        assert joined
        assert [run.status for run in store.runs()] == ["finished"] * 2


async def test_a_process_that_waits_to_join_can_be_stopped(postgres: str) -> None:
    stopping = asyncio.Event()
    with open_store(postgres) as store:
        store.writable_engine()
        other = AdvisoryClaims(store)
        sharing = PlanSharing(store, "p", stopping)
        await sharing.start(wait=False)
        assert other.lock("hengwen changing", "p")
        stopping.set()
        with pytest.raises(asyncio.CancelledError):
            async with sharing.changing(stoppable=True):
                pass
        other.close()
        await sharing.close()


def test_a_plan_that_one_process_runs_alone_is_not_shared(plan: Path, postgres: str) -> None:
    with open_store(postgres) as store:
        lock = AdvisoryLock(store.writable_engine(), "p")
        assert lock.acquire()
        with pytest.raises(StoreBusyError, match=r"which does not share it; wait for it with --wait$"):
            run_plan(plan, store=store, options=RunOptions(share=True))
        waiting: list[str] = []

        def release(owner: str) -> None:
            waiting.append(owner)
            lock.release()

        assert (
            run_plan(plan, store=store, options=RunOptions(share=True, wait=release)).runs[0].status
            == "finished"
        )
        assert len(waiting) == 1


def test_a_plan_that_is_shared_is_not_run_by_one_process_alone(plan: Path, postgres: str) -> None:
    with open_store(postgres) as store:
        claims = AdvisoryClaims(store)
        assert claims.lock_plan("p")
        with pytest.raises(StoreBusyError):
            run_plan(plan, store=store)
        claims.close()


def test_a_process_with_another_plan_of_the_same_name_does_not_join(
    plan: Path, postgres: str, tmp_path: Path
) -> None:
    with open_store(postgres) as store:
        first = run_plan(plan, store=store, options=RunOptions(share=True))
        claims = AdvisoryClaims(store)  # a process that still works on the run
        assert claims.lock("hengwen working", first.runs[0].id, shared=True)
        assert run_plan(plan, store=store, options=RunOptions(share=True)).runs == first.runs
        (tmp_path / "a.jsonl").write_text('{"id": "q0", "output": "other"}\n', "utf-8")
        with pytest.raises(StoreBusyError, match=r"checkpoint 'a' of plan 'p' is being run by .* with other"):
            run_plan(plan, store=store, options=RunOptions(share=True))
        claims.close()
        while claims_are_held(store, first.runs[0].id):  # the server notices the end of the session
            pass
        assert run_plan(plan, store=store, options=RunOptions(share=True)).runs[0].id != first.runs[0].id


def claims_are_held(store: Store, run_id: str) -> bool:
    claims = AdvisoryClaims(store)
    try:
        return claims.is_shared("hengwen working", run_id)
    finally:
        claims.close()
