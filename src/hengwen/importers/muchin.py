"""Write a plan from a file of lyrics that checkpoints wrote for templates of the MuChin benchmark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from hengwen.errors import ConfigError, did_you_mean
from hengwen.importers.muchin_results import is_result_path, read_results
from hengwen.io.field_names import FieldNames
from hengwen.io.row_reader import DataRow, read_rows
from hengwen.personas.folder import MAX_NAME, to_jsonl, write_folder
from hengwen.text.catalogue import localized
from hengwen.text.safety import short_repr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.io.row_writer import JsonRow

FIELDS = ("id", "checkpoint", "repeat", "theme", "template", "lyric")
_ALIASES = {
    "theme": ("prompt", "input"),
    "lyric": ("lyrics", "output", "response", "answer", "completion"),
    "checkpoint": ("ckpt",),
}
_STEP = re.compile(r"(?P<training>.*?)(?:step|checkpoint|ckpt|iter)[-_]?(?P<step>[0-9]{1,12})", re.IGNORECASE)
"""Name of a checkpoint with its training step, such as ``sft-checkpoint-500``."""
PROMPTS = "prompts.jsonl"
"""Name of the file with the prompts; the answers of each checkpoint are in a separate file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """Summary of the written plan."""

    plan: Path
    """Path of plan.yaml."""
    prompts: int
    """Number of prompts."""
    answers: int
    """Number of lyrics."""
    checkpoints: tuple[str, ...]
    """Names of the checkpoints, in the order of the plan."""
    has_steps: bool
    """Whether the names of the checkpoints state their training steps."""


def import_muchin(
    file: Path, folder: Path, *, order: Sequence[str] | None = None, force: bool = False
) -> ImportResult:
    """Write a plan with its prompts and answers from a file of generated lyrics."""
    prompts: dict[str, tuple[DataRow, JsonRow]] = {}
    answers: dict[str, list[JsonRow]] = {}
    first_rows: dict[tuple[object, ...], DataRow] = {}
    names = FieldNames(FIELDS, _ALIASES, way_out="rename it")
    for row in read_results(file) if is_result_path(file) else read_rows(file):
        names.check(row)
        _add_prompt(row, prompts)
        answer: JsonRow = {
            "id": row.required_text("id"),
            "repeat": row.positive_int("repeat", 1),
            "output": _lyric(row),
        }
        checkpoint = _checkpoint(row)
        first_row = first_rows.setdefault((checkpoint, answer["id"], answer["repeat"]), row)
        if first_row is not row:
            row.fail(
                f"repeat {answer['repeat']} of {answer['id']!r} by {checkpoint!r} is a duplicate, "
                f"first seen at {first_row.path.name}:{first_row.number}"
            )
        answers.setdefault(checkpoint, []).append(answer)
    checkpoints = _ordered(file, list(answers), order)
    steps = _steps(checkpoints)
    origin = "as given" if order else "by the steps in their names" if steps else "as in the file, check it"
    if steps and not order:
        checkpoints.sort(key=lambda name: steps[name])
    comments = (f"{len(checkpoints)} checkpoints, from {file.name}", f"order of training: {origin}")
    files = {
        PROMPTS: to_jsonl(prompt for _, prompt in prompts.values()),
        **{f"{name}.jsonl": to_jsonl(answers[name]) for name in checkpoints},
        "plan.yaml": "".join(f"# {localized(comment)}\n" for comment in comments)
        + _plan_text(checkpoints, steps if sorted(steps, key=steps.__getitem__) == checkpoints else {}),
    }
    write_folder(folder, files, force=force, inputs=[file])
    return ImportResult(
        plan=folder / "plan.yaml",
        prompts=len(prompts),
        answers=sum(len(rows) for rows in answers.values()),
        checkpoints=tuple(checkpoints),
        has_steps=bool(steps),
    )


def _add_prompt(row: DataRow, prompts: dict[str, tuple[DataRow, JsonRow]]) -> None:
    name = row.required_text("id")
    prompt = {
        "id": name,
        "input": row.text("theme", ""),
        "metadata": {"template": row.required_text("template")},
    }
    first_row, first_prompt = prompts.setdefault(name, (row, prompt))
    if first_prompt != prompt:
        where = f"on line {first_row.number}" if first_row.path == row.path else f"in {first_row.path}"
        row.fail(f"{name!r} has another theme or template than {where}")


def _checkpoint(row: DataRow) -> str:
    name = row.required_text("checkpoint")
    if not all(char.isalnum() or char in "_-." for char in name) or not name[0].isalnum():
        row.fail(f"checkpoint {short_repr(name)}: a name has only letters, digits, '_', '-' and '.'")
    if len(name) > MAX_NAME:
        row.fail(f"checkpoint {short_repr(name)}: a name has at most {MAX_NAME} characters, got {len(name)}")
    if f"{name}.jsonl".casefold() == PROMPTS:
        row.fail(f"checkpoint {name!r}: {PROMPTS} is the file of the prompts; rename the checkpoint")
    return name


def _lyric(row: DataRow) -> str:
    lyric = row.values.get("lyric")
    if not isinstance(lyric, str):
        row.missing("lyric", "text")
    return lyric


def _ordered(file: Path, names: list[str], order: Sequence[str] | None) -> list[str]:
    if order is None:
        return names
    for name in order:
        if name not in names:
            raise ConfigError(f"{file}: the file has no checkpoint {name!r}{did_you_mean(name, names)}")
    if sorted(order) != sorted(names):
        raise ConfigError(f"--checkpoints must name each of {', '.join(names)} once")
    return list(order)


def _steps(names: Sequence[str]) -> dict[str, int]:
    """Return the training step in each name; empty if a name has none, or belongs to another training."""
    matches = {name: _STEP.fullmatch(name) for name in names}
    steps = {name: int(match["step"]) for name, match in matches.items() if match}
    trainings = {match["training"] for match in matches.values() if match}
    is_clear = len(set(steps.values())) == len(names) and len(trainings) == 1
    return steps if is_clear else {}


def _plan_text(names: Sequence[str], steps: Mapping[str, int]) -> str:
    plan = {
        "name": "muchin",
        "tasks": [
            {
                "name": "lyrics",
                "samples": PROMPTS,
                "scorers": [{"lyric": {"rules": "document"}}, {"distinct_n": {"scope": "checkpoint"}}],
                "judges": [{"rubric": "lyric_craft"}],
            }
        ],
        "checkpoints": [
            {"name": name, **({"step": steps[name]} if steps else {}), "responses": f"{name}.jsonl"}
            for name in names
        ],
    }
    return yaml.safe_dump(plan, sort_keys=False, allow_unicode=True)
