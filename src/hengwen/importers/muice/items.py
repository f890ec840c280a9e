"""Parse the numbered prompts (``input:``) of a section and their reference answers (``target:``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from hengwen.errors import DataError
from hengwen.importers.muice.markdown_source import ImportNote, SourceLine

_ITEM = re.compile(r" {0,3}(\d+)[.)、]\s*input\s*[:：](.*)", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r" {0,3}(\d+)[.)]\s+\S.*", re.DOTALL)
_INPUT = re.compile(r"\s*input\s*[:：]", re.IGNORECASE)
_TARGET = re.compile(r"\s*target\s*[:：](.*)", re.IGNORECASE | re.DOTALL)
_ANNOUNCED = re.compile(r"\s*评测\s*Prompt\s*(?:\||｜|和|与).*参考答案.*", re.DOTALL)
BLANKS = " \t"
"""Characters that are removed at the ends of texts; full-width spaces are part of a text."""
_PIPE = re.compile(r"(?<!\\)[|｜]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A prompt with its reference answer: the published texts without blanks at their ends."""

    number: int
    line: int
    input: str
    target: str | None
    """Reference answer; None if the document has none for this prompt."""


@dataclass(slots=True)
class _Parts:
    inputs: list[str]
    targets: list[str] | None = None
    continued: int | None = None
    """Number of the first line that continues the input or the target; None if each has only one line."""


def read_items(
    lines: Sequence[SourceLine], path: Path, notes: list[ImportNote], *, task: str
) -> tuple[Item, ...]:
    """Return the items (prompts with reference answers) of a section of the Muice document."""
    starts = [index for index, line in enumerate(lines) if _ITEM.match(line.text)]
    _check_structure(lines, path)
    items: list[Item] = []
    blanks: list[int] = []
    for start, end in pairwise([*starts, len(lines)]):
        item = _item(lines[start:end], path, notes, blanks)
        first = next((other for other in items if other.number == item.number), None)
        if first is not None:
            message = f"{path}:{item.line}: item {item.number} appears twice, first on line {first.line}"
            raise DataError(message, line=item.line)
        items.append(item)
    if blanks:
        notes.append(_blank_note(task, blanks))
    if [item.number for item in items] != list(range(1, len(items) + 1)):
        numbers = ", ".join(str(item.number) for item in items)
        message = f"{task}: the items are not numbered 1, 2, 3 ...: {numbers}"
        notes.append(ImportNote(kind="warning", code="numbering", message=message, line=items[0].line))
    return tuple(items)


def _check_structure(lines: Sequence[SourceLine], path: Path) -> None:
    """Raise a DataError for a malformed item, which ``read_items`` would skip or add to the item before."""
    announced = awaits_target = False
    for line in lines:
        announced = announced or bool(_ANNOUNCED.fullmatch(line.text))
        error = ""
        if _ITEM.match(line.text):
            awaits_target = True
        elif _INPUT.match(line.text):
            error = "an input without the number of its item, such as '1. input: ...'"
        elif announced and _NUMBERED.fullmatch(line.text):
            error = "expected 'input:' after the number of an item"
        elif _TARGET.match(line.text):
            error = "" if awaits_target else "a target without an input above it"
            awaits_target = False
        if error:
            raise DataError(f"{path}:{line.number}: {error}", line=line.number)


def _item(block: Sequence[SourceLine], path: Path, notes: list[ImportNote], blanks: list[int]) -> Item:
    match = _ITEM.match(block[0].text)
    if match is None:  # cannot happen: read_items passes only blocks that begin with an item
        raise AssertionError(block[0])
    line = block[0].number
    parts = _split(block, match[2])
    if parts.targets is None:
        _split_at_pipe(parts, line, notes)
    if parts.continued is not None:
        message = "a text has several lines: the line breaks are kept"
        notes.append(ImportNote(kind="warning", code="continued", message=message, line=parts.continued))
    prompt, target = "\n".join(parts.inputs), "\n".join(parts.targets or [])
    if prompt != prompt.rstrip(BLANKS):
        blanks.append(line)
    if not prompt.strip():
        raise DataError(f"{path}:{line}: item {match[1]} has an empty input", line=line)
    if not target.strip():
        message = f"item {match[1]} has no target: it has no reference"
        notes.append(ImportNote(kind="warning", code="no_reference", message=message, line=line))
    return Item(
        number=int(match[1]), line=line, input=prompt.strip(BLANKS), target=target.strip(BLANKS) or None
    )


def _split(block: Sequence[SourceLine], first: str) -> _Parts:
    """Return the input and the target of an item; between them there may be blank lines and indentation."""
    parts = _Parts([first])
    blank = False
    for line in block[1:]:
        if not line.text.strip():
            blank = True
            continue
        match = _TARGET.fullmatch(line.text) if parts.targets is None else None
        if match:
            parts.targets = [match[1]]
        elif blank and not line.text[0].isspace():
            break  # here the list of items ends
        else:
            text = line.text.strip()
            (parts.inputs if parts.targets is None else parts.targets).extend(["", text] if blank else [text])
            parts.continued = parts.continued or line.number
        blank = False
    return parts


def _split_at_pipe(parts: _Parts, line: int, notes: list[ImportNote]) -> None:
    text = "\n".join(parts.inputs)
    match = _PIPE.search(text)
    if match is None:
        return
    prompt, target = text[: match.start()], text[match.end() :]
    parts.inputs, parts.targets = [prompt], [target]
    notes.append(
        ImportNote(
            kind="repair",
            code="pipe",
            line=line,
            message=f"input and target are on one line, separated by {match[0]!r}: split there",
            before=text.strip(),
            after=f"input: {prompt.strip()}\ntarget: {target.strip()}",
        )
    )


def _blank_note(task: str, lines: Sequence[int]) -> ImportNote:
    numbers = ", ".join(map(str, lines))
    return ImportNote(
        kind="note",
        code="trailing_blank",
        line=lines[0],
        message=f"{task}: removed trailing blanks from {len(lines)} inputs: lines {numbers}",
    )
