"""Looks number the runs that are tested in one series; the same run keeps its number."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hengwen.records import Run
from hengwen.store import Store, open_store


def run(run_id: str, plan: str = "p") -> Run:
    return Run(id=run_id, plan=plan, plan_hash="", checkpoint=run_id)


def saved(store: Store, *ids: str) -> list[Run]:
    runs = [run(run_id) for run_id in ids]
    ledger = store.ledger()
    for item in runs:
        ledger.begin(item)
    ledger.commit()
    return runs


def test_runs_of_a_series_are_numbered_in_the_order_of_their_first_look() -> None:
    with open_store("sqlite://") as store:
        assert [store.count_look("s", run(name), "now") for name in "abac"] == [1, 2, 1, 3]


def test_each_series_has_numbers_of_its_own() -> None:
    with open_store("sqlite://") as store:
        assert store.count_look("first", run("a"), "now") == 1
        assert store.count_look("second", run("a"), "now") == 1


def test_numbers_are_kept_in_the_file_and_only_read_where_it_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with open_store(path) as store:
        store.count_look("s", run("a"), "now")
    with open_store(f"file:{path}?mode=ro") as store:
        assert [store.count_look("s", run(name), "now") for name in "abc"] == [1, 2, 2]


def test_processes_that_look_at_the_same_time_take_different_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    open_store(path).close()

    def look(name: str) -> int:
        with open_store(path) as store:
            return store.count_look("s", run(name), "now")

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(look, "abcd")) == [1, 2, 3, 4]


def test_the_pinned_run_is_the_baseline_of_its_plan_until_it_is_removed() -> None:
    with open_store("sqlite://") as store:
        first, second = saved(store, "r1", "r2")
        assert store.baseline("p") is None
        store.pin(first, "now")
        store.pin(second, "now")
        assert store.baseline("p") == second
        store.remove(second)
        assert store.baseline("p") is None
