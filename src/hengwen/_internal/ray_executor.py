"""``--engine ray``: an executor whose batches are tasks of a Ray cluster, or of a Ray on this machine."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

from hengwen.errors import ConfigError, PluginError, WorkerError

LOCAL_OBJECT_STORE_BYTES = 100 * 2**20
"""Bytes of shared memory for a Ray that is started on this machine; batches and results are small."""
RETRIES = 2
"""Number of times that Ray repeats a batch whose worker or machine died, before its items are repeated."""


_connected = False
"""Whether this module has connected to Ray, and not its caller."""


def connect() -> Any:
    """Return the module ``ray``, connected to the cluster of ``RAY_ADDRESS``, else to one of this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else some versions warn about GPUs
    address = os.environ.get("RAY_ADDRESS", "local")
    if address == "local":  # "0" rules out other machines, so Ray uses the loopback address
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError:
        raise PluginError("--engine ray needs ray: pip install 'hengwen[ray]'") from None
    global _connected
    if not ray.is_initialized():
        local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": LOCAL_OBJECT_STORE_BYTES}
        try:
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **(local if address == "local" else {}),
            )
        except (OSError, RuntimeError, ValueError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ConfigError(f"the Ray cluster {address} (RAY_ADDRESS) cannot be used: {reason}") from error
        _connected = True
    return ray


class RayExecutor(Executor):
    """Runs batches as tasks; those that die thrice end like those of a broken process pool."""

    def __init__(self, set_up: Callable[[bytes], None], setup: bytes) -> None:
        self._set_up = set_up
        self._ray = connect()
        self._setup = self._ray.put(setup)
        self._run = self._ray.remote(num_cpus=1, max_retries=RETRIES)(run_batch)
        self._open: set[Any] = set()
        self._redirected = redirect_stdout(sys.stderr)  # Ray prints to stdout when a worker dies
        self._redirected.__enter__()

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        """Send a batch."""
        reference = self._run.remote(self._set_up, self._setup, str(Path.cwd()), fn, *args)
        self._open.add(reference)
        future: Future[Any] = Future()
        errors = self._ray.exceptions

        def finish(done: Future[Any]) -> None:
            self._open.discard(reference)
            error = done.exception()
            with suppress(Exception):  # the caller has cancelled the future
                if error is None:
                    future.set_result(done.result())
                elif isinstance(error, errors.RayTaskError):
                    reason = str(error).strip().splitlines()[-1]
                    future.set_exception(WorkerError(f"a worker of Ray failed: {reason}"))
                else:
                    future.set_exception(BrokenExecutor(type(error).__name__))

        reference.future().add_done_callback(finish)
        return future

    def kill(self) -> None:
        """Cancel the batches that have no results yet, and disconnect; the pool calls this once."""
        global _connected
        for reference in list(self._open):
            self._ray.cancel(reference, force=True)
        if _connected:
            self._ray.shutdown()  # it would go on printing
            _connected = False
        self._redirected.__exit__(None, None, None)

    def cause_of_death(self) -> str:
        """Return how a process died, of which Ray tells little."""
        return "lost by Ray, out of memory?"


_setup = b""


def run_batch(
    set_up: Callable[[bytes], None], setup: bytes, folder: str, fn: Any, items: Any
) -> Any:  # pragma: no cover - runs in other processes
    """Return the results of a batch, in the folder of the command, if the machine has it."""
    global _setup
    if setup != _setup:
        if Path(folder).is_dir():
            os.chdir(folder)
        set_up(setup)
        _setup = setup
    return fn(items)
