"""Prompts with their answers from a data set: ShareGPT, messages, alpaca, or prompt and label rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, DataError
from hengwen.io.row_reader import DataRow, read_rows
from hengwen.io.yaml_config import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Turn = dict[str, str]

_USER = ("human", "user")
_ASSISTANT = ("gpt", "assistant", "model", "bot")
_PROMPTS = ("prompt", "instruction", "question", "query")
_LABELS = ("label", "output", "response", "completion", "answer", "chosen")
_LISTS = (("conversations", "from", "value"), ("messages", "role", "content"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was said up to an answer, and that answer."""

    line: int
    """Of the file; in a JSON list the place of the row, from 1."""
    turns: tuple[tuple[str, str], ...]
    """(role, text), the last one by the user."""
    label: str
    system: str = ""

    @property
    def prompt(self) -> str:
        """The last thing that the user said."""
        return self.turns[-1][1]

    @property
    def input(self) -> str | list[Turn]:
        """The input of a sample: text where the user spoke once, else a list of messages."""
        if len(self.turns) == 1:
            return self.prompt
        return [{"role": role, "content": text} for role, text in self.turns]


def read_exchanges(path: Path) -> list[Exchange]:
    """Return one exchange for each row: of a conversation its last answer, with all that went before.

    Args:
        path: ``.json`` (a list), ``.jsonl`` or ``.csv``.

    Raises:
        DataError: A row has no prompt or no answer; the message names file and line.
    """
    return [_exchange(line) for line in _rows(path)]


def _rows(path: Path) -> Iterator[DataRow]:
    if path.suffix.lower() != ".json":
        yield from read_rows(path)
        return
    try:
        found = json.loads(read_text(path))
    except (ConfigError, RecursionError) as error:
        raise DataError(str(error)) from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: not valid JSON: {error.msg}", line=error.lineno) from None
    if not isinstance(found, list) or not found:
        raise DataError(f"{path}: expected a JSON list of rows")
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise DataError(f"{path}:{number}: expected an object, got {type(row).__name__}", line=number)
        yield DataRow(path, number, row)


def _exchange(line: DataRow) -> Exchange:
    for key, who, what in _LISTS:
        if isinstance(line.values.get(key), list):
            return _from_turns(line, key, who, what)
    return _from_columns(line)


def _from_turns(line: DataRow, key: str, who: str, what: str) -> Exchange:
    system = line.text("system", "")
    turns: list[tuple[str, str]] = []
    for turn in line.values[key]:
        if not isinstance(turn, dict) or not isinstance(turn.get(what), str):
            line.fail(f"a turn of {key!r} needs {who!r} and {what!r} as text")
        speaker = turn.get(who)
        if speaker == "system":
            system = system or turn[what]
        elif speaker in _USER or speaker in _ASSISTANT:
            turns.append(("user" if speaker in _USER else "assistant", turn[what]))
        else:
            line.fail(f"unknown speaker {speaker!r} in {key!r}; known: {', '.join((*_USER, *_ASSISTANT))}")
    return _made(line, turns, system)


def _from_columns(line: DataRow) -> Exchange:
    prompt = _first(line, _PROMPTS)
    more = line.values.get("input")
    if isinstance(more, str) and more.strip():
        prompt = f"{prompt}\n{more}" if prompt else more
    turns = [*_history(line), ("user", prompt or ""), ("assistant", _first(line, _LABELS) or "")]
    return _made(line, turns, line.text("system", ""))


def _history(line: DataRow) -> list[tuple[str, str]]:
    """Alpaca's earlier exchanges: a list of pairs."""
    pairs = line.values.get("history") or []
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        for pair in pairs
    ):
        line.fail("field 'history' must be a list of [prompt, answer]")
    return [turn for asked, said in pairs for turn in (("user", asked), ("assistant", said))]


def _made(line: DataRow, turns: list[tuple[str, str]], system: str) -> Exchange:
    last = max((place for place, (role, _) in enumerate(turns) if role == "assistant"), default=0)
    before, label = turns[:last], turns[last][1] if turns else ""
    if not before or before[-1][0] != "user" or not before[-1][1].strip() or not label.strip():
        line.fail(
            "no prompt with an answer in this row; known: conversations, messages, "
            f"{'/'.join(_PROMPTS)} with {'/'.join(_LABELS)}"
        )
    return Exchange(line=line.number, turns=tuple(before), label=label, system=system)


def _first(line: DataRow, names: tuple[str, ...]) -> str | None:
    return next((value for name in names if isinstance(value := line.values.get(name), str) and value), None)
