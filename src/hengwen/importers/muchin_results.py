"""Read result files of MuChin's inference program, which are CHECKPOINT/SET/ntieN_TIME/pid_NNN_all.json."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, DataError
from hengwen.io.row_reader import DataRow
from hengwen.io.strict_yaml import read_text
from hengwen.io.untrusted_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
