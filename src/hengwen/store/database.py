"""Open a database by path or URL, and bring its schema up to date."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, MetaData, String, Table, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from hengwen.errors import ConfigError, PluginError, StoreError
from hengwen.store.tables import HEAD, metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL

_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
BUSY_SECONDS = 10
"""How long a write waits for another process's lock on a SQLite file."""


def open_database(where: str | Path) -> Engine:
    """Connect, and migrate to the newest schema.

    Args:
        where: A path (SQLite) or a SQLAlchemy URL.

    Raises:
        ConfigError: The URL is malformed, or names no known database.
        PluginError: The driver is not installed; the message names the extra.
        StoreError: It cannot be opened, or a newer Hengwen wrote it.
    """
    url = _url(where)
    try:
        engine = create_engine(url)
    except NoSuchModuleError:
        raise ConfigError(f"unknown database {url.drivername!r} in the store's URL") from None
    except ImportError as error:
        raise PluginError(
            f"the store {shown(url)} needs {error.name}: pip install 'hengwen[postgres]'"
        ) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune_sqlite)
    try:
        with guard(engine):
            migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _url(where: str | Path) -> URL:
    if isinstance(where, Path) or "://" not in where:
        path = Path(where)
        if not path.parent.is_dir():
            raise StoreError(f"{path}: the folder {path.parent} does not exist")
        return make_url("sqlite://").set(database=str(path))
    try:
        url = make_url(where)
    except ArgumentError:
        raise ConfigError(
            "the store is neither a path nor a URL such as sqlite:///hengwen.db or postgresql+psycopg://host/db"
        ) from None
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def shown(url: URL) -> str:
    """The URL for messages, or the path of a SQLite file; never a password."""
    if url.get_backend_name() == "sqlite" and url.database:
        return url.database
    return url.render_as_string(hide_password=True)


def _tune_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


@contextmanager
def guard(engine: Engine) -> Iterator[None]:
    """Turn what the database raises into a StoreError that names the store, and no data."""
    try:
        yield
    except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
        cause = getattr(error, "orig", None) or error
        reason = str(cause).strip().splitlines()[0]
        raise StoreError(f"{shown(engine.url)}: {reason}; what was committed is kept") from None


def migrate(engine: Engine) -> None:
    """Bring the schema to HEAD; quick where it is there.

    Raises:
        StoreError: The schema is newer than this program, or the tables are not Hengwen's.
    """
    with engine.connect() as connection:
        version = _version(connection)
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StoreError(
            f"{shown(engine.url)}: a newer hengwen wrote it (schema {version}, known {HEAD}); upgrade hengwen"
        )
    if version is None:
        create(engine)
    else:
        upgrade(engine)


def create(engine: Engine) -> None:
    """Make the tables in an empty database as the migrations would, without the time that these take."""
    with engine.begin() as connection:
        metadata.create_all(connection)
        _VERSION.create(connection)
        connection.execute(_VERSION.insert().values(version_num=HEAD))


def upgrade(engine: Engine, to: str = "head") -> None:
    """Run the migrations that are missing.

    Args:
        engine: The database.
        to: The last of them.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "hengwen:store/migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def _version(connection: Connection) -> str | None:
    names = inspect(connection).get_table_names()
    if "alembic_version" not in names:
        if names:
            raise StoreError(
                f"{shown(connection.engine.url)}: a database of something else; name another store"
            )
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
