"""Find the file and line for an error that is detected only after a plan was parsed."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, DataError, PluginError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.plans.plan import Plan

_LOCATED = re.compile(r"[^'\"\n]*?:\d+: ")
"""Start of a message that already names a file and a line."""
MAX_DEPTH = 2
"""Maximum number of key levels between a value and its options, as in ``{name: {option: ...}}``."""


@contextmanager
def located(plan: Plan, *location: str | int, title: str = "") -> Iterator[None]:
    """Put the file and line of a value of the plan in front of messages of errors raised in the block.

    The line is that of the deepest key below the value that the message mentions, such as an option. A
    message does not change if it already names a line of another file, or if the plan was built in Python.

    Args:
        plan: The plan.
        location: Keys and indexes of the value from the root of the plan.
        title: Name of the value, which is put between the line and the message.

    Raises:
        ConfigError: Raised in the block.
        DataError: Raised in the block.
        PluginError: Raised in the block.
    """
    try:
        yield
    except (ConfigError, DataError, PluginError) as error:
        message = f"{title}: {error}" if title else str(error)
        line = locate(plan, *location, mentioned_in=message)
        if not line or _LOCATED.match(str(error)):
            raise
        raise type(error)(f"{line}{message}") from None


def locate(plan: Plan, *location: str | int, mentioned_in: str = "") -> str:
    """Return ``"file:line: "`` of a value of the plan, or "" if the value is in no file.

    Args:
        plan: The plan.
        location: Keys and indexes of the value from the root of the plan.
        mentioned_in: A message. The result is the line of the deepest key below the value that the message
            mentions.
    """
    file = plan.file
    if file is None or location[:2] not in file.lines:  # built in Python, or replaced by an option
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
