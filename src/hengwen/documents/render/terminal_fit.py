"""Fit a document into few lines of a terminal: what matters less is cut first, and each cut is marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from hengwen.documents.render.terminal_tables import wrapped
from hengwen.text.language import in_language, say
from hengwen.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.render.terminal_tables import Lines
    from hengwen.text.language import Language

MAX_LINES = 25
"""Lines of a document of which not all is asked for."""
REASONS, TABLE = 1, 2
"""Weights of the reasons and doubts of a decision, and of the table of scores: the others are cut first."""


@dataclass(slots=True, kw_only=True)
class Section:
    """Lines that belong together: a head, items such as rows or verdicts, and notes."""

    head: Lines = field(default_factory=list)
    items: list[Lines] = field(default_factory=list)
    foot: Lines = field(default_factory=list)
    """How to read the items: left out before them, but after all that matters less."""
    notes: Lines = field(default_factory=list)
    has_gap: bool = True
    """Whether a blank line stands before it."""
    left_out: int = 0
    is_note: bool = False
    """Whether it only explains others, and is left out before anything of them."""
    weight: int = 0
    """Items are left out of sections of a greater weight only where lighter sections are left out."""
    shortest: int = 2
    """Lines to which an item is cut before whole items are left out."""

    def lines(self, language: Language) -> Lines:
        """Return the lines, with the number of items that were left out."""
        rest: Lines = []
        if self.left_out:
            words = say("… {left_out} more", left_out=count(self.left_out))
            rest = [Text(f"  {in_language(words, language)}", style="dim")]
        lines = [*self.head, *(line for item in self.items for line in item), *rest, *self.foot, *self.notes]
        return [Text(), *lines] if self.has_gap and lines else lines

    @property
    def height(self) -> int:
        """Number of lines, with the blank one."""
        items = sum(map(len, self.items)) + bool(self.left_out)
        lines = len(self.head) + items + len(self.foot) + len(self.notes)
        return lines + self.has_gap if lines else 0


def fit(sections: Sequence[Section], width: int, *, max_lines: int) -> bool:
    """Cut sections until they have at most ``max_lines`` lines; return whether anything was cut."""
    was_cut = False
    lighter = [section for section in sections if section.weight < REASONS]
    while sum(section.height for section in sections) > max_lines:
        if not (
            _drop_notes(sections)
            or _shorten(lighter, width)
            or (len(lighter) < len(sections) and _drop_item(lighter))
            or _shorten(sections, width)
            or _close_gap(sections)
            or (len(lighter) < len(sections) and _drop_section(lighter))
            or _drop_foot(sections)
            or _drop_item(sections)
            or _drop_section(sections)
        ):
            break
        was_cut = True
    return was_cut


def _drop_notes(sections: Sequence[Section]) -> bool:
    for section in reversed(sections):
        if section.notes:
            section.notes = []
            return True
    for section in reversed(sections):
        if section.is_note and section.height:
            section.head, section.items = [], []
            return True
    return False


def _shorten(sections: Sequence[Section], width: int) -> bool:
    """Take one line off the item that is farthest above its shortest length."""
    items = [
        (len(item) - section.shortest, section, i)
        for section in sections
        for i, item in enumerate(section.items)
    ]
    excess, section, i = max(items, key=lambda entry: entry[0], default=(0, None, 0))
    if section is None or excess <= 0:
        return False
    section.items[i] = ended(section.items[i][:-1], width)
    return True


def _drop_item(sections: Sequence[Section]) -> bool:
    """Leave out the last item of the section with the most lines among those of the least weight."""
    many = [section for section in sections if len(section.items) > 1]
    if not many:
        return False
    section = max(many, key=lambda section: (-section.weight, section.height))
    section.items.pop()
    section.left_out += 1
    if section.left_out == 1 and len(section.items) > 1:  # the line that says so takes the place of one
        section.items.pop()
        section.left_out += 1
    return True


def _close_gap(sections: Sequence[Section]) -> bool:
    """Leave out the last blank line before the table of scores or what is known of the judges."""
    for section in reversed(sections[1:]):
        if section.has_gap and section.weight and section.height:
            section.has_gap = False
            return True
    return False


def _drop_foot(sections: Sequence[Section]) -> bool:
    for section in reversed(sections):
        if section.foot:
            section.foot = []
            return True
    return False


def _drop_section(sections: Sequence[Section]) -> bool:
    """Leave out the last section, which is never the first."""
    for section in reversed(sections[1:]):
        if section.height:
            section.head, section.items, section.left_out = [], [], 0
            return True
    return False


def ended(lines: Lines, width: int) -> Lines:
    """Return lines whose last one ends with an ellipsis within the width.

    No word is cut: the beginning of a number, or of the name of a checkpoint, can be another one.
    """
    last = lines[-1].copy()
    last.rstrip()
    while last.plain.endswith("…"):
        last.right_crop(1)
    kept = wrapped(last, width - 2)[0]
    kept.rstrip()
    return [*lines[:-1], kept.append(" …" if kept.plain else "…")]
