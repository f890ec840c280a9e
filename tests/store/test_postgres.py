"""A store on a real PostgreSQL server: its tables, and schemas of every older version."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from first_store import first_store, migrated_store
from sqlalchemy import create_engine

from hengwen.errors import StoreError
from hengwen.records import Run
from hengwen.store import open_store, schema, tables

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("make", [schema.create, migrated_store])
def test_a_new_store_and_a_migrated_one_have_the_tables_that_the_code_knows(postgres: str, make) -> None:
    engine = create_engine(postgres)
    make(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
        assert context.get_current_revision() == tables.HEAD
    engine.dispose()


def test_an_older_schema_is_migrated_with_its_runs(postgres: str, next_version: None) -> None:
    engine = create_engine(postgres)
    first_store(engine)
    with engine.begin() as connection:
        names = "id, plan, plan_hash, checkpoint, position, started, versions, layout, seed, status"
        row = "'r1', 'p', 'h', 'c', 0, 'now', '{}', '[]', 0, 'finished'"
        connection.exec_driver_sql(f"INSERT INTO run ({names}) VALUES ({row})")
    engine.dispose()
    with open_store(postgres) as store:
        assert [run.id for run in store.runs()] == ["r1"]
        assert store.copy_before_migration is None  # the server has backups of its own


@pytest.mark.parametrize("is_old", [False, True], ids=["empty", "old"])
def test_processes_that_open_a_store_at_the_same_time_change_its_schema_once(
    postgres: str, next_version: None, is_old: bool
) -> None:
    if is_old:
        engine = create_engine(postgres)
        first_store(engine)
        engine.dispose()
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
