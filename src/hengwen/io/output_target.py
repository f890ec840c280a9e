"""Check, before any work is done, that an output file can be written and does not replace an input."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def check_output(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Check that a file can be written, and that it is none of the files that the command reads."""
    check_file(target)
    for path in inputs:
        if is_same_file(target, path):
            raise ConfigError(f"{target}: the output would replace the input {path}; name another file")
    try:
        with tempfile.TemporaryFile(
            dir=target.parent
        ):  # create a test file, because permissions do not show a read-only disk
            pass
    except OSError as error:
        raise _unwritable(target, error) from None


def check_file(target: Path) -> None:
    """Check that a path is or can become a regular file (no link, folder or device) in an existing folder."""
    try:
        if target.is_symlink():
            raise ConfigError(
                f"{target}: is a link to {os.readlink(target)}, and no output is written through a link; "
                "name the file itself"
            )
        if target.is_dir():
            raise ConfigError(f"{target}: is a folder; name a file in it")
        if target.exists():
            if not target.is_file():
                raise ConfigError(f"{target}: is a device or a pipe; name a file")
            if not os.access(target, os.W_OK):
                raise ConfigError(f"{target}: is write-protected; name another file")
        elif not target.parent.is_dir():
            raise ConfigError(f"{target}: folder {str(target.parent)!r} does not exist; create it first")
    except OSError as error:
        raise _unwritable(target, error) from None


def check_inside(target: Path, plan: Path) -> None:
    """Check that a file that a plan names for writing is in the folder of the plan, also through links."""
    folder = os.path.realpath(plan.parent)
    if os.path.commonpath([os.path.realpath(target), folder]) != folder:
        raise ConfigError(f"{target}: is outside the folder of {plan}; name it with -o, or add --trust")


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, also through links."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def _unwritable(target: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{target}: cannot be written: {error.strerror or error}")
