"""The database schema of a store: create it, check its version, or copy and migrate an older store."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, String, Table, inspect, select

from hengwen.errors import StoreError
from hengwen.store.location import display_url, sqlite_path
from hengwen.store.tables import FIRST, HAS_FAILURE, HEAD, evaluation, metadata

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

SCHEMA_LOCK = int.from_bytes(b"hengwen")
"""Key of the advisory lock that a process holds in PostgreSQL while it changes the schema."""
SCRIPTS = "hengwen:store/migrations"
_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def read_version(engine: Engine) -> str | None:
    """Return the version of the schema; None for an empty database."""
    with engine.connect() as connection:
        return _version(connection)


def migrate(engine: Engine, version: str | None) -> Path | None:
    """Create the schema in an empty database, or migrate an older one to ``HEAD``."""
    if version == HEAD:
        return None
    if version is None:
        create(engine)
        return None
    return upgrade(engine)


def check_readable(engine: Engine, version: str | None) -> None:
    """Check that a read-only store has the newest schema, because it cannot be migrated."""
    if version == HEAD:
        return
    name = display_url(engine.url)
    if version is None:
        raise StoreError(f"{name}: is empty, and cannot be written; name another store with --store")
    raise StoreError(
        f"{name}: written by an older hengwen (schema {version}, now {HEAD}), and cannot be migrated where "
        "it is read-only; copy it to another folder, and name the copy with --store"
    )


def create(engine: Engine) -> None:
    """Create the tables in an empty database, which is faster than all migrations and has the same result."""
    with _locked(engine) as connection:
        if _version(connection) is not None:  # another process has created the tables
            return
        if engine.dialect.name == "postgresql":  # in the table it would import this dialect for every store
            index = next(index for index in evaluation.indexes if index.name == "evaluation_failed")
            index.dialect_kwargs["postgresql_where"] = HAS_FAILURE
        metadata.create_all(connection)
        _VERSION.create(connection)
        connection.execute(_VERSION.insert().values(version_num=HEAD))


def upgrade(engine: Engine) -> Path | None:
    """Run the missing migrations; return the copy of a SQLite file that was made before."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "os")
    path = sqlite_path(engine.url)
    with _locked(engine) as connection:
        version = _version(connection)
        if version == HEAD:  # another process has migrated the store
            return None
        copy = None if path is None else _copy(path, version)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return copy


@contextmanager
def _locked(engine: Engine) -> Iterator[Connection]:
    """Open a transaction with exclusive access, so that a schema is changed completely or not at all."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":  # otherwise the driver commits each schema change
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":  # otherwise two processes create the same table
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})")
        yield connection


def _version(connection: Connection) -> str | None:
    """Return the version of the schema; None for an empty database."""
    names = inspect(connection).get_table_names()
    if not names:
        return None
    name = display_url(connection.engine.url)
    version = None
    if "alembic_version" in names:
        version = connection.execute(select(_VERSION.c.version_num)).scalar()
    if version is None or not re.fullmatch(r"\d{4}", str(version)) or version == "0000":
        raise StoreError(f"{name}: not a hengwen store, but another database; name another file")
    if str(version) < FIRST:
        raise StoreError(
            f"{name}: written by a hengwen of before its first release (schema {version}), which this one "
            "cannot read; it stays as it is: name a new store with --store, and run the plan again"
        )
    if version > HEAD:
        raise StoreError(
            f"{name}: written by a newer hengwen (schema {version}, known {HEAD}); upgrade hengwen"
        )
    return str(version)


def _copy(path: Path, version: str | None) -> Path:
    """Copy a SQLite file and its write-ahead log to a new file; its name contains the schema version."""
    copy = _create_beside(path, f"schema-{version}")
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        copy.unlink()
        raise StoreError(
            f"{path}: cannot be copied to {copy} before the migration: {error}; nothing is changed"
        ) from None
    return copy


def _create_beside(path: Path, mark: str) -> Path:
    """Create a new empty file with the permissions of another file; an existing file is never overwritten."""
    number = 1
    while True:
        ending = mark if number == 1 else f"{mark}-{number}"
        copy = path.with_name(f"{path.stem}.{ending}{path.suffix}")
        try:
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, path.stat().st_mode & 0o777))
        except FileExistsError:
            number += 1
        except OSError as error:
            raise StoreError(
                f"{copy}: the copy before the migration cannot be written: {error.strerror}; "
                "nothing is changed"
            ) from None
        else:
            return copy
