"""Open a database by path or URL, and turn its errors into messages that say how to solve them."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from hengwen.errors import ConfigError, PluginError, StoreError, did_you_mean
from hengwen.store.tables import HAS_FAILURE, SCHEMA, evaluation, metadata


def parse_location(location: str | Path) -> URL:
    """Return the URL of a store."""
    if isinstance(location, str) and location.startswith("file:"):
        location = f"sqlite:///{location}"
    if isinstance(location, Path) or "://" not in location:
        path = Path(location)
        if not path.parent.is_dir():
            raise StoreError(f"{path}: the folder {path.parent} does not exist")
        return make_url("sqlite://").set(database=str(path))
    try:
        url = make_url(location)
    except ArgumentError:
        raise ConfigError(
            "the store is neither a path nor a URL such as sqlite:///hengwen.db or postgresql+psycopg://host/db"
        ) from None
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def display_url(url: URL) -> str:
    """Return the URL without its password, or the path of a SQLite file, for messages."""
    path = sqlite_path(url)
    return url.render_as_string(hide_password=True) if path is None else str(path)


def sqlite_path(url: URL) -> Path | None:
    """Return the file of a SQLite store; None for other databases and for a database in memory."""
    name = url.database or ":memory:"
    if url.get_backend_name() != "sqlite" or ":memory:" in name or url.query.get("mode") == "memory":
        return None
    if name.startswith("file:"):
        return Path(unquote(re.sub("^file:(//(localhost)?(?=/))?", "", name)))
    return Path(name)


def store_files(location: str | Path) -> list[Path]:
    """Return the file of a SQLite store and SQLite's files next to it; nothing for a database server.

    Args:
        location: A path (SQLite), a SQLite URI (``file:x.db?mode=ro``) or a SQLAlchemy URL.

    Raises:
        ConfigError: The URL is malformed.
        StoreError: The folder of the file does not exist.
    """
    path = sqlite_path(parse_location(location))
    return [] if path is None else [path, wal_file(path), Path(f"{path}-shm")]


def wal_file(path: Path) -> Path:
    """Return the path of a SQLite file's write-ahead log: committed changes that are not yet in the file."""
    return Path(f"{path}-wal")


def read_only_uri(url: URL) -> str | None:
    """Return the URI that opens a SQLite file only for reading; None for other stores and writable files."""
    path = sqlite_path(url)
    if path is None:
        return None
    is_immutable = url.query.get("immutable") in ("1", "true", "on", "yes")
    is_read_only = is_immutable or url.query.get("mode") == "ro"
    writable_folder = os.access(path.parent, os.W_OK)
    if not is_read_only and (not path.exists() or (writable_folder and os.access(path, os.W_OK))):
        return None
    uri = f"{path.absolute().as_uri()}?mode=ro"
    needs_other_files = has_changes(path) or (is_read_only and writable_folder)
    return uri if needs_other_files and not is_immutable else f"{uri}&immutable=1"


NETWORK_FILE_SYSTEMS = {
    *("9p", "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs"),
    *("lustre", "nfs", "nfs4", "smb3"),
}
"""Types of file systems that several machines can write, as Linux names them."""
MOUNTS = Path("/proc/self/mountinfo")


def is_on_network(path: Path) -> bool:
    """Return whether a file is in a folder that other machines may write; False where Linux does not say."""
    try:
        lines = MOUNTS.read_text("utf-8").splitlines()
    except OSError:
        return False
    mounts = {}
    for line in lines:
        mount, _, device = line.partition(" - ")
        folder = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), mount.split()[4])
        mounts[Path(folder)] = device.split()[0].replace("fuse.glusterfs", "glusterfs")
    nearest = next((mounts[folder] for folder in path.resolve().parents if folder in mounts), "")
    return nearest in NETWORK_FILE_SYSTEMS


def has_changes(path: Path) -> bool:
    """Return whether SQLite must read a file next to the store: its write-ahead log or its journal."""
    files = wal_file(path), Path(f"{path}-journal")
    return any(file.exists() and file.stat().st_size > 0 for file in files)


BUSY_SECONDS = 10
"""Maximum number of seconds that a write waits for another process's lock on a SQLite file."""
BUSY_POLL_SECONDS = 0.01
"""Seconds between two attempts to switch a file to a write-ahead log while other processes open it."""
PAGE_SIZE = 8192
"""Size of a page of a new SQLite file: answers half fill 4096 bytes; larger pages slow small commits down."""
DATA_IS_KEPT = "; committed data is kept"
"""End of the messages of errors after which the store still has everything that was committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """An open database."""

    engine: Engine
    read_only: bool = False
    """Whether the database is read-only, because of its file, its folder or its URL."""


KEEPALIVE = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""Parameters of connections to PostgreSQL, by which a server that is silent for a minute counts as lost."""


def open_database(location: str | Path) -> Database:
    """Connect to a database; an empty one gets the tables of a store."""
    url = parse_location(location)
    try:
        uri = read_only_uri(url)
        if uri is None:
            engine = create_engine(url, **_options(url))
        else:
            open_uri = partial(sqlite3.connect, uri, uri=True, check_same_thread=False)
            engine = create_engine(url.set(query={}), creator=open_uri)
    except NoSuchModuleError:
        hint = did_you_mean(url.drivername, ("postgresql", "sqlite"))
        raise ConfigError(f"unknown database {url.drivername!r} in the store's URL{hint}") from None
    except ImportError as error:
        raise PluginError(
            f"the store {display_url(url)} needs {error.name}: pip install 'hengwen[postgres]'"
        ) from None
    path = sqlite_path(url)
    shares_file = path is not None and is_on_network(path)
    if engine.dialect.name == "sqlite" and uri is None:
        _check_file(url)
        event.listen(engine, "connect", _tune_sqlite)
        if shares_file:
            event.listen(engine, "connect", _sync_fully)
    try:
        with store_errors(engine):
            with engine.connect() as connection:
                is_empty = _is_empty(connection)
            if uri is None:
                _set_journal(engine, "DELETE" if shares_file else "WAL")
                if is_empty:
                    create_tables(engine)
                return Database(engine=engine)
            if is_empty:
                raise StoreError(
                    f"{display_url(url)}: is empty, and cannot be written; name another store with --store"
                )
    except BaseException:
        engine.dispose()
        raise
    return Database(engine=engine, read_only=True)


SCHEMA_LOCK = int.from_bytes(b"hengwen")
"""Key of the advisory lock that a process holds in PostgreSQL while it creates the tables."""
_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def create_tables(engine: Engine) -> None:
    """Create the tables in an empty database, unless another process has created them meanwhile."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":  # otherwise the driver commits each table
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":  # otherwise two processes create the same table
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})")
            # in the table it would import this dialect for every store
            index = next(index for index in evaluation.indexes if index.name == "evaluation_failed")
            index.dialect_kwargs["postgresql_where"] = HAS_FAILURE
        if _is_empty(connection):
            metadata.create_all(connection)
            _VERSION.create(connection)
            connection.execute(_VERSION.insert().values(version_num=SCHEMA))


def _is_empty(connection: Connection) -> bool:
    """Return whether a database is empty; raise if it has other tables than those of this version."""
    names = inspect(connection).get_table_names()
    if not names:
        return True
    name = display_url(connection.engine.url)
    version = None
    if _VERSION.name in names:
        version = connection.execute(select(_VERSION.c.version_num)).scalar()
    if version is None or not re.fullmatch(r"\d{4}", str(version)) or version == "0000":
        raise StoreError(f"{name}: not a hengwen store, but another database; name another file")
    if str(version) > SCHEMA:
        raise StoreError(
            f"{name}: written by a newer hengwen (schema {version}, known {SCHEMA}); upgrade hengwen"
        )
    if str(version) < SCHEMA:
        raise StoreError(
            f"{name}: written by a hengwen of before its first release (schema {version}), which this one "
            "cannot read; it stays as it is: name a new store with --store, and run the plan again"
        )
    return False


def _options(url: URL) -> dict[str, Any]:
    if url.drivername in ("postgresql+psycopg", "postgresql+psycopg2"):
        # otherwise a lost connection would print a second line on stderr
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        return {"connect_args": {name: KEEPALIVE[name] for name in KEEPALIVE if name not in url.query}}
    # a second connection to a database in memory would get a new, empty database
    if url.get_backend_name() != "sqlite" or url.database not in (None, "", ":memory:"):
        return {}
    return {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}


def _check_file(url: URL) -> None:
    path = sqlite_path(url)
    if path is not None and path.is_symlink() and not path.exists():
        raise StoreError(f"{path}: is a link to a file that does not exist; name the file itself")
    if path is not None:
        with suppress(OSError):  # of a path that cannot be opened, SQLite says why
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # answers are for the owner only


def _tune_sqlite(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA page_size={PAGE_SIZE}")  # changes nothing in a file that has tables


def _sync_fully(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=FULL")  # a rollback journal needs it


def _set_journal(engine: Engine, journal: str) -> None:
    """Switch a SQLite file to a kind of journal; callers must check first that the file is a store."""
    # A write-ahead log is faster, but needs memory that all writers share: a file that other machines can
    # write gets a rollback journal.
    if engine.dialect.name != "sqlite":
        return
    deadline = time.monotonic() + BUSY_SECONDS
    with engine.connect() as connection:
        while True:
            try:
                connection.exec_driver_sql(f"PRAGMA journal_mode={journal}")
            except OperationalError as error:
                if "locked" not in str(error.orig) or time.monotonic() > deadline:
                    raise
                time.sleep(BUSY_POLL_SECONDS)
            else:
                return


@contextmanager
def store_errors(engine: Engine) -> Iterator[None]:
    """Turn database errors into a StoreError that names store and solution, but shows no stored data."""
    try:
        yield
    except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
        cause = getattr(error, "orig", None) or error
        reason = str(cause).strip().splitlines()[0]
        kind = getattr(cause, "sqlite_errorname", "")
        raise StoreError(f"{display_url(engine.url)}: {_message(engine.url, kind, reason)}") from None
    except (UnicodeDecodeError, JSONDecodeError) as error:  # a stored value is damaged
        raise StoreError(f"{display_url(engine.url)}: {_damaged(engine.url, str(error))}") from None


def _message(url: URL, kind: str, reason: str) -> str:
    path = sqlite_path(url)
    if kind.startswith("SQLITE_NOTADB"):
        return "not a hengwen store, but another kind of file; name another file with --store"
    if kind.startswith("SQLITE_CORRUPT") or reason.startswith("Could not decode"):
        return _damaged(url, reason.partition(" with text ")[0])
    if kind.startswith("SQLITE_READONLY"):
        return f"cannot be written ({reason}); copy it to another folder, and name the copy with --store"
    if kind.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return f"{reason}{DATA_IS_KEPT}; free space on the disk, then run the same command again"
    if kind.startswith("SQLITE_CANTOPEN") and path is not None:
        return _why_not_open(path, reason)
    return f"{reason}{DATA_IS_KEPT}"


def _damaged(url: URL, reason: str) -> str:
    path = sqlite_path(url)
    recover = f", or save what can be read: sqlite3 {path} .recover | sqlite3 recovered.db" if path else ""
    return f"is damaged ({reason}); restore a copy{recover}"


def _why_not_open(path: Path, reason: str) -> str:
    if path.is_dir():
        return "is a folder; name a file in it"
    if not path.exists():
        if os.access(path.parent, os.W_OK):
            return "no such store"
        return (
            f"cannot be created: the folder {path.parent} cannot be written; name another file with --store"
        )
    if has_changes(path):
        return (
            f"has changes in {wal_file(path).name} that cannot be read where it is read-only; "
            "copy both files to another folder, and name the copy with --store"
        )
    return f"cannot be opened ({reason}); check the permissions of the file"
