"""The numbered prompts of a section with their reference answers: ``1. input: ...`` and ``target: ...``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.importers.notes import ImportNote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.importers.muice.markdown_source import SourceLine

_ITEM = re.compile(r" {0,3}(\d+)[.)、]\s*input\s*[:：](.*)", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r" {0,3}(\d+)[.)]\s+\S.*", re.DOTALL)
_INPUT = re.compile(r"\s*input\s*[:：]", re.IGNORECASE)
_TARGET = re.compile(r"\s*target\s*[:：](.*)", re.IGNORECASE | re.DOTALL)
_ANNOUNCED = re.compile(r"\s*评测\s*Prompt\s*(?:\||｜|和|与).*参考答案.*", re.DOTALL)
BLANKS = " \t"
"""What an editor leaves at the end of a line; wider spaces are part of a text."""
_PIPE = re.compile(r"(?<!\\)[|｜]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A prompt with its reference answer, as published but for blanks at the ends of lines."""

    number: int
    line: int
    input: str
    target: str | None
    """None where the document has none."""


@dataclass(slots=True)
class _Parts:
    inputs: list[str]
    targets: list[str] | None = None
    continued: int | None = None
    """The first line that continues a text."""


def read_items(
    lines: Sequence[SourceLine], path: Path, findings: list[ImportNote], *, task: str
) -> tuple[Item, ...]:
    """Return the items of a section.

    Args:
        lines: Of the section.
        path: Of the document, for messages.
        findings: What was mended is added here.
        task: For messages.

    Raises:
        DataError: An item has no ``input:``, its number is taken, or a text belongs to no item.
    """
    starts = [place for place, line in enumerate(lines) if _ITEM.match(line.text)]
    _check_whole(lines, path)
    items: list[Item] = []
    blanks: list[int] = []
    for start, end in pairwise([*starts, len(lines)]):
        item = _item(lines[start:end], path, findings, blanks)
        first = next((other for other in items if other.number == item.number), None)
        if first is not None:
            message = f"{path}:{item.line}: item {item.number} is here again, first seen on line {first.line}"
            raise DataError(message, line=item.line)
        items.append(item)
    if blanks:
        findings.append(_blank_note(task, blanks))
    if [item.number for item in items] != list(range(1, len(items) + 1)):
        shown = ", ".join(str(item.number) for item in items)
        message = f"{task}: the items are not numbered 1, 2, 3 ...: {shown}"
        findings.append(ImportNote(kind="warning", code="numbering", message=message, line=items[0].line))
    return tuple(items)


def _check_whole(lines: Sequence[SourceLine], path: Path) -> None:
    """Refuse what reading item by item would lose without a word."""
    announced = waiting = False
    for line in lines:
        announced = announced or bool(_ANNOUNCED.fullmatch(line.text))
        wrong = ""
        if _ITEM.match(line.text):
            waiting = True
        elif _INPUT.match(line.text):
            wrong = "an input without the number of its item, such as '1. input: ...'"
        elif announced and _NUMBERED.fullmatch(line.text):
            wrong = "expected 'input:' after the number of an item"
        elif _TARGET.match(line.text):
            wrong = "" if waiting else "a target without an input above it"
            waiting = False
        if wrong:
            raise DataError(f"{path}:{line.number}: {wrong}", line=line.number)


def _item(block: Sequence[SourceLine], path: Path, findings: list[ImportNote], blanks: list[int]) -> Item:
    found = _ITEM.match(block[0].text)
    if found is None:  # read_items gives blocks that begin with an item
        raise AssertionError(block[0])
    line = block[0].number
    parts = _split(block, found[2])
    if parts.targets is None:
        _split_at_pipe(parts, line, findings)
    if parts.continued is not None:
        message = "a text goes on over several lines: they are kept as lines"
        findings.append(ImportNote(kind="warning", code="continued", message=message, line=parts.continued))
    prompt, target = "\n".join(parts.inputs), "\n".join(parts.targets or [])
    if prompt != prompt.rstrip(BLANKS):
        blanks.append(line)
    if not prompt.strip():
        raise DataError(f"{path}:{line}: item {found[1]} has an empty input", line=line)
    if not target.strip():
        message = f"item {found[1]} has no target: it is asked without a reference"
        findings.append(ImportNote(kind="warning", code="no_reference", message=message, line=line))
    return Item(
        number=int(found[1]), line=line, input=prompt.strip(BLANKS), target=target.strip(BLANKS) or None
    )


def _split(block: Sequence[SourceLine], first: str) -> _Parts:
    """Tell the input from the target; blank lines and any indent may stand between them."""
    parts = _Parts([first])
    blank = False
    for line in block[1:]:
        if not line.text.strip():
            blank = True
            continue
        found = _TARGET.fullmatch(line.text) if parts.targets is None else None
        if found:
            parts.targets = [found[1]]
        elif blank and not line.text[0].isspace():
            break  # the list has ended
        else:
            text = line.text.strip()
            (parts.inputs if parts.targets is None else parts.targets).extend(["", text] if blank else [text])
            parts.continued = parts.continued or line.number
        blank = False
    return parts


def _split_at_pipe(parts: _Parts, line: int, findings: list[ImportNote]) -> None:
    whole = "\n".join(parts.inputs)
    found = _PIPE.search(whole)
    if found is None:
        return
    prompt, target = whole[: found.start()], whole[found.end() :]
    parts.inputs, parts.targets = [prompt], [target]
    findings.append(
        ImportNote(
            kind="repair",
            code="pipe",
            line=line,
            message=f"input and target stand on one line with {found[0]!r} between them: taken apart",
            before=whole.strip(),
            after=f"input: {prompt.strip()}\ntarget: {target.strip()}",
        )
    )


def _blank_note(task: str, lines: Sequence[int]) -> ImportNote:
    shown = ", ".join(map(str, lines))
    return ImportNote(
        kind="note",
        code="trailing_blank",
        line=lines[0],
        message=f"{task}: {len(lines)} inputs end in a blank, which is taken off: lines {shown}",
    )
