"""Lyrics that checkpoints wrote for MuChin templates: one file to a plan."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.row_reader import DataRow, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

HEADER = """\
# Lyrics of {count} checkpoints, from {source}.
# The order of the checkpoints is the order of training: {order}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What was written."""

    plan: Path
    prompts: int
    answers: int
    checkpoints: tuple[str, ...]


def import_muchin(
    file: Path, folder: Path, *, order: Sequence[str] | None = None, force: bool = False
) -> ImportResult:
    """Write a plan with its prompts and answers from a file of generated lyrics.

    Args:
        file: JSONL or CSV with id, checkpoint, repeat (default 1), theme, template and lyric.
        folder: Where plan.yaml, prompts.jsonl and a file for each checkpoint go.
        order: The checkpoints in the order of training; default: as the file has them.
        force: Write over a plan that is there.

    Raises:
        DataError: A row is wrong; the message names file and line.
        ConfigError: The folder holds a plan already, or order does not name the file's checkpoints.
    """
    plan = folder / "plan.yaml"
    if plan.exists() and not force:
        raise ConfigError(f"{plan} exists; name another folder, or say --force")
    prompts: dict[str, tuple[DataRow, dict[str, Any]]] = {}
    answers: dict[str, list[dict[str, Any]]] = {}
    for line in read_rows(file):
        _add_prompt(line, prompts)
        answers.setdefault(_checkpoint(line), []).append(
            {"id": line.required_text("id"), "repeat": line.positive_int("repeat", 1), "output": _lyric(line)}
        )
    names = _ordered(list(answers), order)
    said = "given" if order else "taken from the file, check it"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_rows(folder / "prompts.jsonl", (prompt for _, prompt in prompts.values()))
        for name in names:
            _write_rows(folder / f"{name}.jsonl", answers[name])
        header = HEADER.format(count=len(names), source=file.name, order=said)
        plan.write_text(header + _plan_text(names), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None
    return ImportResult(
        plan=plan,
        prompts=len(prompts),
        answers=sum(len(rows) for rows in answers.values()),
        checkpoints=tuple(names),
    )


def _add_prompt(line: DataRow, prompts: dict[str, tuple[DataRow, dict[str, Any]]]) -> None:
    name = line.required_text("id")
    prompt = {
        "id": name,
        "input": line.text("theme", ""),
        "metadata": {"template": line.required_text("template")},
    }
    first = prompts.setdefault(name, (line, prompt))
    if first[1] != prompt:
        line.fail(f"{name!r} has another theme or template than on line {first[0].number}")


def _checkpoint(line: DataRow) -> str:
    name = line.required_text("checkpoint")
    if not all(char.isalnum() or char in "_-." for char in name) or not name[0].isalnum():
        line.fail(f"checkpoint {name!r}: a name has only letters, digits, '_', '-' and '.'")
    return name


def _lyric(line: DataRow) -> str:
    lyric = line.values.get("lyric")
    if not isinstance(lyric, str):
        line.fail("field 'lyric' is missing" if lyric is None else "field 'lyric' must be text")
    return lyric


def _ordered(found: list[str], order: Sequence[str] | None) -> list[str]:
    if order is None:
        return found
    for name in order:
        if name not in found:
            raise ConfigError(f"the file has no checkpoint {name!r}{did_you_mean(name, found)}")
    absent = [name for name in found if name not in order]
    if absent or len(set(order)) < len(order):
        raise ConfigError(f"--checkpoints must name each of {', '.join(found)} once")
    return list(order)


def _plan_text(names: Sequence[str]) -> str:
    plan = {
        "name": "muchin",
        "tasks": [
            {
                "name": "lyrics",
                "samples": "prompts.jsonl",
                "scorers": [{"lyric": {"rules": "document"}}, "distinct_n"],
                "judges": [{"rubric": "lyric_craft"}],
            }
        ],
        "checkpoints": [{"name": name, "responses": f"{name}.jsonl"} for name in names],
    }
    return yaml.safe_dump(plan, sort_keys=False, allow_unicode=True)


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
