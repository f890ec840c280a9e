"""Addresses of Ray clusters, and a missing package: refused at once, without starting Ray."""

from __future__ import annotations

import builtins
import socket
import sys
from types import ModuleType
from typing import Any

import pytest
from fake_ray import SETTINGS

from hengwen.errors import ConfigError, PluginError
from hengwen.runs.shards.ray_pool import import_ray, ray_cluster


class FakeRay(ModuleType):
    """Records how Ray is started."""

    def __init__(self, cpus: float = 4, error: Exception | None = None) -> None:
        super().__init__("ray")
        self.calls: list[Any] = []
        self.cpus, self.error, self.connected = cpus, error, False

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, **options: Any) -> None:
        self.calls.append(options)
        print("a message of Ray")
        if self.error is not None:
            raise self.error

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus} if self.cpus else {}

    def shutdown(self) -> None:
        self.calls.append("shutdown")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch):
    for name in SETTINGS:
        monkeypatch.setenv(name, "0")  # import_ray sets them; they are restored after the test

    def put(ray: FakeRay) -> FakeRay:
        monkeypatch.setitem(sys.modules, "ray", ray)
        return ray

    return put


def test_ray_on_this_machine_starts_without_dashboard_and_ends(install, capsys) -> None:
    ray = install(FakeRay())
    with ray_cluster(workers=3) as module:
        assert module is ray
        print("nothing reaches stdout")
    start, end = ray.calls
    assert (start["address"], start["num_cpus"], start["include_dashboard"]) == ("local", 3, False)
    assert start["object_store_memory"] == 100 * 2**20
    assert end == "shutdown"
    assert capsys.readouterr() == ("", "")


def test_a_cluster_that_exists_is_not_configured(install) -> None:
    ray = install(FakeRay())
    with ray_cluster("auto", workers=3):
        pass
    assert ray.calls == [{"address": "auto", "log_to_driver": False, "logging_level": "error"}, "shutdown"]


def test_a_connection_that_exists_is_kept(install) -> None:
    ray = install(FakeRay())
    ray.connected = True
    with ray_cluster("127.0.0.1:1"):
        pass
    assert ray.calls == []


def test_a_cluster_without_cpus_is_refused(install) -> None:
    ray = install(FakeRay(cpus=0))
    with pytest.raises(ConfigError, match="the Ray cluster auto has no CPUs"), ray_cluster("auto"):
        pass
    assert ray.calls[-1] == "shutdown"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("auto", "^the Ray cluster auto cannot be used: no cluster$"),
        (None, "^Ray cannot be started: no cluster$"),
    ],
)
def test_the_reason_of_ray_is_shown_on_one_line(install, address: str | None, message: str) -> None:
    ray = install(FakeRay(error=ConnectionError("no cluster\nand much more")))
    with pytest.raises(ConfigError, match=message), ray_cluster(address):
        pass
    assert ray.calls[-1] == "shutdown"


def test_an_error_of_ray_without_text_is_named(install) -> None:
    install(FakeRay(error=RuntimeError()))
    with pytest.raises(ConfigError, match=r"^Ray cannot be started: RuntimeError$"), ray_cluster():
        pass


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ray://127.0.0.1:10001", "Ray Client is not supported; run the command on a machine of the cluster"),
        ("127.0.0.1", "'127.0.0.1' is no address of a Ray cluster; write HOST:PORT or auto"),
        ("head:port", "'head:port' is no address of a Ray cluster"),
        ("127.0.0.1:70000", "the Ray cluster 127.0.0.1:70000 cannot be reached: "),
    ],
)
def test_a_wrong_address_is_refused(install, address: str, message: str) -> None:
    ray = install(FakeRay())
    with pytest.raises(ConfigError, match=message), ray_cluster(address):
        pass
    assert ray.calls == []


def test_an_address_where_nothing_listens_is_refused(install) -> None:
    install(FakeRay())
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # without listen(): connections are refused
        port = reserved.getsockname()[1]
        with (
            pytest.raises(ConfigError, match=f"^the Ray cluster 127.0.0.1:{port} cannot be reached: Conn"),
            ray_cluster(f"127.0.0.1:{port}"),
        ):
            pass


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, install) -> None:
    import_module = builtins.__import__

    def without_ray(name: str, *rest: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return import_module(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(PluginError, match=r"^--engine ray needs ray: pip install 'hengwen\[ray\]'$"):
        import_ray()


def test_usage_statistics_are_off(monkeypatch: pytest.MonkeyPatch, install) -> None:
    import os

    install(FakeRay())
    for name in SETTINGS:
        monkeypatch.delenv(name)
    import_ray()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in os.environ
    import_ray(only_this_machine=True)
    assert os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
