"""A stand-in for Ray: actors live in this process, and tasks end as a test says."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SETTINGS = (
    "RAY_USAGE_STATS_ENABLED",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO",
)
"""Variables that ``import_ray`` sets."""


class RayErrors:
    """The exceptions of Ray with which a task can end."""

    RayError = type("RayError", (Exception,), {})
    WorkerCrashedError = type("WorkerCrashedError", (RayError,), {})
    OutOfMemoryError = type("OutOfMemoryError", (RayError,), {})
    NodeDiedError = type("NodeDiedError", (RayError,), {})
    RayTaskError = type("RayTaskError", (RayError,), {})
    RuntimeEnvSetupError = type("RuntimeEnvSetupError", (RayError,), {})


class Ready:
    """A reference to a value that exists; it can be awaited."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Any:
        yield from ()
        return self.value


class Task:
    """A reference to a task, with its arguments."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments


class Actor:
    """A handle of an object in this process."""

    def __init__(self, instance: Any) -> None:
        self.instance = instance

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.instance, name)
        return SimpleNamespace(remote=lambda *arguments: Ready(method(*arguments)))


class FakeRay(ModuleType):
    """The module ``ray``.

    Args:
        ends: Functions of the arguments of a task, in the order in which tasks end: each returns the result
            of the oldest task, or raises its error.
        cpus: CPUs of the cluster.
    """

    exceptions = RayErrors

    def __init__(self, *ends: Callable[..., Any], cpus: float = 3) -> None:
        super().__init__("ray")
        self.ends = deque(ends)
        self.cpus = cpus
        self.options: list[dict[str, Any]] = []
        self.tasks: list[Task] = []
        self.actors: list[Any] = []

    def remote(self, **options: Any) -> Any:
        self.options.append(options)

        def wrap(target: Any) -> Any:
            return SimpleNamespace(remote=lambda *arguments: self._start(target, arguments))

        return wrap

    def _start(self, target: Any, arguments: tuple[Any, ...]) -> Any:
        if isinstance(target, type):
            self.actors.append(target(*arguments))
            return Actor(self.actors[-1])
        self.tasks.append(Task(arguments))
        return self.tasks[-1]

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus}

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "this node")

    def wait(self, references: list[Any], *, num_returns: int, timeout: float | None = None) -> Any:
        return references[:num_returns], references[num_returns:]

    def get(self, reference: Any) -> Any:
        if isinstance(reference, Ready):
            return reference.value
        return self.ends.popleft()(*reference.arguments)


def install(patch: pytest.MonkeyPatch, ray: FakeRay) -> FakeRay:
    """Let ``import ray`` return a stand-in."""
    for name in SETTINGS:
        patch.setenv(name, "0")  # import_ray sets them; they are restored after the test
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda node, soft: (node, soft)  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "ray", ray)
    patch.setitem(sys.modules, "ray.util", ModuleType("ray.util"))
    patch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
    return ray
