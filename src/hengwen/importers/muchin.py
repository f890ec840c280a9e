"""Turn the lyrics that checkpoints wrote for MuChin's templates, in any of its files, into a plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.io.output_files import JsonRow
from hengwen.io.row_reader import DataRow, FieldNames, read_rows
from hengwen.io.strict_yaml import read_text
from hengwen.io.untrusted_json import parse_json
from hengwen.personas.persona import MAX_NAME, to_jsonl, write_folder
from hengwen.text.language import localized
from hengwen.text.numbers import short_repr

_RESULT_FILE = re.compile(r"pid_(\w+)_all\.json")
_RUN_FOLDER = re.compile(r"ntie\d+\w*")


def is_result_path(path: Path) -> bool:
    """Return whether a path is a folder or has the name of a result file."""
    return path.is_dir() or _RESULT_FILE.fullmatch(path.name) is not None


def read_results(path: Path) -> Iterator[DataRow]:
    """Yield a row for each lyric: id, checkpoint, repeat, theme, template and lyric."""
    repeats: dict[tuple[str, str], int] = {}
    for file in _result_files(path):
        data = _load(file)
        checkpoint, prompt = _names(file)
        for lyric in _lyrics(file, data):
            repeat = repeats[checkpoint, prompt] = repeats.get((checkpoint, prompt), 0) + 1
            yield DataRow(
                file,
                1,
                {
                    "id": prompt,
                    "checkpoint": checkpoint,
                    "repeat": repeat,
                    "theme": data.get("o_theme"),
                    "template": data.get("o_msstr"),
                    "lyric": lyric,
                },
            )
    if not repeats:
        raise DataError(f"{path}: no results")


def _result_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("pid_*_all.json") if _RESULT_FILE.fullmatch(file.name))
    if not files:
        raise DataError(f"{path}: no pid_*_all.json in this folder; name a file or another folder")
    return files


def _names(file: Path) -> tuple[str, str]:
    """Return (checkpoint, prompt id), taken from the names of a result file and its folders."""
    match = _RESULT_FILE.fullmatch(file.name)
    number = match[1] if match else file.stem
    folders = [folder.name for folder in file.resolve().parents]
    if _RUN_FOLDER.fullmatch(folders[0]) and len(folders) > 3:
        return folders[2], f"{folders[1]}/{number}"
    return folders[0], number


def _load(file: Path) -> dict[str, Any]:
    try:
        data = parse_json(read_text(file))
    except json.JSONDecodeError as error:
        raise DataError(f"{file}:{error.lineno}: not valid JSON: {error.msg}", line=error.lineno) from None
    except ConfigError as error:
        raise DataError(str(error)) from None
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("results"), list):
        raise DataError(f"{file}: expected an object with 'o_msstr', 'o_theme' and a list 'results'")
    for name in ("o_msstr", "o_theme"):
        if not isinstance(data.get(name), str):
            raise DataError(f"{file}: field {name!r} must be text")
    if not data["o_msstr"].strip():
        raise DataError(f"{file}: field 'o_msstr' is empty; it is the template of the lyric")
    return data


def _lyrics(file: Path, data: dict[str, Any]) -> Iterator[str]:
    for number, result in enumerate(data["results"], 1):
        lyric = result.get("gen_lrc") if isinstance(result, dict) else None
        if not isinstance(lyric, str):
            raise DataError(f"{file}: result {number}: field 'gen_lrc' must be text")
        yield lyric


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
            "repeat": row.positive_int("repeat"),
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
