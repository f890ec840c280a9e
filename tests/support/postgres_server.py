"""A PostgreSQL server for tests: Debian's programs, on a socket in a folder of its own, without a network."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

PROGRAMS = ("initdb", "pg_ctl", "postgres")
DEBIAN = Path("/usr/lib/postgresql")
NAMES = count(1)


def program_folder() -> Path | None:
    """Return the folder with the newest installed programs of PostgreSQL; None if there is none."""
    folders = sorted(DEBIAN.glob("*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    return next((path for path in folders if all((path / name).exists() for name in PROGRAMS)), None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a running server, with ``{name}`` for the name of the database.

    A test that uses it is skipped where a server cannot be started, and fails there if the variable
    HENGWEN_REQUIRE_POSTGRES is set, as in CI.
    """
    problem = ""
    if find_spec("psycopg") is None:
        problem = "psycopg is not installed: pip install 'hengwen[postgres]'"
    elif program_folder() is None:
        problem = "PostgreSQL is not installed: apt-get install postgresql"
    if problem and os.environ.get("HENGWEN_REQUIRE_POSTGRES"):
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    with running_server() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of an empty database on a real server."""
    name = f"test{next(NAMES)}"
    engine = create_engine(postgres_server.format(name="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return postgres_server.format(name=name)


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server, and yield the URL of its socket without a database name; stop it at the end."""
    programs = program_folder()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: the path of a socket has at most 107 bytes
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        account = pwd.getpwnam("nobody")
        os.chown(folder, account.pw_uid, account.pw_gid)
        as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    data = folder / "data"
    options = ["-U", "hengwen", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(
        [programs / "initdb", "-D", data, *options], check=True, capture_output=True, cwd=folder, **as_user
    )
    settings = {"listen_addresses": "", "unix_socket_directories": folder, "fsync": "off"}
    control: list[str | Path] = [programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
    flags = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **as_user}
    subprocess.run([*control, "-o", flags, "start"], **quiet)
    try:
        yield f"postgresql+psycopg://hengwen@/{{name}}?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder, ignore_errors=True)
