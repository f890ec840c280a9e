"""The answers in training files: ShareGPT, messages, alpaca, prompt/label rows, or a text a line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ANSWER_KEYS = ("output", "label", "response", "completion", "answer", "chosen")
_ASSISTANT = ("assistant", "gpt", "model", "bot")


def read_answers(paths: Sequence[str]) -> tuple[list[str], str]:
    """Return what the assistant says in training files, and a digest of the files.

    Args:
        paths: ``.txt``: an answer a line; else JSON lines, or one JSON list.

    Raises:
        DataError: A file cannot be read, or a row has no answer; file and line are named.
    """
    answers: list[str] = []
    digest = hashlib.sha256()
    for path in map(Path, paths):
        try:
            raw = path.read_bytes()
            text = raw.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: the training file cannot be read: {error}") from None
        digest.update(raw)
        answers += _answers(path, text)
    return answers, digest.hexdigest()[:12]


def _answers(path: Path, text: str) -> Iterator[str]:
    if path.suffix == ".txt":
        yield from (line for line in text.splitlines() if line.strip())
        return
    for number, row in _rows(path, text):
        found = list(_from_row(row))
        if not found:
            raise DataError(
                f"{path}:{number}: no answer in this row; known: conversations, messages, "
                f"{', '.join(_ANSWER_KEYS)}"
            )
        yield from found


def _rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip().startswith("["):
        try:
            yield from enumerate(json.loads(text), 1)
        except ValueError as error:
            raise DataError(f"{path}: not JSON: {error}") from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise DataError(f"{path}:{number}: not JSON: {error}") from None


def _from_row(row: Any) -> Iterator[str]:
    if not isinstance(row, dict):
        return
    for list_key, who, what in (("conversations", "from", "value"), ("messages", "role", "content")):
        for turn in row.get(list_key) or ():
            if isinstance(turn, dict) and turn.get(who) in _ASSISTANT and isinstance(turn.get(what), str):
                yield turn[what]
    yield from (row[key] for key in _ANSWER_KEYS if isinstance(row.get(key), str))
