"""The manifest of a folder of scores: its inputs, its settings, its shards and which of them are finished."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.io.output_files import atomic_write
from hengwen.runs.shards.split import InputFile, Shard, split_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MANIFEST = "manifest.json"
PROGRESS = "progress.jsonl"
"""File with a line for each finished shard; when all are finished, the lines are moved to the manifest."""
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """A finished shard."""

    number: int
    rows: int
    """Number of rows in the output file."""
    failed: int
    """Number of rows without scores in the output file."""
    bytes: int
    """Size of the output file, in bytes."""
    first_failure: str = ""
    """Message of the first row without scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerSettings:
    """Everything that can change a byte of the output files, except the input files."""

    scorer: str
    options: Mapping[str, Any]
    columns: Mapping[str, str]
    signature: str
    shard_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Settings, inputs and shards of a folder of scores."""

    settings: ScorerSettings
    inputs: tuple[InputFile, ...]
    shards: tuple[Shard, ...]


def open_folder(
    folder: Path, paths: Sequence[Path], settings: ScorerSettings
) -> tuple[Manifest, dict[int, ShardResult]]:
    """Write the manifest of a new folder of scores, or read the manifest of a folder that is resumed."""
    stored = _read_manifest(folder) if (folder / MANIFEST).exists() else {}
    if stored:
        _check_settings(folder, stored, paths, settings)
        manifest = _stored_manifest(folder, stored, settings)
        results = {result.number: result for result in _stored_results(folder, stored)}
        return manifest, {
            number: result
            for number, result in results.items()
            if _size(folder / manifest.shards[number].output) == result.bytes
        }
    inputs: list[InputFile] = []
    shards: list[Shard] = []
    for number, path in enumerate(paths):
        measured, parts = split_file(path, settings.shard_rows, number=number, index=len(shards))
        inputs.append(measured)
        shards += parts
    manifest = Manifest(settings=settings, inputs=tuple(inputs), shards=tuple(shards))
    write_manifest(folder, manifest, {})
    return manifest, {}


def write_manifest(folder: Path, manifest: Manifest, results: Mapping[int, ShardResult]) -> None:
    """Write the manifest, and remove the progress file if all shards are finished."""
    shards = [
        {"output": shard.output, **asdict(shard), "result": result and asdict(result)}
        for shard in manifest.shards
        for result in [results.get(shard.number)]
    ]
    content = {
        "schema": SCHEMA,
        **asdict(manifest.settings),
        "rows": sum(result.rows for result in results.values()),
        "failed": sum(result.failed for result in results.values()),
        "complete": len(results) == len(manifest.shards),
        "inputs": [asdict(file) for file in manifest.inputs],
        "shards": shards,
    }
    with atomic_write(folder / MANIFEST) as temporary:
        text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
        temporary.write_text(text + "\n", "utf-8")
    if content["complete"]:
        (folder / PROGRESS).unlink(missing_ok=True)


def append_progress(folder: Path, result: ShardResult) -> None:
    """Record that a shard is finished; a line that a crash cuts off is ignored when the folder is opened."""
    with (folder / PROGRESS).open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(asdict(result), ensure_ascii=False))


def manifest_key(folder: Path) -> str:
    """Return a hash of the settings and inputs of a folder of scores; "" if no manifest can be read."""
    try:
        status = (folder / MANIFEST).stat()
        return _cached_key(folder / MANIFEST, (status.st_size, status.st_mtime_ns))
    except (OSError, ValueError, KeyError):
        return ""


@lru_cache(maxsize=4)
def _cached_key(path: Path, _version: tuple[int, int]) -> str:
    """Return the hash of ``manifest_key``; it is cached, because a manifest may have megabytes."""
    stored = json.loads(path.read_bytes())
    values = [stored[name] for name in (*ScorerSettings.__dataclass_fields__, "inputs")]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _size(path: Path) -> int:
    """Return the size of a file; -1 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        stored = json.loads(path.read_bytes())
    except (OSError, ValueError):
        stored = None
    if not isinstance(stored, dict) or stored.get("schema") != SCHEMA:
        raise ConfigError(f"{path}: is no manifest of this version; name another folder")
    return stored


def _check_settings(
    folder: Path, stored: Mapping[str, Any], paths: Sequence[Path], settings: ScorerSettings
) -> None:
    """Raise an error that names the first setting or input that differs from the manifest."""
    rest = f"name another folder, or remove {folder}"
    for name, value in json.loads(json.dumps(asdict(settings), default=str)).items():
        if stored[name] != value:
            raise ConfigError(f"{folder}: was scored with {name} {stored[name]!r}, not {value!r}; {rest}")
    before, now = [file["path"] for file in stored["inputs"]], list(map(str, paths))
    if before != now:
        others = sorted(set(before) ^ set(now)) or now
        raise ConfigError(f"{folder}: was scored from other inputs, see {others[0]}; {rest}")


def _stored_manifest(folder: Path, stored: Mapping[str, Any], settings: ScorerSettings) -> Manifest:
    inputs = tuple(_unchanged(folder, InputFile(**values), settings) for values in stored["inputs"])
    names = Shard.__dataclass_fields__
    shards = tuple(Shard(**{name: values[name] for name in names}) for values in stored["shards"])
    return Manifest(settings=settings, inputs=inputs, shards=shards)


def _unchanged(folder: Path, file: InputFile, settings: ScorerSettings) -> InputFile:
    if (present := present_state(file, settings)) is None:
        raise ConfigError(
            f"{file.path}: has changed since {folder} was scored; name another folder, or remove {folder}"
        )
    return present


def present_state(file: InputFile, settings: ScorerSettings) -> InputFile | None:
    """The record of an input file with its current modification time; None if its content has changed."""
    if file.looks_unchanged():
        return file
    measured, _ = split_file(Path(file.path), settings.shard_rows, number=0, index=0)
    return measured if measured.sha256 == file.sha256 else None


def _stored_results(folder: Path, stored: Mapping[str, Any]) -> Iterator[ShardResult]:
    for shard in stored["shards"]:
        if shard["result"] is not None:
            yield ShardResult(**shard["result"])
    path = folder / PROGRESS
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            yield ShardResult(**json.loads(line))
        except (ValueError, TypeError):  # an incomplete line of a process that was killed
            continue
