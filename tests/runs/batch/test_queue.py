"""Calls are collected in files, which are split by their limits and grow on disk only."""

from __future__ import annotations

import errno
import gc
import io
import os
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rows import each_row

from hengwen.errors import StoreError
from hengwen.records import Attempt, Usage
from hengwen.runs.batch.queue import BatchQueue, Limits
from hengwen.runs.options import MAX_BYTES, MAX_REQUESTS, BatchOptions
from hengwen.store.batches import BatchCall
from hengwen.store.tables import BATCHED


def call(number: int, prompt: str = "?") -> BatchCall:
    attempt = Attempt(
        call_key=f"{number:064x}",
        cache_scope="",
        attempt_no=1,
        status=BATCHED,
        run_id="r1",
        role="judge",
        request={"messages": [("user", f"{number} {prompt}")], "params": {}},
        raw="",
    )
    return BatchCall(custom_id=f"{number:064x}", batch_id="", attempt=attempt)


@pytest.fixture
def queue(store, tmp_path: Path) -> Iterator[Callable[..., BatchQueue]]:
    """Return a function that makes a queue; it is closed at the end."""
    queues: list[BatchQueue] = []

    def make(**limits: int) -> BatchQueue:
        bounds = Limits(**{"requests": MAX_REQUESTS, "bytes": MAX_BYTES, **limits})
        queues.append(BatchQueue(store.batches("p"), {"judge": bounds}, tmp_path / "files", "x"))
        return queues[-1]

    yield make
    for each in queues:
        each.close()


def sizes(queue: BatchQueue) -> list[int]:
    return [file.requests for file in queue.store.files("ready")]


@pytest.mark.slow
def test_12000_requests_are_three_files_of_at_most_5000(queue) -> None:
    calls = queue(requests=5_000)
    for number in range(12_000):
        calls.add("judge", b'{"custom_id":"x"}\n', call(number), Usage(input_tokens=1), 0.5)
    calls.seal()
    assert sizes(calls) == [5_000, 5_000, 2_000]
    for file in calls.store.files("ready"):
        assert calls.path(file).stat().st_size == file.bytes == 18 * file.requests
        assert calls.path(file).stat().st_mode & 0o777 == 0o600
    assert calls.discard() == 6_000
    assert calls.store.files() == []
    assert not calls.folder.exists()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"requests": 4}, [4, 4, 2]),
        ({"bytes": 30}, [3, 3, 3, 1]),
        ({"tokens": 40}, [4, 4, 2]),
        ({"tokens": 5}, [1] * 10),
        ({"requests": 3, "bytes": 20, "tokens": 1000}, [2] * 5),
    ],
)
def test_a_file_exceeds_none_of_its_limits(queue, limits: dict[str, int], expected: list[int]) -> None:
    calls = queue(**limits)
    for number in range(10):
        calls.add("judge", b"123456789\n", call(number), Usage(input_tokens=10), 0.0)
    calls.seal()
    assert sizes(calls) == expected
    assert calls.collected == 10


def test_the_limits_are_those_of_the_api() -> None:
    bounds = BatchOptions()
    limits = Limits(requests=bounds.max_requests, bytes=bounds.max_bytes)
    assert (limits.requests, limits.bytes, limits.tokens) == (50_000, 200_000_000, None)


def test_a_call_is_known_as_soon_as_it_is_added(queue) -> None:
    calls = queue()
    assert calls.find(call(1).custom_id) is None
    calls.add("judge", b"\n", call(1), Usage(), 0.0)
    assert calls.find(call(1).custom_id).state == "open"
    calls.seal()
    assert calls.find(call(1).custom_id).state == "open"
    assert calls.find(call(2).custom_id) is None


def test_roles_have_files_of_their_own(queue) -> None:
    calls = queue()
    calls.add("judge", b"\n", call(1), Usage(), 0.0)
    subject = call(2)
    calls.add(
        "judge", b"\n", replace(subject, attempt=replace(subject.attempt, role="subject")), Usage(), 0.0
    )
    calls.seal()
    assert sizes(calls) == [1, 1]


class FullDisk(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("buffer_size", [1, 1_000], ids=["add", "seal"])
def test_a_full_disk_is_an_error_of_the_run_and_leaves_no_file(
    queue, monkeypatch: pytest.MonkeyPatch, buffer_size: int
) -> None:
    def full(descriptor: int, mode: str) -> io.BufferedWriter:
        os.close(descriptor)
        return io.BufferedWriter(FullDisk(), buffer_size)

    monkeypatch.setattr("hengwen.runs.batch.queue.os.fdopen", full)
    calls = queue()
    with pytest.raises(StoreError, match=r"judge-x-001\.jsonl: No space left on device"):  # noqa: PT012
        calls.add("judge", b"123456789\n", call(1), Usage(), 0.0)
        calls.seal()
    assert calls.store.files("ready") == []
    calls.close()
    assert list(calls.folder.iterdir()) == []


def test_a_file_that_cannot_be_opened_leaves_no_row(queue, tmp_path: Path) -> None:
    (tmp_path / "files").write_text("not a folder")
    calls = queue()
    with pytest.raises(StoreError, match=r"judge-x-001\.jsonl: "):
        calls.add("judge", b"\n", call(1), Usage(), 0.0)
    assert calls.store.files() == []


def test_discarded_calls_give_back_the_cost_of_open_and_sealed_files(queue) -> None:
    calls = queue(requests=2)
    for number in range(3):
        calls.add("judge", b"\n", call(number), Usage(), 0.5)
    assert calls.discard() == 1.5
    assert calls.store.files() == []
    assert not calls.folder.exists()


def test_the_folder_of_files_is_private(queue, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = queue()
    calls.add("judge", b"\n", call(1), Usage(), 0.0)
    assert calls.folder.stat().st_mode & 0o777 == 0o700
    calls.seal()
    monkeypatch.setattr("hengwen.runs.batch.queue.os.getuid", lambda: -1)
    with pytest.raises(StoreError, match="belongs to another user"):
        calls.add("judge", b"\n", call(2), Usage(), 0.0)


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("openai/gpt-4o-mini", "openai-gpt-4o-mini-x-001.jsonl"),
        ("../x", "x-x-001.jsonl"),
        ("--judge", "judge-x-001.jsonl"),
        ("裁判", "裁判-x-001.jsonl"),
    ],
)
def test_the_name_of_a_file_stays_in_its_folder(store, tmp_path: Path, backend: str, name: str) -> None:
    bounds = Limits(requests=9, bytes=999)
    calls = BatchQueue(store.batches("p"), {backend: bounds}, tmp_path / "files", "x")
    calls.add(backend, b"\n", call(1), Usage(), 0.0)
    calls.seal()
    assert [path.name for path in (tmp_path / "files").iterdir()] == [name]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_calls(queue) -> None:
    calls = queue(requests=500)
    prompt, line = "x" * 5_000, b"x" * 5_000 + b"\n"
    peaks = []
    numbers = iter(range(10**9))
    for _ in range(3):
        tracemalloc.start()
        for _ in range(4):
            gc.collect()  # what only waits for the collector is no growth
            for _ in range(500):
                calls.add("judge", line, call(next(numbers), prompt), Usage(input_tokens=1), 0.0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[-1] < 1.2 * peaks[0]
    assert peaks[-1] < 2_000 * len(line)  # less than the calls of one part


@each_row(
    ("fields", "message"),
    [
        ({"poll_seconds": -1.0}, "poll_seconds must be at least 0, got -1"),
        ({"max_requests": 0}, "max_requests and max_bytes must be at least 1"),
        ({"online_below": -1}, "online_below at least 0"),
        ({"action": "export"}, "export needs a folder, import needs files"),
        ({"action": "import"}, "export needs a folder, import needs files"),
        ({"action": "run", "folder": Path("x")}, "other actions take neither"),
    ],
)
def test_options_that_do_not_fit_are_refused(fields: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BatchOptions(**fields)
