"""Read answers from training files: ShareGPT, messages, Alpaca, prompt/label rows, or lines of text."""

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
_TURN_KEYS = (("conversations", "from", "value"), ("messages", "role", "content"))
"""Key of the list of turns, and the keys of the role and the text in each turn."""


def read_answers(paths: Sequence[str]) -> tuple[list[str], str]:
    """Return the assistant's texts in training files, and a digest of the files."""
    answers: list[str] = []
    digest = hashlib.sha256()
    for path in map(Path, paths):
        try:
            raw = path.read_bytes()
            text = raw.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else "not UTF-8"
            raise DataError(f"{path}: the training file cannot be read: {reason}") from None
        digest.update(raw)
        answers += _answers(path, text)
    return answers, digest.hexdigest()[:12]


def _answers(path: Path, text: str) -> Iterator[str]:
    if path.suffix == ".txt":
        yield from (line for line in text.splitlines() if line.strip())
        return
    for number, row in _rows(path, text):
        answers = list(_from_row(row))
        if not answers:
            raise DataError(
                f"{path}:{number}: no answer in this row; known: conversations, messages, "
                f"{', '.join(_ANSWER_KEYS)}"
            )
        yield from answers


def _rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip().startswith("["):
        try:
            yield from enumerate(json.loads(text), 1)
        except ValueError as error:
            raise DataError(f"{path}: not valid JSON: {error}") from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise DataError(f"{path}:{number}: not valid JSON: {error}") from None


def _from_row(row: Any) -> Iterator[str]:
    if not isinstance(row, dict):
        return
    for list_key, role_key, text_key in _TURN_KEYS:
        for turn in row.get(list_key) or ():
            if isinstance(turn, dict) and turn.get(role_key) in _ASSISTANT:
                text = turn.get(text_key)
                if isinstance(text, str):
                    yield text
    yield from (row[key] for key in _ANSWER_KEYS if isinstance(row.get(key), str))
