"""``Log``: the log of another tool as rows of scores; ``log_formats.py`` has the formats."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hengwen.importers.columns import ColumnMap
from hengwen.io.json_items import json_members
from hengwen.io.row_reader import DataRow, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Item = dict[str, Any]
    Rows = Iterator[Item]

TEXTS = ("content", "text", "prompt")
"""Keys of the text of a message, or of a part of it."""
MEMBER = ""
"""Key of the name of an item in a JSON object."""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """How the items of one tool's log become rows of scores."""

    name: str
    rows: Callable[[Log, DataRow], Rows]
    """Return the rows of an item."""
    fields: str
    """Keys that are read, or that say nothing more; others are said to be left out."""
    marks: frozenset[str] = frozenset()
    """Keys by which a line of this log is recognized."""
    start: str = ""
    """In a JSON file, the first key with a list or object, by which this log is recognized."""
    keys: tuple[str, ...] = ()
    """In a JSON file, the keys that lead to the items."""
    items: Callable[[Log], Iterator[DataRow]] | None = None
    """Return the items of a file that is no JSON."""


@dataclass(slots=True)
class Log:
    """The log of a tool, which can be read several times."""

    path: Path
    format: LogFormat
    left_out: Counter[str] = field(default_factory=Counter)
    """What could not be read, with the number of times."""
    unread: dict[str, None] = field(default_factory=dict)
    header: Item = field(default_factory=dict)
    """What the log says of all items."""
    metrics: set[str] = field(default_factory=set)
    """Keys that are names of scores."""
    seen: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def notes(self) -> list[str]:
        """Which log it is, and what of it was left out."""
        return [
            f"read as {self.format.name}",
            *(f"left out: {n} {what}" for what, n in self.left_out.items()),
        ]

    @property
    def columns(self) -> ColumnMap:
        """The keys that are not read."""
        return ColumnMap({}, (), (), tuple(name for name in self.unread if name not in self.metrics))

    def rows(self) -> Iterator[DataRow]:
        """Yield the rows of all items."""
        self.left_out.clear()
        self.seen.clear()
        known = {MEMBER, *self.format.fields.split()}
        for item in self.format.items(self) if self.format.items else self._items():
            self.unread.update(dict.fromkeys(name for name in item.values if name not in known))
            for values in self.format.rows(self, item):
                yield DataRow(item.path, item.number, values)

    def _items(self) -> Iterator[DataRow]:
        if not self.format.start:
            yield from read_rows(self.path)
            return
        members = json_members(self.path, *self.format.keys)
        for number, (name, value) in enumerate(members, start=1):
            if isinstance(value, dict):
                yield DataRow(self.path, number, {**value, MEMBER: name})
            else:
                self.left_out["items that are no objects"] += 1

    def scores(self, common: Item, values: Mapping[str, Any], **more: Any) -> Rows:
        """Yield a row for each score that is a number; what is a list or object is left out."""
        for name, value in values.items():
            if isinstance(value, (list, dict)):
                self.left_out[f"values of {name!r}, which are {type(value).__name__}s"] += 1
            else:
                yield {**common, "name": name, "score": value, **more}


def text_of(value: Any, attachments: Mapping[str, str] | None = None) -> str:
    """Return the text of a prompt or answer: a text, messages, or parts of a message."""
    if isinstance(value, str):
        return (attachments or {}).get(value.removeprefix("attachment://"), value)
    if isinstance(value, dict):
        return text_of(next((value[key] for key in TEXTS if key in value), None), attachments)
    if isinstance(value, list):
        return "\n\n".join(text for item in value if (text := text_of(item, attachments)))
    return ""
