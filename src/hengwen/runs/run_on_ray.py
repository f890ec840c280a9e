"""Run a plan by several workers of a Ray cluster, which share its work in a PostgreSQL database."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from hengwen import errors
from hengwen.engine.budget import Bill
from hengwen.engine.limits.limit_pool import Demand, EndpointLimits, Grant, LimitPool, SharedLimiter
from hengwen.errors import ConfigError, HengwenError, StoreError, WorkerError
from hengwen.runs.run_plan import RunResult, run_resolved
from hengwen.runs.shards.ray_pool import ray_cluster
from hengwen.runs.stopping import Interrupts
from hengwen.store.location import display_url, parse_location

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Mapping

    from hengwen.engine.limits.limiter import Limiter
    from hengwen.plans.plan import Plan
    from hengwen.runs.options import RunOptions


Progress = dict[str, tuple[int, int]]
"""Samples done and samples in total, by checkpoint."""


class Coordinator(LimitPool):
    """Limits and progress that the workers share; its methods are quick, as it serves one call at a time."""

    def __init__(self, limits: Mapping[str, EndpointLimits]) -> None:
        super().__init__(limits)
        self._progress: Progress = {}
        self._is_stopping = False

    def report(self, progress: Progress) -> bool:
        """Record the progress that a worker sees; return whether the worker should stop."""
        for checkpoint, (done, total) in progress.items():
            known, _ = self._progress.get(checkpoint, (0, 0))
            self._progress[checkpoint] = (max(known, done), total)
        return self._is_stopping

    def progress(self) -> Progress:
        """Return the progress of all workers together."""
        return self._progress

    def stop(self) -> None:
        """Let all workers stop: they make no new call, and store the replies to calls that were sent."""
        self._is_stopping = True


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
                replace(job.options, wait=True, progress=update),
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


MAX_WORKERS = 16
"""Default maximum number of workers, as each has several connections to the database."""
LOST_WORKERS = 3
"""Maximum number of replacements for dead workers, as a multiple of the number of workers."""
WAIT_SECONDS = 0.5
"""Seconds between two updates of the progress."""


def run_on_ray(
    plan: Plan, store: str, options: RunOptions, *, workers: int | None = None, address: str | None = None
) -> RunResult:
    """Evaluate all checkpoints of a plan by workers of a Ray cluster."""
    check_store(store)
    with ray_cluster(address, workers=workers) as ray:
        count = workers or min(MAX_WORKERS, max(1, int(ray.cluster_resources()["CPU"])))
        limits = {
            name: EndpointLimits(concurrency=options.concurrency, rpm=spec.rpm, tpm=spec.tpm)
            for name, spec in plan.used_backends.items()
        }
        own_concurrency = min(options.concurrency, 2 * ceil(options.concurrency / count))
        job = PlanJob(
            plan=plan,
            store=store,
            options=replace(
                options, concurrency=own_concurrency, workers=1, progress=None, wait=bool(options.wait)
            ),
            limits=limits,
            environment=_environment(plan),
            working_folder=Path.cwd(),
        )
        return _Driver(ray, job, count, options).run()


def check_store(store: str) -> None:
    """Check that a store is a PostgreSQL database."""
    url = parse_location(store)
    if url.get_backend_name() != "postgresql":
        raise ConfigError(
            f"{display_url(url)}: --engine ray needs a PostgreSQL database that all machines reach, such as "
            "--store postgresql://HOST/DATABASE"
        )


def _environment(plan: Plan) -> Mapping[str, str]:
    """Return the environment variables with the keys and base URLs of the backends of a plan."""
    from hengwen.plans.suite import key_variable

    specs = plan.used_backends.values()
    names = {key_variable(spec) for spec in specs}
    endings = ["_BASE_URL"]
    if any(spec.provider == "langchain" for spec in specs):  # LangChain chooses variables by the provider
        endings.append("_API_KEY")
    return {
        name: value for name, value in os.environ.items() if name in names or name.endswith(tuple(endings))
    }


class _Driver:
    """Starts workers, replaces workers that died, and collects how they ended."""

    def __init__(self, ray: Any, job: PlanJob, count: int, options: RunOptions) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._ray = ray
        self._job = job
        self._count = count
        self._options = options
        self._started_at = time.monotonic()
        self._coordinator = ray.remote(num_cpus=0, scheduling_strategy=here)(Coordinator).remote(job.limits)
        self._run = ray.remote(num_cpus=1, max_retries=0, max_calls=1, scheduling_strategy="SPREAD")(
            run_worker
        )
        self._running: dict[Any, str] = {}
        self._started = 0
        self._results: list[RunResult] = []
        self._error: HengwenError | None = None
        self._was_interrupted = False

    def run(self) -> RunResult:
        """Run the plan; return the result of the worker that ended last, with the warnings of all workers."""
        try:
            self._run_workers()
        except self._ray.exceptions.RayError as error:
            raise WorkerError(
                f"the actor of the run was lost ({type(error).__name__}); the same command resumes the run"
            ) from None
        if self._error is not None:
            raise self._error
        if self._was_interrupted or not self._results:
            raise KeyboardInterrupt
        warnings = dict.fromkeys(warning for result in self._results for warning in result.warnings)
        bill = sum((result.bill for result in self._results), start=Bill())
        return replace(self._results[-1], warnings=tuple(warnings), bill=bill)

    def _run_workers(self) -> None:
        """Start the workers and wait until all have ended; if interrupted, they store their replies first."""
        try:
            for _ in range(self._count):
                self._start()
            while self._running:
                self._wait()
        except KeyboardInterrupt:
            self._was_interrupted = True
            self._stop()
            while self._running:  # a second interrupt ends the workers at once
                self._wait()

    def _start(self) -> None:
        self._started += 1
        name = f"worker {self._started}"
        job = self._job
        limit = self._options.time_limit
        if limit is not None:
            remaining = max(0.0, limit - (time.monotonic() - self._started_at))
            job = replace(job, options=replace(job.options, time_limit=remaining))
        self._running[self._run.remote(job, name, self._coordinator)] = name

    def _wait(self) -> None:
        ended, _ = self._ray.wait(list(self._running), num_returns=1, timeout=WAIT_SECONDS)
        if self._options.progress is not None:
            for checkpoint, (done, total) in self._ray.get(self._coordinator.progress.remote()).items():
                self._options.progress(checkpoint, done, total)
        for reference in ended:
            name = self._running.pop(reference)
            end = self._end_of(reference)
            self._ray.get(self._coordinator.forget.remote(name))
            self._handle(end)

    def _end_of(self, reference: Any) -> WorkerEnd:
        failures = self._ray.exceptions
        try:
            end: WorkerEnd = self._ray.get(reference)
        except (failures.RayTaskError, failures.RuntimeEnvSetupError) as error:
            reason = str(error).strip().splitlines()[-1]
            return WorkerEnd(error="WorkerError", message=f"a worker failed: {reason}")
        except failures.RayError as error:
            return WorkerEnd(error=type(error).__name__)
        return end

    def _handle(self, end: WorkerEnd) -> None:
        if end.result is not None:
            self._results.append(end.result)
        elif end.error == "KeyboardInterrupt":  # the worker was stopped, or cannot reach the actor
            self._replace(replace(end, message="the workers lost their connection to the command's machine"))
        elif end.error == "StoreError" or not hasattr(
            errors, end.error
        ):  # the connection or the worker is lost
            self._replace(end)
        elif self._error is None:
            kind = StoreError if end.error == "StoreBusyError" else getattr(errors, end.error)
            self._error = kind(end.message)
            self._stop()

    def _replace(self, end: WorkerEnd) -> None:
        """Start a worker in the place of one that died, unless the run ends."""
        if self._error is not None or self._was_interrupted or self._results:
            return
        if self._started < self._count * (1 + LOST_WORKERS):
            self._start()
        elif not self._running:
            reason = end.message or "they died (were they out of memory?)"
            self._error = WorkerError(f"{self._started} workers did not finish the run: {reason}")

    def _stop(self) -> None:
        self._ray.get(self._coordinator.stop.remote())
