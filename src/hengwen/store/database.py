"""Open a database by path or URL, and migrate its schema."""

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


def open_database(location: str | Path) -> Engine:
    """Connect to a database and migrate it to the newest schema.

    Args:
        location: A path (SQLite) or a SQLAlchemy URL.

    Raises:
        ConfigError: The URL is malformed, or names an unknown database.
        PluginError: The driver is not installed; the message names the extra.
        StoreError: The database cannot be opened, or a newer Hengwen wrote it.
    """
    url = _url(location)
    try:
        engine = create_engine(url)
    except NoSuchModuleError:
        raise ConfigError(f"unknown database {url.drivername!r} in the store's URL") from None
    except ImportError as error:
        raise PluginError(
            f"the store {display_url(url)} needs {error.name}: pip install 'hengwen[postgres]'"
        ) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune_sqlite)
    try:
        with store_errors(engine):
            migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _url(location: str | Path) -> URL:
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
    """Return the URL without a password, or the path of a SQLite file, for messages."""
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
def store_errors(engine: Engine) -> Iterator[None]:
    """Turn database errors into a StoreError that names the store, and none of its data."""
    try:
        yield
    except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
        cause = getattr(error, "orig", None) or error
        reason = str(cause).strip().splitlines()[0]
        raise StoreError(f"{display_url(engine.url)}: {reason}; committed data is kept") from None


def migrate(engine: Engine) -> None:
    """Migrate the schema to ``HEAD``; does nothing if it is up to date.

    Raises:
        StoreError: The schema is newer than this program, or the database is not a Hengwen store.
    """
    with engine.connect() as connection:
        version = _version(connection)
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StoreError(
            f"{display_url(engine.url)}: written by a newer hengwen (schema {version}, known {HEAD}); "
            "upgrade hengwen"
        )
    if version is None:
        create(engine)
    else:
        upgrade(engine)


def create(engine: Engine) -> None:
    """Create the tables in an empty database; faster than the migrations, with the same result."""
    with engine.begin() as connection:
        metadata.create_all(connection)
        _VERSION.create(connection)
        connection.execute(_VERSION.insert().values(version_num=HEAD))


def upgrade(engine: Engine, to: str = "head") -> None:
    """Run the missing migrations.

    Args:
        engine: The database.
        to: The last migration to run.
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
            url = display_url(connection.engine.url)
            raise StoreError(f"{url}: not a hengwen store, but another database; name another file")
        return None
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if version is None else str(version)
