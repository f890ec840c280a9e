"""Collect the texts of the command line into the message catalogue, and compile it.

Helps are those of the commands; errors, warnings and notes are collected from the source. A part that is
filled in becomes {1}, {2} and so on, in the order of the English text.
"""

from __future__ import annotations

import ast
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from typer.main import get_command

from hengwen.text.language import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hengwen"
Key = tuple[str, str]
"""Context and English text of a message."""
UNDATED = datetime(2026, 1, 1, tzinfo=UTC)
"""Date in the catalogue, the same each time: a catalogue that is up to date does not change."""
PO, MO = FOLDER / "hengwen.po", FOLDER / "hengwen.mo"
SPEAKING = {
    "fail",
    "print_line",
    "print_error",
    "print_warning",
    "print_info",
    "BadParameter",
    "confirm",
    "ImportNote",
    "_unusable",
    "_fail",
    "_failures",
    "_fail_all",
    "Corruption",
    "MarkupHit",
    "_copy",
    "_not_assessed",
    "_not_applicable",
    "not_applicable",
    "pass_score",
}
"""Functions, besides classes of errors, whose texts a person reads."""
REASONS = {"ClauseResult": {"en"}, "RuleResult": {"en", "reason"}}
"""Keywords, besides ``message``, whose texts a person reads, by the class that takes them."""
FOREIGN = tuple((ROOT / "tools" / "messages.txt").read_text("utf-8").splitlines())
"""Texts of libraries, and texts that the source puts together in another way."""
PYTHON_ONLY = {"integrations", "relevance_metrics", "stats"}
"""Packages whose errors a programmer reads, not a user of commands."""
INTERNAL = {"AssertionError", "AttributeError", "RuntimeError", "KeyError"}
"""Errors that only a programmer sees."""


def helps(command: Any) -> Iterator[str]:
    """Yield the help texts of a command, its parameters and its subcommands."""
    yield from filter(None, (command.help, command.epilog))
    yield from filter(None, (getattr(param, "help", None) for param in command.params))
    for child in getattr(command, "commands", {}).values():
        yield from helps(child)


def template(node: ast.expr) -> str:
    """Return a text with {1}, {2} for the parts that are filled in; empty for another expression."""
    parts: list[str] = []
    _collect(node, parts)
    numbered, count = "", 0
    for part in parts:
        count += not part
        numbered += part or f"{{{count}}}"
    return numbered


def _collect(node: ast.expr, parts: list[str]) -> None:
    match node:
        case ast.Constant(value=str(text)):
            parts.append(text)
        case ast.JoinedStr(values=values):
            for value in values:
                _collect(value, parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            _collect(left, parts)
            _collect(right, parts)
        case _:
            parts.append("")


def spoken(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of errors, warnings and notes in a module, and the texts within their parts."""
    for statement in ast.walk(tree):
        arguments: list[ast.expr] = []
        match statement:
            case ast.Assign(targets=[ast.Name(id="message")], value=value) if not isinstance(
                value, ast.Call | ast.Subscript
            ):
                arguments.append(value)
            case ast.Call(func=function, args=args, keywords=keywords):
                name = getattr(function, "attr", getattr(function, "id", ""))
                arguments += [
                    item.value for item in keywords if item.arg in {"message", *REASONS.get(name, ())}
                ]
                if name in SPEAKING or (name.endswith("Error") and name not in INTERNAL):
                    arguments += args
        for argument in arguments:
            for node in ast.walk(argument):
                if isinstance(node, ast.JoinedStr | ast.BinOp) or (
                    isinstance(node, ast.Constant) and isinstance(node.value, str)
                ):
                    yield template(node)


def is_sentence(text: str) -> bool:
    """Return whether a text has words to translate."""
    plain = "".join(part.partition("}")[2] if i else part for i, part in enumerate(text.split("{")))
    return sum(char.isalpha() and char.isascii() for char in plain) > 3 and " " in plain.strip()


def said(tree: ast.AST) -> Iterator[Key]:
    """Yield the messages of ``say`` in a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="say"), args=[ast.Constant(value=str(text))], keywords=keywords):
                contexts = [item.value for item in keywords if item.arg == "context"]
                yield next((str(getattr(value, "value", "")) for value in contexts), ""), text


def collected() -> set[Key]:
    """Return the texts, each behind its context."""
    from hengwen.cli import app

    texts: set[Key] = {("", text) for text in (*helps(get_command(app)), *FOREIGN)}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        texts.update(said(tree))
        if path.relative_to(SOURCE).parts[0] in PYTHON_ONLY:
            continue
        whole = list(spoken(tree))
        for text in whole:
            if is_sentence(text) and not any(text != other and text in other for other in whole):
                texts.add(("", text))
    return texts


def main() -> None:
    """Bring the catalogue up to date; texts that are gone go with their translations."""
    old = read_po(PO.open("rb"), locale="zh") if PO.exists() else Catalog(locale="zh")
    new = Catalog(
        locale="zh",
        project="hengwen",
        version="0.1.0",
        fuzzy=False,
        header_comment="# Chinese texts of hengwen.",
        creation_date=UNDATED,
        revision_date=UNDATED,
    )
    translations = {
        (message.context or "", str(message.id)): str(message.string) for message in old if message.id
    }
    for context, text in sorted(collected()):
        new.add(text, translations.get((context, text), ""), context=context or None)
    with PO.open("wb") as file:
        write_po(file, new, width=0, no_location=True, omit_header=False)
    with MO.open("wb") as file:
        write_mo(file, new)
    missing = [str(message.id) for message in new if message.id and not message.string]
    print(f"{len(new)} texts, {len(missing)} without a translation", *missing, sep="\n")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
