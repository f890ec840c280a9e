"""Run a plan in a worker of a Ray cluster, together with the other workers."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from hengwen.engine.limits.shared_limiter import SharedLimiter
from hengwen.errors import HengwenError
from hengwen.runs.run_plan import RunResult, run_resolved
from hengwen.runs.stopping import Interrupts

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hengwen.engine.limits.limit_pool import Demand, EndpointLimits, Grant
    from hengwen.engine.limits.limiter import Limiter
    from hengwen.plans.plan import Plan
    from hengwen.runs.cluster.coordinator import Progress
    from hengwen.runs.options import RunOptions

REPORT_SECONDS = 0.5
"""Seconds between two reports of a worker's progress; a report also tells the worker whether to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanJob:
    """What each worker needs to run a plan; every worker gets a pickled copy."""

    plan: Plan
    store: str
    """URL of the store."""
    options: RunOptions
    limits: Mapping[str, EndpointLimits]
    """Limits of each endpoint for all workers together."""
    environment: Mapping[str, str]
    """Environment variables that the backends read, such as API keys; they are set in the worker only."""
    working_folder: Path

    def __repr__(self) -> str:
        """Return a text with the name of the plan, without keys and without the password of the store."""
        return f"PlanJob({self.plan.name!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnd:
    """How a worker ended: with a result, or with an error of Hengwen, or because it was asked to stop."""

    result: RunResult | None = None
    error: str = ""
    """Name of the class of the error."""
    message: str = ""


def run_worker(job: PlanJob, name: str, coordinator: Any) -> WorkerEnd:
    """Run the plan until all of its samples are evaluated, by this worker or by others."""
    if job.working_folder.is_dir():
        os.chdir(job.working_folder)
    os.environ.update(job.environment)
    interrupts = Interrupts(signals=False)
    progress: Progress = {}

    def update(checkpoint: str, done: int, total: int) -> None:
        progress[checkpoint] = (done, total)

    try:
        with _reports(coordinator, progress, interrupts):
            result = run_resolved(
                job.plan,
                job.store,
                replace(job.options, share=True, progress=update),
                trust=True,
                interrupts=interrupts,
                make_limiter=partial(_limiter, job.limits, name, coordinator),
            )
            return WorkerEnd(result=result)
    except HengwenError as error:
        return WorkerEnd(error=type(error).__name__, message=str(error))
    except KeyboardInterrupt:
        return WorkerEnd(error="KeyboardInterrupt")


def _limiter(
    limits: Mapping[str, EndpointLimits],
    name: str,
    coordinator: Any,
    endpoint: str,
    stopping: asyncio.Event,
) -> Limiter:
    async def sync(demand: Demand) -> Grant:
        grant: Grant = await coordinator.sync.remote(name, endpoint, demand)
        return grant

    return SharedLimiter(limits[endpoint], sync, stopping=stopping)


@contextmanager
def _reports(coordinator: Any, progress: Progress, interrupts: Interrupts) -> Iterator[None]:
    """Report the progress in a thread; stop the run if the coordinator says so, or cannot be reached."""
    import ray

    is_over = Event()

    def report() -> None:
        while not is_over.wait(REPORT_SECONDS):
            try:
                must_stop = ray.get(coordinator.report.remote(dict(progress)))
            except ray.exceptions.RayError:
                must_stop = True
            if must_stop:
                interrupts.request()
                return

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
