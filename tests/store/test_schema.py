"""Which databases are opened as a store, and how an older one is migrated."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from first_store import first_store
from sqlalchemy import create_engine

from hengwen.errors import StoreError
from hengwen.store import open_store, schema

pytestmark = pytest.mark.usefixtures("next_version")


def current_head() -> str:
    """Return the version of the newest migration, which ``next_version`` raises."""
    return str(vars(schema)["HEAD"])


def older_store(path: Path) -> Path:
    """Create a store of an older version with one run."""
    engine = create_engine(f"sqlite:///{path}")
    first_store(engine)
    with engine.begin() as connection:
        names = "id, plan, plan_hash, checkpoint, position, started, versions, layout, seed, status"
        row = "'r1', 'p', 'h', 'c', 0, 'now', '{}', '[]', 0, 'finished'"
        connection.exec_driver_sql(f"INSERT INTO run ({names}) VALUES ({row})")
    engine.dispose()
    return path


def version_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def test_a_store_is_copied_before_a_migration(tmp_path: Path) -> None:
    path = older_store(tmp_path / "x.db")
    path.chmod(0o600)
    with open_store(path) as store:
        copy = store.copy_before_migration
        assert copy == tmp_path / "x.schema-0013.db"
        assert [run.id for run in store.runs()] == ["r1"]
    assert (version_of(path), version_of(copy)) == (current_head(), "0013")
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT id FROM run").fetchall() == [("r1",)]
    with open_store(path) as store:
        assert store.copy_before_migration is None


def test_a_copy_never_replaces_another(tmp_path: Path) -> None:
    (tmp_path / "x.schema-0013.db").write_text("mine", "utf-8")
    (tmp_path / "x.schema-0013-2.db").symlink_to(tmp_path / "elsewhere.db")
    with open_store(older_store(tmp_path / "x.db")) as store:
        assert store.copy_before_migration == tmp_path / "x.schema-0013-3.db"
    assert (tmp_path / "x.schema-0013.db").read_text("utf-8") == "mine"
    assert not (tmp_path / "elsewhere.db").exists()


def test_changes_in_the_write_ahead_log_are_copied(tmp_path: Path) -> None:
    path = older_store(tmp_path / "x.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE run SET plan = 'changed'")
        writer.commit()
        with open_store(path) as store:
            copy = store.copy_before_migration
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT plan FROM run").fetchall() == [("changed",)]


def test_without_a_copy_nothing_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = older_store(tmp_path / "x.db")
    real = os.open

    def refuse(name: object, *rest: object) -> int:
        if str(name).endswith("x.schema-0013.db"):
            raise OSError(28, "No space left on device")
        return real(name, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(
            StoreError, match="the copy before the migration cannot be written: No space left"
        ):
            open_store(path)
    assert version_of(path) == "0013"
    assert os.listdir(tmp_path) == ["x.db"]


def test_a_copy_that_fails_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = older_store(tmp_path / "x.db")

    def refuse(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(StoreError, match=r"cannot be copied to .*: disk I/O error; nothing is changed"):
        schema._copy(path, "0013")
    assert os.listdir(tmp_path) == ["x.db"]


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = older_store(tmp_path / "x.db")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("alembic.op.execute", fail)
        with pytest.raises(RuntimeError, match="killed"):
            open_store(path)
    assert version_of(path) == "0013"
    with closing(sqlite3.connect(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "later" not in names  # the migration created this table before the failure
    with open_store(path) as store:
        assert [run.id for run in store.runs()] == ["r1"]


def test_two_threads_create_one_store(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def create() -> None:
        try:
            open_store(tmp_path / "x.db").close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert version_of(tmp_path / "x.db") == current_head()


def test_a_store_that_another_process_has_created_or_migrated_is_taken_as_it_is(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    schema.create(engine)
    schema.create(engine)
    assert schema.upgrade(engine) is None
    engine.dispose()
    assert os.listdir(tmp_path) == ["x.db"]


@pytest.mark.parametrize("version", ["e3a246e0dc1", "0000", "", None])
def test_another_programs_database_with_migrations_is_no_store(tmp_path: Path, version: str | None) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        if version is not None:
            connection.execute("INSERT INTO alembic_version VALUES (?)", [version])
        connection.commit()
    before = (tmp_path / "x.db").read_bytes()
    with pytest.raises(
        StoreError, match="x.db: not a hengwen store, but another database; name another file"
    ):
        open_store(tmp_path / "x.db")
    assert (tmp_path / "x.db").read_bytes() == before
