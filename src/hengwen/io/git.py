"""The git commit of a folder, read by the ``git`` program; nothing in the repository is run or changed."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hengwen.errors import ConfigError

SHA1_LENGTH = 40
"""Number of hexadecimal digits of a commit id in a repository that uses SHA-1."""
TIMEOUT = 10.0
"""Seconds to wait for a git command; if it takes longer, the state of the repository counts as unknown."""

_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}
"""A repository can name a program that fetches missing objects; these settings start none."""


class GitState(NamedTuple):
    """Commit that is checked out in a folder."""

    commit: str
    changed: bool
    """Whether any of the files given to ``git_state`` differs from its version in the commit."""


def git_state(folder: Path, files: Sequence[Path] = ()) -> GitState | None:
    """Return the commit that is checked out in a folder; None if there is no git, repository or commit."""
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not commit or not top:
        return None
    root = Path(top).resolve()
    resolved = [file.resolve() for file in files]
    paths = [file.relative_to(root).as_posix() for file in resolved if file.is_relative_to(root)]
    listing = _git(root, "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *paths) if paths else ""
    blobs = dict(_blobs(listing or ""))
    return GitState(commit, any(blobs.get(path) != _blob_id(root / path, commit) for path in paths))


def _blobs(listing: str) -> Iterator[tuple[str, str]]:
    """Yield path and id of each file in the output of ``git ls-tree -z``."""
    for entry in filter(None, listing.split("\0")):
        fields, _, path = entry.partition("\t")
        yield path, fields.rpartition(" ")[2]


def _blob_id(file: Path, commit: str) -> str:
    """Return the id that git gives to the content of a file; empty if the file cannot be read."""
    sha = hashlib.sha1(usedforsecurity=False) if len(commit) == SHA1_LENGTH else hashlib.sha256()
    try:
        with file.open("rb") as content:
            sha.update(b"blob %d\0" % os.fstat(content.fileno()).st_size)
            while block := content.read(1 << 20):
                sha.update(block)
    except OSError:
        return ""
    return sha.hexdigest()


def resolve_ref(folder: Path, ref: str) -> str:
    """Return the id of the commit that a branch, a tag or another git name refers to."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if not commit:
        raise ConfigError(
            f"git:{ref}: no such commit in {folder}; fetch it first, with its history (fetch-depth: 0 in CI)"
        )
    return commit


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of a git command; None if the command fails."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments],  # noqa: S607
            cwd=folder,
            env={**variables, **_ENVIRONMENT},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):  # no git, no folder, a null character, too slow
        return None
    return done.stdout.strip() if done.returncode == 0 else None
