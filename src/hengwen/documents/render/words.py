"""What the faces have in common: the shapes of tones, and their own words."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Decision, Details
from hengwen.text.language import in_language, say
from hengwen.text.numbers import NOTHING
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hengwen.documents.blocks import Block, Cell, Chart, Document, Text, Tone
    from hengwen.text.language import Language

SHAPES: dict[Tone, str] = {
    "plain": "",
    "better": "▲",
    "worse": "▼",
    "none": "–",
    "open": "◇",
    "rejected": "✕",
    "untested": "?",
}
"""Shapes differ in outline, so that they differ without colour too."""
EMPTY_ANSWER = say("(empty)")
ANSWER = say("answer")
SCORE = say("score")
COMPARED = say("before → after")
DIFFERENCE = say("difference on the same prompts")
VERDICT = say("verdict")
PROMPTS = say("prompts")
MAX_NARROW = 40
"""Above this number of points, a chart takes the full width."""
CONTENTS = say("contents")
THEME = say("light / dark")
STATISTICS = say("The statistics behind these sentences")

_HYPHEN = re.compile(r"(?<![^\s(\[（：，])-(?=\.?\d)")
"""A hyphen before a number, where people read a minus sign."""


def printed(text: Text, language: Language) -> str:
    """Return a text as a person reads it: with a minus sign before a number instead of a hyphen."""
    return _HYPHEN.sub("\N{MINUS SIGN}", in_language(text, language))


def shape_of(cell: Cell, language: Language) -> str:
    """Return the shape before the text of a cell; a cell without a value has none."""
    return "" if in_language(cell.text, language) in ("", NOTHING) else SHAPES[cell.tone]


def contents(document: Document) -> list[tuple[Text, str]]:
    """Return titles and keys for the table of contents: the open parts of a document that have a key."""
    entries: list[tuple[Text, str]] = []
    for block in document.blocks:
        if isinstance(block, Decision):
            entries.append((say("Decision"), "decision"))
        elif isinstance(block, Details) and block.is_open and block.key:
            entries.append((block.title, block.key))
    return entries if len(entries) > 1 else []


def is_broad(chart: Chart) -> bool:
    """Return whether a chart takes the full width of a page."""
    return max(len(series.points) for series in chart.series) > MAX_NARROW


def same_kind(blocks: Sequence[Block]) -> list[tuple[str, list[Block]]]:
    """Return the blocks in groups of neighbours of one kind, each with the kind in lower case."""
    groups = groupby(blocks, key=lambda block: type(block).__name__.lower())
    return [(kind, list(group)) for kind, group in groups]


def cut_name(name: str, most: float, size: Callable[[str], float]) -> str:
    """Return a name, cut in its middle if it is longer than ``most``: checkpoints differ at the end."""
    name = " ".join(strip_controls(name).split())
    if size(name) <= most:
        return name
    room = most - size("…")
    end = next((name[i:] for i in range(len(name)) if size(name[i:]) <= room * 2 / 3), "")
    room -= size(end)
    start = next(name[:i] for i in range(len(name), -1, -1) if size(name[:i]) <= room)
    return f"{start}…{end}"
