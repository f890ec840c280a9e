"""Parse the location of a store: a path or a SQLAlchemy URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from hengwen.errors import ConfigError, StoreError


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
