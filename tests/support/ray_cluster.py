"""A Ray cluster of three nodes on this machine, reachable by the loopback address only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 78 * 2**20}
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray then uses the loopback address
    "RAY_AUTH_MODE": "disabled",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def has_old_ray() -> bool:
    """Return whether the installed Ray leaves files open when it starts, which newer versions do not."""
    try:
        return tuple(map(int, version("ray").split(".")[:2])) < (2, 60)
    except PackageNotFoundError:
        return False


WARNINGS = [pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")] if has_old_ray() else []


@pytest.fixture(scope="module")
def ray_settings() -> Iterator[str]:
    """Set the environment of Ray; return its folder, whose path is short because it has sockets."""
    pytest.importorskip("ray")
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder,
    ):
        for name, value in {**SETTINGS, "RAY_TMPDIR": folder}.items():
            patch.setenv(name, value)
        patch.delenv("RAY_ADDRESS", raising=False)
        yield folder


@pytest.fixture(scope="module")
def ray_cluster(ray_settings: str) -> Iterator[Any]:
    """Start a cluster with a head node and two more nodes, one CPU each; it takes about 7 seconds."""
    from ray.cluster_utils import Cluster

    os.makedirs(os.path.join(ray_settings, "ray"))
    cluster = Cluster(shutdown_at_exit=False)
    try:
        cluster.add_node(include_dashboard=False, **NODE)
        for _ in range(2):
            cluster.add_node(**NODE)
        yield cluster
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]
