"""Find the file and line of a plan's value, for errors that are detected only after parsing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from hengwen.errors import ConfigError, DataError, PluginError
from hengwen.io.strict_yaml import YamlFile

_LOCATED = re.compile(r"[^'\"\n]*?:\d+: ")
"""Pattern for the start of a message that already names a file and a line."""
MAX_DEPTH = 2
"""Maximum depth, from 1, of a key in a value whose line is named if an error message mentions the key."""


class FromFile(Protocol):
    """A plan that knows the file it was read from."""

    @property
    def file(self) -> YamlFile | None:
        """The file; None for a plan made in Python."""
        ...


@contextmanager
def located(plan: FromFile, *location: str | int, title: str = "") -> Iterator[None]:
    """Put the file and line of a plan's value in front of messages of errors raised in the ``with`` block."""
    try:
        yield
    except (ConfigError, DataError, PluginError) as error:
        message = f"{title}: {error}" if title else str(error)
        line = locate(plan, *location, mentioned_in=message)
        if not line or _LOCATED.match(str(error)):
            raise
        raise type(error)(f"{line}{message}") from None


def locate(plan: FromFile, *location: str | int, mentioned_in: str = "") -> str:
    """Return ``"file:line: "`` for a value of the plan; "" if the value does not come from a file."""
    file = plan.file
    if file is None or location[:2] not in file.lines:  # set in Python or by a command-line option
        return ""
    mentions = [
        (match.start(), inner)
        for inner in file.lines
        if inner[: len(location)] == location and 0 < len(inner) - len(location) <= MAX_DEPTH
        if isinstance(inner[-1], str) and (match := _mention(inner[-1], mentioned_in))
    ]
    nearest = max(mentions, key=lambda mention: (len(mention[1]), -mention[0]))[1] if mentions else location
    return f"{file.at(nearest)}: "


def _mention(name: str, message: str) -> re.Match[str] | None:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", message)
