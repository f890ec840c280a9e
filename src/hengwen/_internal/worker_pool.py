"""Apply a function to many items in worker processes that survive a crash of the function."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar, cast

from hengwen._internal.checks import whole_number
from hengwen._internal.worker_main import dump, read_frame, write_frame
from hengwen.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


MAX_SENT_BATCHES = 2
"""Maximum number of batches sent to a worker process: it works on one, and the next one is ready."""
MAX_SECONDS_TO_END = 5.0
"""Seconds after which a process that closed its pipes is killed."""
_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from hengwen._internal.worker_main import main; main()"
)
"""Program of a worker process, which unlike ``multiprocessing`` does not import the main script again."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class _ProcessDiedError(Exception):
    """A worker process ended while it was used; the message says how."""


class _Batch(Generic[Item, Result]):
    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.data = dump(items)
        self.future: Future[list[Result]] = Future()

    def finish(self, results: list[Result] | Exception) -> None:
        with suppress(InvalidStateError):  # the caller has cancelled the future
            if isinstance(results, Exception):
                self.future.set_exception(results)
            else:
                self.future.set_result(results)


class _Process:
    """One worker process; each method raises ``_ProcessDiedError`` if the process has died."""

    def __init__(self, setup: bytes) -> None:
        options: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
        # in a process group of its own, the process gets no Ctrl-C of the terminal
        self._process = subprocess.Popen(  # noqa: S603 - no part of the command comes from a user
            # -P: a pickle.py in the current folder must not stand in for the library
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **options,
        )
        self._stdin = cast("BinaryIO", self._process.stdin)
        self._stdout = cast("BinaryIO", self._process.stdout)
        self._setup = setup

    def start(self) -> None:
        """Send the pool's function to the process; if the process cannot load it, raise its exception."""
        try:
            self._stdin.write(pickle.dumps(sys.path))
        except OSError:
            raise self._death() from None
        self.send(self._setup)
        self.receive()

    def send(self, data: bytes) -> None:
        try:
            write_frame(self._stdin, data)
        except (OSError, ValueError):  # ValueError: another thread closed the pipe
            raise self._death() from None

    def receive(self) -> list[Any]:
        try:
            frame = read_frame(self._stdout)
        except (OSError, ValueError):
            frame = None
        if frame is None:
            raise self._death()
        is_ok, value = pickle.loads(frame)  # noqa: S301 - a process of this program wrote it
        if not is_ok:
            raise value
        return cast("list[Any]", value)

    def _death(self) -> _ProcessDiedError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(MAX_SECONDS_TO_END)
        self.kill()
        status = self._process.returncode
        return _ProcessDiedError(_cause_of_death(status))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()


def _cause_of_death(status: int) -> str:
    if status >= 0:
        return f"exit code {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"{name}, out of memory?" if name == "SIGKILL" else name


class WorkerPool(Generic[Item, Result]):
    """Processes that apply one function to batches of items."""

    # Processes are started one after the other, and only when a batch waits and all started processes are
    # busy. If a process dies, the items of its batch are repeated one by one in new processes, so that only
    # the item at which a process dies again is lost.

    def __init__(
        self,
        function: Callable[[Item], Result],
        workers: int,
        *,
        crashed: Callable[[Item, str], Result] | None = None,
    ) -> None:
        self.workers = workers
        self._setup = dump(function)
        self._crashed = crashed
        self._changed = threading.Condition()
        self._waiting: deque[_Batch[Item, Result]] = deque()
        self._threads: list[threading.Thread] = []
        self._processes: set[_Process] = set()
        self._idle = 0
        self._starting = False
        self._closed = False
        self._error: Exception | None = None

    def submit(self, items: Sequence[Item]) -> Future[list[Result]]:
        """Return the future results of a batch."""
        batch: _Batch[Item, Result] = _Batch(items)
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is closed")
            if self._error is not None:
                batch.finish(self._error)
            else:
                self._waiting.append(batch)
                self._changed.notify()
                self._grow()
        return batch.future

    def close(self) -> None:
        """Kill the processes; batches that have no results yet are cancelled."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for process in self._processes:
                process.kill()
        for thread in list(self._threads):
            thread.join()
        for batch in self._waiting:
            batch.future.cancel()
        self._waiting.clear()

    def _grow(self) -> None:
        """Start a thread with a new process if more batches wait than processes are idle (needs the lock)."""
        if len(self._waiting) > self._idle and not self._starting and len(self._threads) < self.workers:
            self._starting = True
            thread = threading.Thread(target=self._run, name="hengwen-worker", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self) -> None:
        """Send batches to a process; replace it if it dies; end if the pool closes or no process starts."""
        sent: deque[_Batch[Item, Result]] = deque()
        suspect: _Batch[Item, Result] | None = None
        process: _Process | None = None
        try:
            process = self._start()
            while True:
                try:
                    self._exchange(process, sent)
                    return
                except _ProcessDiedError:
                    self._forget(process)
                    process = None
                    if self._closed:
                        return
                    suspect = sent.popleft() if sent else None
                    self._put_back(sent)
                    if suspect is not None:
                        process = self._repeat_singly(suspect)
                    process = process or self._start()
        except Exception as error:
            if suspect is not None:
                suspect.finish(error)
            self._put_back(sent)
            self._give_up(error)
        finally:
            self._forget(process)
            for batch in sent:
                batch.future.cancel()

    def _exchange(self, process: _Process, sent: deque[_Batch[Item, Result]]) -> None:
        """Send batches to a process and receive their results until the pool is closed."""
        while True:
            batch = self._take(wait=not sent)
            if batch is not None:
                sent.append(batch)
                process.send(batch.data)
                if len(sent) < MAX_SENT_BATCHES:
                    continue
            if self._closed:
                return
            results: list[Result] | Exception
            try:
                results = process.receive()
            except _ProcessDiedError:
                raise
            except Exception as error:
                results = error
            sent.popleft().finish(results)

    def _take(self, *, wait: bool) -> _Batch[Item, Result] | None:
        """Return the next batch; None if the pool is closed, or (without ``wait``) if no batch waits."""
        with self._changed:
            self._idle += 1
            while wait and not self._waiting and not self._closed:
                self._changed.wait()
            self._idle -= 1
            if self._closed or not self._waiting:
                return None
            batch = self._waiting.popleft()
            self._grow()
            return batch

    def _put_back(self, batches: deque[_Batch[Item, Result]]) -> None:
        with self._changed:
            while batches:
                self._waiting.appendleft(batches.pop())
            self._changed.notify_all()

    def _repeat_singly(self, batch: _Batch[Item, Result]) -> _Process | None:
        """Repeat one by one, in new processes, the items of a batch at which a process died."""
        results: list[Result] = []
        process: _Process | None = None
        for item in batch.items:
            try:
                process = process or self._restart()
                process.send(dump([item]))
                results += process.receive()
            except _ProcessDiedError as death:
                self._forget(process)
                process = None
                if self._closed:
                    batch.future.cancel()
                    return None
                message = f"the worker process that scored it died: {death}"
                if self._crashed is None:
                    batch.finish(WorkerError(f"a worker process died twice at one item: {death}"))
                    return None
                results.append(self._crashed(item, message))
            except Exception as error:
                batch.finish(error)
                return process
        batch.finish(results)
        return process

    def _restart(self) -> _Process:
        """Start a process; raise ``_ProcessDiedError`` if it cannot start."""
        try:
            return self._start()
        except WorkerError as error:
            raise _ProcessDiedError(str(error)) from error

    def _start(self) -> _Process:
        try:
            with self._changed:
                if self._closed:
                    raise WorkerError("the pool is closed")
                process = _Process(self._setup)
                self._processes.add(process)
            try:
                process.start()
            except BaseException:
                self._forget(process)
                raise
        except Exception as error:
            raise WorkerError(f"a worker process cannot start: {error}; try one worker") from error
        finally:
            with self._changed:
                self._starting = False
                self._grow()
        return process

    def _forget(self, process: _Process | None) -> None:
        if process is not None:
            with self._changed:
                self._processes.discard(process)
            process.close()

    def _give_up(self, error: Exception) -> None:
        """Remove the calling thread from the pool after an error, such as a process that cannot start."""
        with self._changed:
            self._threads.remove(threading.current_thread())
            self.workers = max(len(self._threads), 1)  # this process could not start, so no other is tried
            if self._threads or self._closed:
                return
            self._error = error
            while self._waiting:
                self._waiting.popleft().finish(error)


BATCH_SIZE = 100
"""Number of items that are sent to a worker process at a time."""
MAX_QUEUED_BATCHES = 3
"""Maximum number of batches in progress per worker process."""
MIN_ITEMS = 1000
"""Minimum number of items for which processes are started by default; starting one takes about as long."""


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_stream(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = 1,
    crashed: Callable[[Item, str], Result] | None = None,
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in the order of the items."""
    if workers is None:
        items = iter(items)
        first = list(islice(items, MIN_ITEMS))
        workers = usable_cores() if len(first) == MIN_ITEMS else 1
        items = chain(first, items)
    else:
        workers = whole_number("workers", workers)
    if workers == 1:
        return map(function, items)
    return map_in_processes(WorkerPool(function, workers, crashed=crashed), items)


def map_in_processes(pool: WorkerPool[Item, Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the results of a pool in the order of the items, and close the pool at the end."""
    pending: deque[Future[list[Result]]] = deque()
    remaining = iter(items)
    try:
        while batch := list(islice(remaining, BATCH_SIZE)):
            pending.append(pool.submit(batch))
            if len(pending) > MAX_QUEUED_BATCHES * pool.workers:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
    finally:
        pool.close()
