"""Connect to a Ray cluster by its address, or start Ray on this machine."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, PluginError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
