"""A store on a real PostgreSQL server: its tables, and several processes at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import create_engine, inspect

from hengwen.errors import StoreError
from hengwen.records import Run
from hengwen.store import open_store, tables

pytestmark = pytest.mark.slow


def test_the_tables_of_a_new_store_are_those_that_the_code_knows(postgres: str) -> None:
    open_store(postgres).close()
    engine = create_engine(postgres)
    assert set(inspect(engine).get_table_names()) == {*tables.metadata.tables, "alembic_version"}
    indexes = {index["name"]: index for index in inspect(engine).get_indexes("evaluation")}
    assert {"evaluation_evaluator", "evaluation_failed"} <= set(indexes)
    assert "statuses" in indexes["evaluation_failed"]["dialect_options"]["postgresql_where"]
    engine.dispose()


def test_processes_that_open_a_store_at_the_same_time_create_its_tables_once(postgres: str) -> None:
    barrier = Barrier(6)

    def start(_: int) -> int:
        barrier.wait()
        with open_store(postgres) as store:
            return len(store.runs())

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(start, range(6))) == [0] * 6


def test_processes_that_look_at_the_same_time_take_different_numbers(postgres: str) -> None:
    open_store(postgres).close()

    def look(name: str) -> int:
        with open_store(postgres) as store:
            run = Run(id=name, plan="p", plan_hash="", checkpoint=name)
            return store.count_look("s", run, "now")

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(look, "abcd")) == [1, 2, 3, 4]


def test_a_server_that_does_not_answer_is_one_line_without_the_password(postgres: str) -> None:
    url = postgres.replace("hengwen@", "hengwen:secret@").replace("host=", "host=/nowhere")
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
