"""Which shards are given to workers, and how often, when workers and machines die."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rows import each_row

from hengwen.runs.shards.manifest import ScorerSettings, ShardResult
from hengwen.runs.shards.schedule import Lost, ShardError, ShardTask, run_shards
from hengwen.runs.shards.split import InputFile, Shard

SETTINGS = ScorerSettings(scorer="s", options={}, columns={}, signature="s", shard_rows=1)
FILE = InputFile(path="a.jsonl", bytes=1, modified_ns=0, sha256="", rows=9)
WORKER_DIED = Lost(reason="worker died", message="its worker died")
MACHINE_DIED = Lost(reason="machine died", message="its machine died")


def task(number: int) -> ShardTask:
    shard = Shard(number=number, input=0, skipped=number, rows=1, offset=0)
    return ShardTask(shard=shard, input=FILE, folder=Path("out"), key="", settings=SETTINGS)


def result(number: int) -> ShardResult:
    return ShardResult(number=number, rows=1, failed=0, bytes=1)


@dataclass
class FakePool:
    """Ends shards in the order in which they were submitted."""

    outcome: Callable[[ShardTask, int], ShardResult | ShardError | Lost]
    size: int = 2
    submitted: list[tuple[int, bool]] = field(default_factory=list)
    queue: deque[ShardTask] = field(default_factory=deque)
    longest: int = 0

    def window(self) -> int:
        return self.size

    def submit(self, task: ShardTask) -> None:
        self.submitted.append((task.shard.number, task.isolated))
        self.queue.append(task)
        self.longest = max(self.longest, len(self.queue))

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError | Lost]:
        task = self.queue.popleft()
        attempts = sum(number == task.shard.number for number, _ in self.submitted)
        return task, self.outcome(task, attempts)


def test_tasks_are_taken_as_the_window_has_room() -> None:
    pool = FakePool(lambda task, _: result(task.shard.number), size=3)
    taken: list[int] = []

    def tasks():
        for number in range(8):
            taken.append(number)
            yield task(number)

    outcomes = run_shards(pool, tasks())
    assert next(outcomes) == result(0)
    assert taken == [0, 1, 2]
    assert [outcome.number for outcome in outcomes] == list(range(1, 8))
    assert pool.longest == 3


def test_a_lost_shard_is_scored_again_after_the_others() -> None:
    pool = FakePool(
        lambda task, attempt: (
            WORKER_DIED if (task.shard.number, attempt) == (0, 1) else result(task.shard.number)
        )
    )
    assert [outcome.number for outcome in run_shards(pool, map(task, range(5)))] == [1, 2, 3, 4, 0]
    assert pool.submitted[-1] == (0, True)


def test_a_shard_that_kills_its_worker_is_isolated_and_given_up_after_three() -> None:
    pool = FakePool(lambda task, _: WORKER_DIED if task.shard.number == 1 else result(task.shard.number))
    outcomes = list(run_shards(pool, map(task, range(3))))
    assert outcomes == [result(0), result(2), ShardError(number=1, message="its worker died")]
    assert [isolated for number, isolated in pool.submitted if number == 1] == [False, True, True]


def test_an_error_is_tried_three_times() -> None:
    error = ShardError(number=0, message="disk full")
    pool = FakePool(lambda task, attempt: error if task.shard.number == 0 else result(task.shard.number))
    assert list(run_shards(pool, map(task, range(2)))) == [result(1), error]
    assert [number for number, _ in pool.submitted].count(0) == 3


@each_row(("deaths", "number"), [(9, 10), (10, 10)])
def test_dead_machines_are_counted_apart_from_dead_workers(deaths: int, number: int) -> None:
    pool = FakePool(lambda task, attempt: MACHINE_DIED if attempt <= deaths else result(0))
    (outcome,) = run_shards(pool, [task(0)])
    assert outcome == (result(0) if deaths < 10 else ShardError(number=0, message="its machine died"))
    assert pool.submitted == [(0, False)] * number
