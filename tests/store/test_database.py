"""Opening a store: schema, errors, and what they must not tell."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest
from rows import each_row
from sqlalchemy import create_engine, inspect

from hengwen.errors import ConfigError, HengwenError, StoreError
from hengwen.records import Run
from hengwen.store import database, open_store, tables
from hengwen.store import database as location
from hengwen.store.upsert import Writer

RUN = Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="now")


def test_the_tables_of_a_new_store_are_those_that_the_code_knows(tmp_path: Path) -> None:
    open_store(tmp_path / "x.db").close()
    engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    assert set(inspect(engine).get_table_names()) == {*tables.metadata.tables, "alembic_version"}
    of_postgres = "evaluation_evaluator"
    assert of_postgres not in {index["name"] for index in inspect(engine).get_indexes("evaluation")}
    engine.dispose()


def test_a_store_can_be_opened_again(tmp_path: Path) -> None:
    for url in (tmp_path / "x.db", str(tmp_path / "x.db"), f"sqlite:///{tmp_path / 'x.db'}"):
        with open_store(url) as store:
            assert store.runs() == []


def test_a_store_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    open_store(tmp_path / "x.db").close()
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"x.db: written by a newer hengwen \(schema 9999"):
        open_store(tmp_path / "x.db")


def test_a_database_of_something_else_is_not_touched(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE music (id)")
    connection.close()
    with pytest.raises(StoreError, match="not a hengwen store, but another database"):
        open_store(tmp_path / "x.db")


@each_row(
    ("location", "error", "message"),
    [
        ("no/such/folder/x.db", StoreError, "the folder no/such/folder does not exist"),
        ("music://x", ConfigError, "unknown database 'music'"),
        ("://", ConfigError, "neither a path nor a URL"),
    ],
)
def test_a_store_that_cannot_be_opened_says_why(
    location: str, error: type[HengwenError], message: str
) -> None:
    with pytest.raises(error, match=message):
        open_store(location)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("dear diary, " * 100, "utf-8")
    with pytest.raises(
        StoreError, match=r"x.db: not a hengwen store, but another kind of file; name another file"
    ):
        open_store(tmp_path / "x.db")


def test_a_write_that_fails_is_a_store_error_and_keeps_what_was_committed(tmp_path: Path) -> None:
    with open_store(tmp_path / "x.db") as store:
        ledger = store.ledger()
        ledger.begin(RUN)
        ledger.commit()
        with store._engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE evaluation RENAME TO gone")
        later = Run(id="r2", plan="p", plan_hash="h", checkpoint="c", started="now")
        ledger.begin(later)
        with pytest.raises(StoreError, match=r"x.db: .*; committed data is kept"):
            ledger.done(later)
        assert [run.id for run in store.runs()] == ["r1", "r2"]


def write_twice(writer: Writer) -> None:
    with writer.begin() as connection:
        connection.exec_driver_sql("INSERT INTO kept VALUES (1)")
        connection.exec_driver_sql("INSERT INTO gone VALUES (1)")


def test_a_transaction_that_fails_is_undone_and_the_next_takes_another_connection(tmp_path: Path) -> None:
    with open_store(tmp_path / "x.db") as store:
        writer = store._writer
        with writer.begin() as first:
            first.exec_driver_sql("CREATE TABLE kept (n INTEGER)")
        with writer.begin() as again:
            assert again is first
        with pytest.raises(StoreError, match=r"x.db: no such table: gone; committed data is kept"):
            write_twice(writer)
        assert first.closed
        with writer.begin() as fresh:
            assert fresh.exec_driver_sql("SELECT COUNT(*) FROM kept").scalar() == 0
    assert fresh.closed


@pytest.mark.parametrize("version", ["0001", "0013"])
def test_a_store_of_an_earlier_shape_is_refused_with_the_remedy_and_stays_as_it_is(
    tmp_path: Path, version: str
) -> None:
    open_store(tmp_path / "x.db").close()
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("UPDATE alembic_version SET version_num = ?", [version])
    connection.commit()
    connection.close()
    before = (tmp_path / "x.db").read_bytes()
    with pytest.raises(
        StoreError, match=rf"x.db: .*schema {version}.*stays as it is: name a new store with --store"
    ):
        open_store(tmp_path / "x.db")
    assert (tmp_path / "x.db").read_bytes() == before


@pytest.mark.parametrize("version", ["e3a246e0dc1", "0000", "", None])
def test_another_programs_database_with_migrations_is_no_store(tmp_path: Path, version: str | None) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        if version is not None:
            connection.execute("INSERT INTO alembic_version VALUES (?)", [version])
        connection.commit()
    before = (tmp_path / "x.db").read_bytes()
    with pytest.raises(StoreError, match="x.db: not a hengwen store, but another database; name another"):
        open_store(tmp_path / "x.db")
    assert (tmp_path / "x.db").read_bytes() == before


def test_threads_that_open_a_store_at_the_same_time_create_its_tables_once(tmp_path: Path) -> None:
    barrier = Barrier(4)

    def create(_: int) -> int:
        barrier.wait()
        with open_store(tmp_path / "x.db") as store:
            return len(store.runs())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(create, range(4))) == [0] * 4


@pytest.fixture
def writing_process(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another connection that writes to a store without a write-ahead log."""
    open_store(tmp_path / "x.db").close()
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_a_store_that_another_process_opens_is_waited_for(
    tmp_path: Path, writing_process: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        writing_process.execute("ROLLBACK")

    monkeypatch.setattr("time.sleep", wait)
    with open_store(tmp_path / "x.db") as store:
        assert store.runs() == []
    assert waits == [database.BUSY_POLL_SECONDS]


def test_a_store_that_another_process_holds_is_not_waited_for_without_end(
    tmp_path: Path, writing_process: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    with pytest.raises(StoreError, match=r"x.db: database is locked; committed data is kept"):
        open_store(tmp_path / "x.db")


NFS = "36 28 0:31 / {} rw,relatime shared:2 - nfs4 server:/data rw,vers=4.2\n"
LOCAL = "28 1 8:1 / / rw - ext4 /dev/sda1 rw\n"


@pytest.mark.parametrize(("folder", "journal"), [("a folder", "delete"), ("another", "wal")])
def test_a_store_that_other_machines_can_write_has_no_write_ahead_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, journal: str
) -> None:
    store = tmp_path / "a folder" / "x.db"
    store.parent.mkdir()
    open_store(store).close()  # with a write-ahead log
    mounts = tmp_path / "mountinfo"
    mounts.write_text(LOCAL + NFS.format(str(tmp_path / folder).replace(" ", "\\040")), "utf-8")
    monkeypatch.setattr(location, "MOUNTS", mounts)
    with open_store(store) as opened, open_store(store), opened._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == journal
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == (2 if journal == "delete" else 1)


def test_where_mounts_are_unknown_a_folder_counts_as_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location, "MOUNTS", tmp_path / "none")
    assert not location.is_on_network(tmp_path / "x.db")


def test_a_new_store_is_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "hengwen.db"
    with open_store(path):
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}
