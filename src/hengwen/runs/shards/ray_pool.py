"""Connect to a Ray cluster, and score shards by its tasks."""

from __future__ import annotations

import os
import socket
import time
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, PluginError, WorkerError
from hengwen.runs.shards.schedule import Lost, ShardError, ShardTask, score_shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.runs.shards.manifest import ShardResult

LOCAL_OBJECT_STORE_BYTES = 100 * 2**20
"""Bytes of shared memory for a Ray that is started on this machine; tasks and results are small."""
CONNECT_SECONDS = 5.0
"""Seconds to wait until the address of the cluster accepts a connection."""


@contextmanager
def ray_cluster(address: str | None = None, *, workers: int | None = None) -> Iterator[Any]:
    """Connect to a Ray cluster and yield the module ``ray``; disconnect at the end."""
    ray = import_ray(only_this_machine=address is None)
    if ray.is_initialized():
        yield ray
        return
    if address is not None and address != "auto":
        _check_address(address)
    local = {
        "num_cpus": workers,
        "include_dashboard": False,
        "object_store_memory": LOCAL_OBJECT_STORE_BYTES,
    }
    # Ray prints to stdout when a worker dies, also if log_to_driver is false
    with open(os.devnull, "w") as silence, redirect_stdout(silence):
        try:
            try:
                ray.init(
                    address=address or "local",
                    log_to_driver=False,
                    logging_level="error",
                    **({} if address else local),
                )
            except (OSError, RuntimeError, ValueError) as error:
                where = f"the Ray cluster {address} cannot be used" if address else "Ray cannot be started"
                reason = str(error).strip() or type(error).__name__
                raise ConfigError(f"{where}: {reason.splitlines()[0]}") from error
            if not ray.cluster_resources().get("CPU"):
                raise ConfigError(f"the Ray cluster {address} has no CPUs; wait until its nodes have joined")
            yield ray
        finally:
            ray.shutdown()


def import_ray(*, only_this_machine: bool = False) -> Any:
    """Import Ray without usage statistics."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else some versions warn about GPUs
    if only_this_machine:  # "0" rules out other machines, so Ray uses the loopback address
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        import ray
    except ImportError:
        raise PluginError("--engine ray needs ray: pip install 'hengwen[ray]'") from None
    return ray


def _check_address(address: str) -> None:
    """Check that something listens at an address; Ray itself would wait for minutes."""
    if address.startswith("ray://"):
        raise ConfigError(
            f"{address}: Ray Client is not supported; run the command on a machine of the cluster, with "
            "--ray-address auto"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(f"{address!r} is no address of a Ray cluster; write HOST:PORT or auto")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise ConfigError(f"the Ray cluster {address} cannot be reached: {reason}") from None


TASKS_PER_CPU = 2
"""Tasks that are submitted for each CPU of the cluster, so that a worker need not wait for its next task."""
RESIZE_SECONDS = 10.0
"""Seconds between two checks of the number of CPUs, which changes when nodes join or leave."""


class RayPool:
    """Tasks of a Ray cluster, one CPU each. Only ``run_shards`` repeats failed tasks; Ray does not."""

    def __init__(self, ray: Any, workers: int | None = None) -> None:
        self._ray = ray
        self._workers = workers
        self._score = ray.remote(num_cpus=1, max_retries=0)(score_in_folder)
        self._running: dict[Any, ShardTask] = {}
        self._window, self._resized = 0, -RESIZE_SECONDS

    def window(self) -> int:
        """Return how many unfinished shards the pool accepts at a time."""
        if self._workers is not None:
            return self._workers
        now = time.monotonic()
        if now - self._resized >= RESIZE_SECONDS:
            cpus = int(self._ray.cluster_resources().get("CPU", 1))
            self._window, self._resized = max(1, cpus) * TASKS_PER_CPU, now
        return self._window

    def submit(self, task: ShardTask) -> None:
        """Send a shard to the cluster; the task names a file and a range of its rows, but has no rows."""
        self._running[self._score.remote(task, Path.cwd())] = task

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError | Lost]:
        """Wait until a shard ends; return its task, and its result or why it has none."""
        (reference,), _ = self._ray.wait(list(self._running), num_returns=1)
        task = self._running.pop(reference)
        return task, self._outcome(reference, task)

    def _outcome(self, reference: Any, task: ShardTask) -> ShardResult | ShardError | Lost:
        errors = self._ray.exceptions
        try:
            outcome: ShardResult | ShardError = self._ray.get(reference)
        except (errors.WorkerCrashedError, errors.OutOfMemoryError):
            return Lost(reason="worker died", message="its workers died (were they out of memory?)")
        except (errors.RayTaskError, errors.RuntimeEnvSetupError) as error:
            reason = str(error).strip().splitlines()[-1]
            return ShardError(number=task.shard.number, message=f"a worker cannot run hengwen: {reason}")
        except errors.RayError as error:
            return Lost(reason="machine died", message=f"its machines died: {type(error).__name__}")
        return outcome


def score_in_folder(task: ShardTask, folder: Path) -> ShardResult | ShardError:
    """Score a shard on a machine of the cluster."""
    if folder.is_dir():
        os.chdir(folder)
    return score_shard(task)


@contextmanager
def ray_pool(address: str | None = None, workers: int | None = None) -> Iterator[RayPool]:
    """Yield a pool that scores shards on a Ray cluster."""
    with ray_cluster(address, workers=workers) as ray:
        try:
            yield RayPool(ray, workers)
        except ray.exceptions.RayError as error:
            raise WorkerError(
                f"the Ray cluster was lost ({type(error).__name__}); the same command resumes the scoring"
            ) from None
