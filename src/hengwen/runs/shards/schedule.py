"""Score shards by workers, such as local processes; score those again whose worker died or failed."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from hengwen._internal.plugins import describe_error
from hengwen._internal.worker_pool import WorkerPool, map_in_processes, usable_cores
from hengwen.errors import ConfigError, HengwenError
from hengwen.runs.score_file import RowScorer, write_scored
from hengwen.runs.shards.manifest import ScorerSettings, ShardResult, manifest_key
from hengwen.runs.shards.split import Shard, read_shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hengwen.errors import DataError
    from hengwen.io.output_files import JsonRow
    from hengwen.io.row_reader import DataRow
    from hengwen.runs.shards.split import InputFile


def score_isolated(row_scorer: RowScorer, rows: Iterable[DataRow | DataError]) -> Iterator[JsonRow]:
    """Yield the output row of each row; a row at which the scoring process dies twice becomes a failure."""
    pool: WorkerPool[DataRow | DataError, JsonRow] = WorkerPool(row_scorer, 1, crashed=row_scorer.failed_row)
    return map_in_processes(pool, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardTask:
    """What a worker needs to score a shard: names and positions, but no rows. The object is pickled."""

    shard: Shard
    input: InputFile
    folder: Path
    """Output folder, which has the manifest."""
    key: str
    """Hash of the manifest that the worker must see (``manifest_key``)."""
    settings: ScorerSettings
    isolated: bool = False
    """Whether the rows are scored in a separate process, because a worker died while it scored the shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardError:
    """A shard that could not be scored; the output folder has no file of it."""

    number: int
    message: str


def score_shard(task: ShardTask) -> ShardResult | ShardError:
    """Score a shard and write its file; the file appears when all of its rows are scored."""
    try:
        return _score(task)
    except HengwenError as error:
        message = str(error)
    except Exception as error:  # an error in one shard must not stop the other shards
        _, message, _ = describe_error(error)
    return ShardError(number=task.shard.number, message=message)


def _score(task: ShardTask) -> ShardResult:
    shard, settings = task.shard, task.settings
    path = Path(task.input.path)
    if manifest_key(task.folder) != task.key:
        raise ConfigError(
            f"{task.folder}: a machine does not see this folder, or sees another manifest; the folder must "
            "be on a file system that all machines share"
        )
    if path.stat().st_size != task.input.bytes:
        raise ConfigError(f"{path}: has another size than when it was split into shards")
    row_scorer = RowScorer(settings.scorer, settings.options, settings.columns)
    if row_scorer.scorer.signature != settings.signature:
        raise ConfigError(
            f"scorer {settings.scorer!r} has the signature {row_scorer.scorer.signature!r} on a machine, but "
            f"{settings.signature!r} where the command runs; install the same versions on all machines"
        )
    rows = read_shard(shard, path)
    scored = score_isolated(row_scorer, rows) if task.isolated else map(row_scorer, rows)
    target = task.folder / shard.output
    written = write_scored(scored, target, [])
    return ShardResult(number=shard.number, bytes=target.stat().st_size, **asdict(written))


MAX_ATTEMPTS: dict[str, int] = {"error": 3, "worker died": 3, "machine died": 10}
"""For each reason of failure, the number of failed attempts after which a shard is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A shard without a result, because its worker or its machine died."""

    reason: Literal["worker died", "machine died"]
    message: str


class ShardPool(Protocol):
    """Workers that score shards."""

    def window(self) -> int:
        """Return how many unfinished shards the pool accepts at a time."""

    def submit(self, task: ShardTask) -> None:
        """Start to score a shard, or queue it."""

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError | Lost]:
        """Wait until a shard ends; return its task, and its result or why it has none."""


def run_shards(pool: ShardPool, tasks: Iterable[ShardTask]) -> Iterator[ShardResult | ShardError]:
    """Yield the result of each shard when it is finished; a shard that is given up is a ``ShardError``."""
    remaining = iter(tasks)
    again: deque[ShardTask] = deque()
    attempts: Counter[tuple[int, str]] = Counter()
    running = 0
    while True:
        while running < pool.window():
            task = next(remaining, None) or (again.popleft() if again else None)
            if task is None:
                break
            pool.submit(task)
            running += 1
        if not running:
            return
        task, outcome = pool.wait()
        running -= 1
        if isinstance(outcome, (ShardError, Lost)):
            reason = outcome.reason if isinstance(outcome, Lost) else "error"
            number = task.shard.number
            attempts[number, reason] += 1
            if attempts[number, reason] >= MAX_ATTEMPTS[reason]:
                yield ShardError(number=number, message=outcome.message)
            else:
                again.append(replace(task, isolated=attempts[number, "worker died"] > 0))
        else:
            yield outcome


Outcome: TypeAlias = "ShardResult | ShardError | Lost"


class LocalPool:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: WorkerPool[ShardTask, Outcome] = WorkerPool(
            score_shard, workers, crashed=lambda _, message: Lost(reason="worker died", message=message)
        )
        self._running: dict[Future[list[Outcome]], ShardTask] = {}

    def window(self) -> int:
        """Return the number of processes."""
        return self._workers

    def submit(self, task: ShardTask) -> None:
        """Start to score a shard in an idle process."""
        self._running[self._pool.submit([task])] = task

    def wait(self) -> tuple[ShardTask, Outcome]:
        """Wait until a shard ends; return its task, and its result or why it has none."""
        finished, _ = wait(self._running, return_when=FIRST_COMPLETED)
        future = min(finished, key=lambda item: self._running[item].shard.number)
        task = self._running.pop(future)
        (outcome,) = future.result()
        return task, outcome

    def close(self) -> None:
        """End all processes."""
        self._pool.close()


def local_pool(workers: int | None = None) -> closing[LocalPool]:
    """Return a context with processes of this machine that score shards."""
    return closing(LocalPool(workers or usable_cores()))
