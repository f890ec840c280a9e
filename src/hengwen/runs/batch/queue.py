"""Collect calls in files of requests, which grow on disk and not in memory."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hengwen.errors import StoreError
from hengwen.store.batches import BatchFile
from hengwen.store.call_key_filter import CallKeyFilter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedWriter
    from pathlib import Path

    from hengwen.records import Usage
    from hengwen.store.batches import BatchCall, BatchState, BatchStore

CALLS_PER_COMMIT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Maximum size of a file of requests."""

    requests: int
    bytes: int
    tokens: int | None = None
    """Estimated tokens of all prompts; None for no limit."""

    def is_exceeded(self, requests: int, size: int, tokens: int) -> bool:
        """Return whether a file is too large."""
        return (
            requests > self.requests
            or size > self.bytes
            or (self.tokens is not None and requests > 1 and tokens > self.tokens)
        )


@dataclass(slots=True)
class _OpenFile:
    """A file to which calls are added."""

    file: BatchFile
    content: BufferedWriter
    runs: dict[str, None] = field(default_factory=dict)
    calls: dict[str, BatchCall] = field(default_factory=dict)
    """Calls that are not in the store yet."""

    def add(self, line: bytes, call: BatchCall, expected: Usage, cost: float) -> None:
        """Write a line."""
        self.content.write(line)
        self.runs[call.attempt.run_id] = None
        self.calls[call.custom_id] = call
        self.file = replace(
            self.file,
            requests=self.file.requests + 1,
            bytes=self.file.bytes + len(line),
            input_tokens=self.file.input_tokens + expected.input_tokens,
            cost=self.file.cost + cost,
        )


class BatchQueue:
    """The calls of a plan that wait for a batch endpoint."""

    def __init__(
        self,
        store: BatchStore,
        limits: dict[str, Limits],
        folder: Path,
        prefix: str,
        spool: Path | None = None,
    ) -> None:
        self.store = store
        self.folder = folder
        self.spool = spool or folder
        self.collected = 0
        """Number of calls that the present pass has added."""
        self.missing = 0
        """Number of calls of the present pass whose files were discarded, so that they are still missing."""
        self.online = False
        """Whether missing calls are sent one by one instead of being added to a file."""
        self._limits = limits
        self._prefix = prefix
        self.read = CallKeyFilter()
        """Ids of the calls whose replies this command has parsed and recorded in the ledger."""
        self._numbers: Counter[str] = Counter()
        self._open: dict[tuple[str, str], _OpenFile] = {}

    def start_pass(self) -> None:
        """Begin a new evaluation of the plan (a pass): set the numbers of added calls and of files to 0."""
        self.collected = self.missing = 0
        self._numbers["shard"] = 0

    def find(self, custom_id: str) -> BatchCall | None:
        """Return the call with this id if it was added to a batch file, otherwise None."""
        for open_file in self._open.values():
            call = open_file.calls.get(custom_id)
            if call is not None:
                return call
        return self.store.find(custom_id)

    def path(self, file: BatchFile) -> Path:
        """Return the path of a file of requests."""
        return self.folder / _name_of(file)

    def fits(self, backend: str, line: bytes) -> bool:
        """Return whether a file may hold a line of this length."""
        return len(line) <= self._limits[backend].bytes

    def add(self, backend: str, line: bytes, call: BatchCall, expected: Usage, cost: float) -> None:
        """Add a call to the file of its backend and role; start another file if it would become too large."""
        key = (backend, call.attempt.role)
        open_file = self._open.get(key)
        if open_file is not None:
            file = open_file.file
            if self._limits[backend].is_exceeded(
                file.requests + 1, file.bytes + len(line), file.input_tokens + expected.input_tokens
            ):
                self._seal(key, "ready")
                open_file = None
        if open_file is None:
            open_file = self._open[key] = self._start(backend)
        with file_errors(self.path(open_file.file)):
            open_file.add(line, replace(call, batch_id=open_file.file.id), expected, cost)
        self.collected += 1
        if len(open_file.calls) >= CALLS_PER_COMMIT:
            self._commit(open_file)

    def _start(self, backend: str) -> _OpenFile:
        self._numbers["file"] += 1
        self._numbers["shard"] += 1
        file = BatchFile(
            id=f"{self._prefix}-{self._numbers['file']:03d}",
            plan=self.store.plan,
            backend=backend,
            shard=self._numbers["shard"],
            created=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        path = self.path(file)
        with file_errors(path):
            if self.folder == self.spool:
                make_private_folder(self.folder)
            else:
                self.folder.mkdir(parents=True, exist_ok=True)
            content = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
        open_file = _OpenFile(file, content)
        try:
            self.store.save(file)
        except BaseException:
            self._delete_unsealed(open_file)
            raise
        return open_file

    def _commit(self, open_file: _OpenFile) -> None:
        self.store.add(list(open_file.calls.values()))
        open_file.calls = {}

    def _seal(self, key: tuple[str, str], state: BatchState) -> None:
        open_file = self._open[key]
        self._commit(open_file)
        with file_errors(self.path(open_file.file)):
            open_file.content.close()
        self.store.save(replace(open_file.file, state=state, runs=",".join(open_file.runs)))
        del self._open[key]

    def seal(self, state: BatchState = "ready") -> None:
        """Finish all batch files: write their calls to the store, and add no further calls to these files."""
        for key in list(self._open):
            self._seal(key, state)
        if state != "ready":
            for file in self.store.files("ready"):
                self.store.save(replace(file, state=state))

    def discard(self) -> float:
        """Delete all files that were not sent, and their calls; return their estimated cost."""
        unsealed = sum(open_file.file.cost for open_file in self._open.values())  # not in the store yet
        self.close()
        self.missing = self.collected
        return unsealed + sum(self.remove(file) for file in self.store.files("collecting", "ready"))

    def remove(self, file: BatchFile) -> float:
        """Delete a file and its calls without a reply; return its estimated cost."""
        self.delete_content(file)
        self.store.void(file)
        return file.cost

    def delete_content(self, file: BatchFile) -> None:
        """Delete a file of requests from the disk; delete the folder ``spool`` if it is then empty."""
        for folder in {self.folder, self.spool}:
            (folder / _name_of(file)).unlink(missing_ok=True)
        if self.spool.is_dir() and not any(self.spool.iterdir()):
            self.spool.rmdir()

    def close(self) -> None:
        """Delete the unfinished files of requests; the next run deletes their records from the store."""
        for open_file in self._open.values():
            self._delete_unsealed(open_file)
        self._open = {}

    def _delete_unsealed(self, open_file: _OpenFile) -> None:
        with suppress(OSError):  # the disk may be full
            open_file.content.close()
        self.path(open_file.file).unlink(missing_ok=True)


def _name_of(file: BatchFile) -> str:
    return re.sub(r"[^\w.]+", "-", f"{file.backend}-{file.id}").strip("-.") + ".jsonl"


def make_private_folder(folder: Path) -> None:
    """Create a folder that only the user can read, if it does not exist."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix" and folder.lstat().st_uid != os.getuid():
        raise StoreError(f"{folder}: belongs to another user; delete it")


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Turn the errors of a file of requests or replies into a StoreError, which stops the run."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from None
