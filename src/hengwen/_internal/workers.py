"""Apply a function to batches of items in other processes: of this machine, or of a Ray cluster.

If a process dies, the items of its batch are repeated one by one in a fresh process, so that only the item at
which a process dies again is lost.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import connection, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar

from hengwen._internal.plugins import import_file, imported_files, whole_number
from hengwen.errors import WorkerError

Engine = Literal["local", "ray"]
Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH_SIZE = 100
"""Number of items that are sent to a process at a time."""
BATCHES_PER_WORKER = 3
"""Maximum number of batches per process that are in progress or wait."""
MIN_ITEMS = 1000
"""Minimum number of items for which processes are started by default; starting one takes about as long."""
GC_THRESHOLDS = (50_000, 20, 50)
"""Thresholds of the garbage collector in processes of Hengwen: most objects are of modules, never garbage."""


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Process(SpawnProcess):
    def start(self) -> None:
        """Start the process, which neither runs the main script again nor gets Ctrl-C of the terminal."""
        main, blocked, safe_path = sys.modules["__main__"], None, os.environ.get("PYTHONSAFEPATH")
        sys.modules["__main__"] = ModuleType("__main__")
        # a pickle.py in the current folder must not stand in for the library
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            if hasattr(signal, "pthread_sigmask"):
                from multiprocessing.resource_tracker import ensure_running

                ensure_running()  # it would unblock the signal
                blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # a child inherits it
            super().start()
        finally:
            sys.modules["__main__"] = main
            del os.environ["PYTHONSAFEPATH"]
            if safe_path is not None:
                os.environ["PYTHONSAFEPATH"] = safe_path
            if blocked is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class _Context(SpawnContext):
    """Starts processes for an executor, and keeps them, so that they can be killed and say how they died."""

    def __init__(self) -> None:
        super().__init__()
        self.processes: list[_Process] = []

    def Process(self, *args: Any, **options: Any) -> _Process:  # type: ignore[override]  # noqa: N802
        self.processes.append(_Process(*args, **options))
        return self.processes[-1]


class _LocalExecutor(ProcessPoolExecutor):
    def __init__(self, workers: int, setup: bytes) -> None:
        self.context = _Context()
        super().__init__(workers, self.context, initializer=set_up_process, initargs=(setup,))

    def kill(self) -> None:
        """End the processes at once."""
        for process in self.context.processes:
            if process.pid is not None:
                process.kill()
        self.shutdown(cancel_futures=True)

    def cause_of_death(self) -> str:
        """Return how the first process died."""
        self.shutdown()  # its thread waits for the processes too, and only one of two gets the exit code
        process = self.context.processes[0]
        process.join()
        code = process.exitcode or 0
        if code >= 0:
            return f"exit code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"{name}, out of memory?" if name == "SIGKILL" else name


_function: Callable[[Any], Any] | None = None
_setup_error = ""


def set_up(setup: bytes) -> None:
    """Load the function of a pool, after the Python files (``file.py:Class``) that it refers to."""
    global _function, _setup_error
    files, data = pickle.loads(setup)  # noqa: S301 - the parent process wrote it
    try:
        for path in files:
            import_file(Path(path))
        _function = pickle.loads(data)  # noqa: S301
        _setup_error = ""
    except (Exception, SystemExit) as error:
        _function, _setup_error = None, str(error)


def set_up_process(setup: bytes) -> None:  # pragma: no cover - runs in other processes
    """Prepare a process of this machine, which ends when its parent does."""
    os.dup2(2, 1)  # texts that plug-ins print must not be mixed with the command's output
    gc.set_threshold(*GC_THRESHOLDS)
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    set_up(setup)
    gc.freeze()


def apply(items: Sequence[Any]) -> list[Any]:
    """Return the results of a batch; a function that ends its process does so here, too."""
    if _function is None:
        raise WorkerError(f"a worker process cannot start: {_setup_error}; try one worker")
    try:
        return [_function(item) for item in items]
    except SystemExit as ending:
        os._exit(ending.code if isinstance(ending.code, int) else 1)


def ray_cpus() -> int:
    """Connect to the Ray cluster and return the number of its processor cores."""
    from hengwen._internal.ray_executor import connect

    return max(1, int(connect().cluster_resources().get("CPU", 1)))


class WorkerPool(Generic[Item, Result]):
    """Processes that apply one function to batches of items; they start when there is work."""

    def __init__(
        self,
        function: Callable[[Item], Result],
        workers: int,
        *,
        crashed: Callable[[Item, str], Result] | None = None,
        engine: Engine = "local",
    ) -> None:
        self.workers = workers
        data = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
        self._setup = pickle.dumps((list(imported_files(data).values()), data))
        self._crashed = crashed
        self._engine = engine
        self._lock = threading.Lock()
        self._repeating = threading.Lock()
        self._executors: dict[int, Any] = {}
        """The executor of all processes, and that of the one in which items are repeated, by their number."""
        self._closed = False

    def submit(self, items: Sequence[Item]) -> Future[list[Result]]:
        """Return the future results of a batch, to which ``results`` waits."""
        return self._submit(items, 1 if self._engine == "ray" else self.workers + 1)

    def results(self, items: Sequence[Item], future: Future[list[Result]]) -> list[Result]:
        """Wait until a batch is done; if a process died meanwhile, repeat its items one by one."""
        try:
            return future.result()
        except BrokenExecutor:
            return self.repeat(items)

    def repeat(self, items: Sequence[Item]) -> list[Result]:
        """Return the results of items, one by one; ``crashed`` gives that of an item that kills a process."""
        results: list[Result] = []
        with self._repeating:
            for item in items:
                future = self._submit([item], 1)
                executor = self._executors.get(1)
                try:
                    results += future.result()
                except BrokenExecutor:
                    if self._closed or executor is None:
                        raise CancelledError from None
                    cause = executor.cause_of_death()
                    if self._crashed is None:
                        raise WorkerError(f"a worker process died twice at one item: {cause}") from None
                    results.append(self._crashed(item, f"the worker process that scored it died: {cause}"))
        return results

    def close(self) -> None:
        """Kill the processes; batches that have no results yet are cancelled."""
        with self._lock:
            self._closed = True
            for executor in self._executors.values():
                executor.kill()
            self._executors.clear()

    def _submit(self, items: Sequence[Item], number: int) -> Future[list[Result]]:
        with self._lock:
            if self._closed:
                raise CancelledError
            for _ in range(2):
                executor = self._executors.get(number) or self._start(max(number - 1, 1))
                self._executors[number] = executor
                try:
                    return executor.submit(apply, items)
                except BrokenExecutor:
                    del self._executors[number]
            raise WorkerError("worker processes cannot start; try one worker")

    def _start(self, workers: int) -> Executor:
        if self._engine == "ray":
            from hengwen._internal.ray_executor import RayExecutor

            return RayExecutor(set_up, self._setup)
        return _LocalExecutor(workers, self._setup)


def map_stream(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = 1,
    crashed: Callable[[Item, str], Result] | None = None,
    engine: Engine = "local",
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in the order of the items."""
    if engine == "ray":
        workers = workers or ray_cpus()
    elif workers is None:
        items = iter(items)
        first = list(islice(items, MIN_ITEMS))
        workers = usable_cores() if len(first) == MIN_ITEMS else 1
        items = chain(first, items)
    else:
        workers = whole_number("workers", workers)
    if workers == 1 and engine == "local":
        return map(function, items)
    return _map_in_processes(WorkerPool(function, workers, crashed=crashed, engine=engine), items)


def _map_in_processes(pool: WorkerPool[Item, Result], items: Iterable[Item]) -> Iterator[Result]:
    pending: deque[tuple[list[Item], Future[list[Result]]]] = deque()
    remaining = iter(items)
    try:
        while batch := list(islice(remaining, BATCH_SIZE)):
            pending.append((batch, pool.submit(batch)))
            if len(pending) > BATCHES_PER_WORKER * pool.workers:
                yield from pool.results(*pending.popleft())
        while pending:
            yield from pool.results(*pending.popleft())
    finally:
        pool.close()
