"""A store that cannot be written is read, and nothing else."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest
from limited import outcome_of
from rows import each_row

from hengwen.errors import StoreError
from hengwen.records import Run
from hengwen.store import open_store, store_files
from hengwen.store.database import read_only_uri

RUN = Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="now")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one run."""
    path = tmp_path / "x.db"
    with open_store(path) as store:
        ledger = store.ledger()
        ledger.begin(RUN)
        ledger.commit()
    return path


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every path look read-only: the superuser may write to any file."""
    monkeypatch.setattr(os, "access", lambda *_: False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="changes its user as on Linux")
def test_a_user_who_may_only_read_reads_and_is_told_why_nothing_is_written(path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is for the superuser only
        folder = Path(name)
        shutil.copy(path, folder / "x.db")
        (folder / "x.db").chmod(0o444)
        folder.chmod(0o555)

        def read() -> None:
            if not os.geteuid():
                os.setgroups([])
                os.setuid(65534)
            with open_store(folder / "x.db") as store:
                assert [run.id for run in store.runs()] == ["r1"]
                store.ledger().begin(RUN)

        message = f"StoreError: {folder}/x.db: is read-only; copy it to another folder, or name another"
        assert outcome_of(read).startswith(message)
        assert [file.name for file in folder.iterdir()] == ["x.db"]
        folder.chmod(0o755)


@pytest.mark.parametrize(
    "location", ["file:{}?mode=ro", "sqlite:///{}?mode=ro", "sqlite:///file:{}?immutable=1&uri=true"]
)
def test_a_url_can_ask_for_reading_only(path: Path, location: str) -> None:
    before = path.read_bytes()
    with open_store(location.format(path)) as store:
        assert (store.read_only, store.name) == (True, str(path))
        assert [run.id for run in store.runs()] == ["r1"]
        assert store.latest()[0].plan == "p"
        for write in (
            lambda: store.ledger().begin(RUN),
            store.writable_engine,
            lambda: store.pin(RUN, "now"),
            lambda: store.remove(RUN),
        ):
            with pytest.raises(StoreError, match=r"x.db: is read-only; copy it to another folder, or name"):
                write()
    assert path.read_bytes() == before


def test_a_read_only_medium_is_read_without_a_file_beside_the_store(path: Path, read_only: None) -> None:
    with open_store(path) as store:
        assert store.read_only
        assert [run.id for run in store.runs()] == ["r1"]
    assert os.listdir(path.parent) == ["x.db"]


@pytest.mark.parametrize("name", ["a b?c#%20.db", "衡文.db", "\udce8.db"])
def test_a_read_only_store_has_any_name(path: Path, read_only: None, name: str) -> None:
    with open_store(path.rename(path.with_name(name))) as store:
        assert [run.id for run in store.runs()] == ["r1"]


def test_a_store_that_can_be_written_says_so(path: Path) -> None:
    with open_store(path) as store:
        assert not store.read_only
        store.pin(RUN, "now")


def test_changes_in_the_write_ahead_log_are_read_or_refused_and_never_left_out(
    path: Path, read_only: None
) -> None:
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE run SET plan = 'changed'")
    writer.commit()
    for name in ("x.db", "x.db-wal"):
        shutil.copy(path.with_name(name), path.parent / name.replace("x", "y"))
    with open_store(path) as store:
        assert [run.plan for run in store.runs()] == ["changed"]
    writer.close()
    assert read_only_uri_of(path.with_name("y.db")) == f"{path.with_name('y.db').as_uri()}?mode=ro"


def test_a_log_that_cannot_be_read_is_named(
    path: Path, read_only: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.with_name("x.db-wal").write_bytes(b"changes")

    def refuse(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorname = "SQLITE_CANTOPEN"
        raise error

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(
        StoreError, match=r"x.db: has changes in x.db-wal that cannot be read where it is read-"
    ):
        open_store(path)
    path.with_name("x.db-wal").unlink()
    with pytest.raises(
        StoreError, match=r"x.db: cannot be opened \(unable to open database file\); check the"
    ):
        open_store(path)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", refuse)

    def deny(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("hengwen.store.database.os.open", deny)
    with pytest.raises(StoreError, match=r"y.db: cannot be created: the folder .* cannot be written; name"):
        open_store(path.with_name("y.db"))


def read_only_uri_of(path: Path) -> str | None:
    from hengwen.store.database import parse_location

    return read_only_uri(parse_location(path))


def test_a_journal_that_must_be_rolled_back_is_not_left_out(path: Path, read_only: None) -> None:
    path.with_name("x.db-journal").write_bytes(b"\xd9\xd5\x05\xf9 changes")
    assert read_only_uri_of(path) == f"{path.as_uri()}?mode=ro"


def test_an_empty_file_on_a_read_only_medium_is_no_store(tmp_path: Path, read_only: None) -> None:
    (tmp_path / "x.db").touch()
    with pytest.raises(StoreError, match="x.db: is empty, and cannot be written; name another store"):
        open_store(tmp_path / "x.db")


def test_a_missing_store_is_not_created_by_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="x.db: no such store"):
        open_store(f"file:{tmp_path / 'x.db'}?mode=ro")
    assert os.listdir(tmp_path) == []


@each_row(
    ("location", "path"),
    [
        ("x.db", "x.db"),
        ("a b%20c.db", "a b%20c.db"),
        ("file:a%20b.db?mode=ro", "a b.db"),
        ("file:///a/x.db", "/a/x.db"),
        ("file://localhost/a/x.db", "/a/x.db"),
        ("sqlite:////a/x.db", "/a/x.db"),
        ("sqlite://", None),
        ("sqlite:///file:x?mode=memory&uri=true", None),
        ("postgresql://host/x.db", None),
    ],
)
def test_the_file_of_a_store_is_known(location: str, path: str | None) -> None:
    files = [] if path is None else [Path(f"{path}{suffix}") for suffix in ("", "-wal", "-shm")]
    assert store_files(location) == files
