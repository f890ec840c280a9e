"""Read prompts and answers from data files in the formats ShareGPT, messages, alpaca, or prompt and label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hengwen.errors import DataError
from hengwen.io.json_items import json_rows
from hengwen.io.row_reader import DataRow, read_rows

Turn = dict[str, str]

_USER = ("human", "user")
_ASSISTANT = ("gpt", "assistant", "model", "bot")
_PROMPTS = ("prompt", "instruction", "question", "query")
_LABELS = ("label", "output", "response", "completion", "answer", "chosen")
_LISTS = (("conversations", "from", "value"), ("messages", "role", "content"))
"""(column, role key, text key) of each format: the column contains a list of turns with these two keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One answer with the conversation before it."""

    line: int
    """Line number in the file; for a JSON list, the number of the row, from 1."""
    turns: tuple[tuple[str, str], ...]
    """(role, text) of each turn before the answer; the last turn is the user's."""
    label: str
    """The answer that the data file gives to the last turn."""
    system: str = ""
    """System prompt of the row."""

    @property
    def prompt(self) -> str:
        """Text of the last turn before the answer."""
        return self.turns[-1][1]

    @property
    def input(self) -> str | list[Turn]:
        """The conversation as the input of a sample: a text if it has one turn, else a list of messages."""
        if len(self.turns) == 1:
            return self.prompt
        return [{"role": role, "content": text} for role, text in self.turns]


def read_exchanges(path: Path) -> list[Exchange]:
    """Return one exchange for each row."""
    rows = json_rows(path) if path.suffix.lower() == ".json" else read_rows(path)
    exchanges = [_exchange(row) for row in rows]
    if not exchanges:
        raise DataError(f"{path}: expected a JSON list of rows")
    return exchanges


def _exchange(row: DataRow) -> Exchange:
    for column, role_key, text_key in _LISTS:
        if isinstance(row.values.get(column), list):
            return _from_turns(row, column, role_key, text_key)
    return _from_columns(row)


def _from_turns(row: DataRow, column: str, role_key: str, text_key: str) -> Exchange:
    system = row.text("system", "")
    turns: list[tuple[str, str]] = []
    for turn in row.values[column]:
        if not isinstance(turn, dict) or not isinstance(turn.get(text_key), str):
            row.fail(f"a turn of {column!r} needs {role_key!r} and {text_key!r} as text")
        speaker = turn.get(role_key)
        if speaker == "system":
            system = system or turn[text_key]
        elif speaker in _USER or speaker in _ASSISTANT:
            turns.append(("user" if speaker in _USER else "assistant", turn[text_key]))
        else:
            known = ", ".join((*_USER, *_ASSISTANT))
            row.fail(f"unknown speaker {speaker!r} in {column!r}; known: {known}")
    return _last_exchange(row, turns, system)


def _from_columns(row: DataRow) -> Exchange:
    prompt = _first(row, _PROMPTS)
    extra = row.values.get("input")
    if isinstance(extra, str) and extra.strip():
        prompt = f"{prompt}\n{extra}" if prompt else extra
    turns = [*_history(row), ("user", prompt or ""), ("assistant", _first(row, _LABELS) or "")]
    return _last_exchange(row, turns, row.text("system", ""))


def _history(row: DataRow) -> list[tuple[str, str]]:
    """Return the turns in the field ``history`` of an alpaca row, a list of (prompt, answer) pairs."""
    pairs = row.values.get("history") or []
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        for pair in pairs
    ):
        row.fail("field 'history' must be a list of [prompt, answer]")
    return [turn for prompt, answer in pairs for turn in (("user", prompt), ("assistant", answer))]


def _last_exchange(row: DataRow, turns: list[tuple[str, str]], system: str) -> Exchange:
    last = max((index for index, (role, _) in enumerate(turns) if role == "assistant"), default=0)
    before, label = turns[:last], turns[last][1] if turns else ""
    if not before or before[-1][0] != "user" or not before[-1][1].strip() or not label.strip():
        row.fail(
            "no prompt with an answer in this row; known: conversations, messages, "
            f"{'/'.join(_PROMPTS)} with {'/'.join(_LABELS)}"
        )
    return Exchange(line=row.number, turns=tuple(before), label=label, system=system)


def _first(row: DataRow, names: tuple[str, ...]) -> str | None:
    return next((value for name in names if isinstance(value := row.values.get(name), str) and value), None)
