"""Score files of any size into a folder, one file for each shard; the same command resumes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, DataError
from hengwen.io.output_files import check_output
from hengwen.runs.score_file import FileScoreResult, build_scorer
from hengwen.runs.shards.manifest import (
    MANIFEST,
    ScorerSettings,
    append_progress,
    manifest_key,
    open_folder,
    present_state,
    write_manifest,
)
from hengwen.runs.shards.schedule import ShardError, ShardTask, run_shards
from hengwen.runs.shards.split import find_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from hengwen.runs.shards.manifest import Manifest, ShardResult
    from hengwen.runs.shards.schedule import ShardPool


LOCK = ".lock"
"""Name of the lock file, never removed: two commands could lock an old and a new file of this name."""


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of scores in the ``with`` block."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise ConfigError(f"{folder}: another command scores into it; wait for it") from None
    except OSError:
        pass
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderScoreResult(FileScoreResult):
    """Result of scoring files into a folder; the rows are all rows in the folder."""

    shards: int
    """Number of shards."""
    reused: int
    """Number of shards that an earlier command had finished."""
    errors: tuple[str, ...] = ()
    """For each shard that could not be scored: its output file, input file and lines, and the reason."""


def score_folder(
    inputs: Sequence[Path],
    folder: Path,
    pool: AbstractContextManager[ShardPool],
    *,
    scorer: str = "lyric",
    options: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    shard_rows: int,
    progress: Callable[[int], None] | None = None,
) -> FolderScoreResult:
    """Score JSONL and Parquet files into a folder, one JSONL file for each shard."""
    paths = find_inputs(inputs)
    settings = ScorerSettings(
        scorer=scorer,
        options=dict(options or {}),
        columns=dict(columns or {}),
        signature=build_scorer(scorer, options or {}).signature,
        shard_rows=shard_rows,
    )
    _check_folder(folder, paths)
    folder.mkdir(exist_ok=True)
    with folder_lock(folder):
        with pool as workers:
            manifest, results = open_folder(folder, paths, settings)
            reused = len(results)
            rows = sum(result.rows for result in results.values())
            errors: dict[int, str] = {}
            tasks = _tasks(folder, manifest, results)
            for outcome in run_shards(workers, tasks):
                if isinstance(outcome, ShardError):
                    errors[outcome.number] = outcome.message
                    continue
                append_progress(folder, outcome)
                results[outcome.number] = outcome
                rows += outcome.rows
                if progress is not None:
                    progress(rows)
        _check_inputs(manifest)
        write_manifest(folder, manifest, results)
        for part in folder.glob(".shard-*.part"):  # unfinished files of workers that were killed
            part.unlink(missing_ok=True)
    if not rows and not errors:
        raise DataError(f"{paths[0]}: no rows")
    return _result(manifest, results, errors, reused=reused)


def _check_folder(folder: Path, inputs: Sequence[Path]) -> None:
    """Check that scores can be written into the output folder, and that no input file is in it."""
    if folder.is_dir():
        if not (folder / MANIFEST).exists() and any(path.name != LOCK for path in folder.iterdir()):
            raise ConfigError(f"{folder}: has other files; name a new folder, or an empty one")
        check_output(folder / MANIFEST, inputs)
    elif folder.exists() or folder.is_symlink():
        raise ConfigError(f"{folder}: is a file, but a folder of scores is needed; name a folder")
    else:
        check_output(folder, inputs)
    if inside := [path for path in inputs if folder.resolve() in path.resolve().parents]:
        raise ConfigError(f"{inside[0]}: is in the output folder {folder}; name another folder")


def _tasks(folder: Path, manifest: Manifest, results: Mapping[int, ShardResult]) -> Iterator[ShardTask]:
    key = manifest_key(folder)
    finished = frozenset(results)
    for shard in manifest.shards:
        if shard.number not in finished:
            yield ShardTask(
                shard=shard,
                input=manifest.inputs[shard.input],
                folder=folder,
                key=key,
                settings=manifest.settings,
            )


def _check_inputs(manifest: Manifest) -> None:
    """Raise an error if an input has changed while it was scored."""
    for file in manifest.inputs:
        if present_state(file, manifest.settings) is None:
            raise DataError(f"{file.path}: has changed while it was scored; score it into a new folder")


def _result(
    manifest: Manifest, results: Mapping[int, ShardResult], errors: Mapping[int, str], *, reused: int
) -> FolderScoreResult:
    ordered = [results[number] for number in sorted(results)]
    failures = (result.first_failure for result in ordered if result.first_failure)
    return FolderScoreResult(
        rows=sum(result.rows for result in ordered),
        failed=sum(result.failed for result in ordered),
        shards=len(manifest.shards),
        reused=reused,
        errors=tuple(f"{_lines(manifest, number)}: {errors[number]}" for number in sorted(errors)),
        first_failure=next(failures, ""),
    )


def _lines(manifest: Manifest, number: int) -> str:
    """Return a text that names a shard, such as ``shard-000001.jsonl (input.jsonl:5001-10000)``."""
    shard = manifest.shards[number]
    path = manifest.inputs[shard.input].path
    return f"{shard.output} ({path}:{shard.skipped + 1}-{shard.skipped + shard.rows})"
