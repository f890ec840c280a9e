"""``run_plan``: a plan, the engine and a store; one run for each checkpoint."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hengwen._internal.gc_tuning import relaxed_gc
from hengwen.engine.budget import Budget, total
from hengwen.errors import ConfigError, TimeLimitError
from hengwen.plans.plan import BackendSpec, Plan, load_plan
from hengwen.plans.suite import LoadedPlan, load_suite
from hengwen.runs.checkpoint_run import CheckpointRun
from hengwen.runs.resources import RunOptions, RunResources
from hengwen.store.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from hengwen.records import Run, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of a plan."""

    plan: str
    runs: tuple[Run, ...]
    """In training order."""
    store: str
    warnings: tuple[str, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)
    """Failed outcomes by status, without ``not_applicable``."""
    dead: tuple[str, ...] = ()
    """Scores (TASK/SCORE) of which there is not one, only failures."""
    out_of_budget: bool = False
    """Calls were not made, for the budget might have been passed."""


@relaxed_gc()
def run_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    concurrency: int = 16,
    limit: int | None = None,
    repeat: int | None = None,
    fresh: bool = False,
    budget: float | None = None,
    time_limit: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> RunResult:
    """Weigh all checkpoints of a plan; what the store has already is not weighed again.

    Args:
        plan: A plan or the path of one.
        store: A store, the path of one, or its URL.
        judge: ``openai/MODEL`` in the place of every judge of the plan.
        base_url: Of an OpenAI-compatible server, for ``judge``.
        concurrency: Calls in flight to an endpoint; a sixteenth more samples are in work.
        limit: Weigh only the first so many samples of each task.
        repeat: Answers that backends give to each sample, in the place of the plan's ``repeats``.
        fresh: Start again: no row and no call of before is used.
        budget: What the calls may cost, by the prices of the plan; no call is made that might pass it.
        time_limit: Seconds after which no new call is made; those in flight end.
        progress: Called with (checkpoint, samples done, samples in all).

    Returns:
        The runs, and what failed.

    Raises:
        ConfigError: The plan is wrong.
        DataError: A file that it names is wrong.
        StoreError: The store failed; what was committed is kept.
        TimeLimitError: The time is up; the same call goes on from there.
        KeyboardInterrupt: It was interrupted; the same call goes on from there.
    """
    checked = _checked(plan, judge, base_url, repeat)
    suite = load_suite(checked)
    spending = _budget(checked, budget)
    options = RunOptions(
        concurrency=max(1, concurrency), limit=limit, fresh=fresh, time_limit=time_limit, progress=progress
    )
    if isinstance(store, Store):
        return _run_now(suite, store, options, spending)
    with open_store(store) as opened:
        return _run_now(suite, opened, options, spending)


def _run_now(suite: LoadedPlan, store: Store, options: RunOptions, budget: Budget) -> RunResult:
    try:
        return asyncio.run(_run_suite(suite, store, options, budget))
    except asyncio.CancelledError:  # SIGTERM ends a run as Ctrl-C does
        raise KeyboardInterrupt from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What a plan would ask of one backend, by estimate."""

    backend: str
    role: str
    usage: Usage
    cost: float | None
    """By the prices of the plan; None where there is none: unknown, not zero."""


def estimate_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    limit: int | None = None,
    repeat: int | None = None,
    fresh: bool = False,
) -> list[CostEstimate]:
    """Say what ``run_plan`` with the same arguments would ask: nobody is asked, nothing is kept.

    Args:
        plan: As in ``run_plan``, like the arguments that follow; what is done already is not counted.
        store: See ``run_plan``.
        judge: See ``run_plan``.
        base_url: See ``run_plan``.
        limit: See ``run_plan``.
        repeat: See ``run_plan``.
        fresh: See ``run_plan``.

    Returns:
        An entry for each backend and role that would be asked; tokens are estimates.
    """
    suite = load_suite(_checked(plan, judge, base_url, repeat))
    options = RunOptions(limit=limit, fresh=fresh, dry=True)
    if isinstance(store, Store):
        return asyncio.run(_estimate(suite, store, options))
    with open_store(store) as opened:
        return asyncio.run(_estimate(suite, opened, options))


def _checked(plan: Plan | str | Path, judge: str | None, base_url: str | None, repeat: int | None) -> Plan:
    checked = plan if isinstance(plan, Plan) else load_plan(plan)
    if judge is not None:
        checked = with_judge(checked, judge, base_url)
    if repeat is not None:
        if repeat < 1:
            raise ConfigError(f"repeat counts from 1, got {repeat}")
        tasks = [task.model_copy(update={"repeats": repeat}) for task in checked.tasks]
        checked = checked.model_copy(update={"tasks": tasks})
    return checked


async def _estimate(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    desk = RunResources(suite.plan, options, Budget())
    try:
        for order, checkpoint in enumerate(suite.plan.checkpoints):
            await CheckpointRun(suite, store, options, desk, checkpoint, order, datetime.now(UTC)).weigh()
    finally:
        await desk.close()
    found = []
    for (name, role), backend in desk.dry.items():
        cost = total([(desk.price(name), backend.expected)])
        found.append(CostEstimate(backend=name, role=role, usage=backend.expected, cost=cost))
    return found


def with_judge(plan: Plan, judge: str, base_url: str | None = None) -> Plan:
    """Put a model in the place of every judge of a plan.

    Args:
        plan: With at least one judge.
        judge: ``provider/model``, such as ``openai/gpt-4o-mini``.
        base_url: Of an OpenAI-compatible server.

    Raises:
        ConfigError: The name is not ``provider/model``, or there is no judge to replace.
    """
    spec = judge_spec(judge, base_url)
    if not any(task.judges for task in plan.tasks):
        raise ConfigError(f"plan {plan.name!r} has no judges: for {judge} to replace")
    replaced: dict[str, object] = {
        "backend": "--judge",
        "panel": [],
        "quorum": None,
        "judge": "rubric",
        "options": {},
    }
    tasks = [
        task.model_copy(update={"judges": [one.model_copy(update=replaced) for one in task.judges]})
        for task in plan.tasks
    ]
    return plan.model_copy(update={"tasks": tasks, "backends": {**plan.backends, "--judge": spec}})


def judge_spec(judge: str, base_url: str | None = None) -> BackendSpec:
    """Read ``provider/model``.

    Raises:
        ConfigError: It is not that.
    """
    provider, slash, model = judge.partition("/")
    if not slash or not provider or not model:
        raise ConfigError(f"--judge wants PROVIDER/MODEL, such as openai/gpt-4o-mini, got {judge!r}")
    return BackendSpec(provider=provider, model=model, base_url=base_url, params={"temperature": 0})


async def _run_suite(suite: LoadedPlan, store: Store, options: RunOptions, budget: Budget) -> RunResult:
    plan = suite.plan
    desk = RunResources(plan, options, budget)
    store.keep_labels(plan.name, [label for _, label in suite.labels])
    stamp = datetime.now(UTC)
    runs: list[Run] = []
    warnings = list(suite.warnings)
    try:
        with _signals(desk.stopping), _time_limit(desk.stopping, options.time_limit):
            for order, checkpoint in enumerate(plan.checkpoints):
                checkpoint_run = CheckpointRun(suite, store, options, desk, checkpoint, order, stamp)
                runs.append(await checkpoint_run.weigh())
                warnings += checkpoint_run.warnings
    finally:
        await desk.close()
    published = {
        f"{task.spec.name}/{name}"
        for task in suite.tasks
        for names in task.published.values()
        for name in names
    }
    return _result(plan, runs, store, warnings, budget, published)


@contextmanager
def _signals(stopping: asyncio.Event) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM end a run when the calls in flight are answered, the second at once."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if stopping.is_set() and main is not None:
            main.cancel()
        stopping.set()

    caught = []
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):  # on Windows; beside the main thread
            loop.add_signal_handler(name, stop)
            caught.append(name)
    try:
        yield
    finally:
        for name in caught:
            loop.remove_signal_handler(name)


@contextmanager
def _time_limit(stopping: asyncio.Event, seconds: float | None) -> Iterator[None]:
    """End a run when the calls in flight are answered, once its time is up.

    Raises:
        TimeLimitError: That is why it ended.
    """
    if seconds is None:
        yield
        return
    is_over = False

    def stop() -> None:
        nonlocal is_over
        is_over = not stopping.is_set()
        stopping.set()

    timer = asyncio.get_running_loop().call_later(seconds, stop)
    try:
        yield
    except asyncio.CancelledError:
        if is_over:
            raise TimeLimitError(
                f"the time limit of {seconds:g} s is reached; what was weighed is kept, "
                "the same command goes on from there"
            ) from None
        raise
    finally:
        timer.cancel()


def _budget(plan: Plan, limit: float | None) -> Budget:
    if limit is not None:
        unknown = [name for name, spec in plan.used_backends.items() if spec.price is None]
        if unknown:
            raise ConfigError(
                f"a budget needs prices: backend {unknown[0]!r} has none; "
                "add price: {input: ..., output: ...} (of a million tokens)"
            )
    return Budget(limit)


def _result(
    plan: Plan,
    runs: Sequence[Run],
    store: Store,
    warnings: Sequence[str],
    budget: Budget,
    published: Collection[str],
) -> RunResult:
    failures: Counter[str] = Counter()
    dead = []
    for address, statuses in store.statuses(runs).items():
        scored = statuses.pop("ok", 0) + statuses.pop("not_applicable", 0)
        failures.update(statuses)
        if not scored and address not in published:  # an incomplete task is no dead judge
            dead.append(address)
    return RunResult(
        plan=plan.name,
        runs=tuple(runs),
        store=store.name,
        warnings=tuple(warnings),
        failures=dict(failures),
        dead=tuple(dead),
        out_of_budget=budget.stopped,
    )
