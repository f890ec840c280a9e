"""``run_plan`` and ``arun_plan`` evaluate all checkpoints of a plan, with one run for each checkpoint."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from hengwen.engine.metered_backend import Bill, Price
from hengwen.errors import ConfigError, PluginError, TimeLimitError
from hengwen.objective.diversity.compare_sets import compare_sets
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.plan import Plan
from hengwen.plans.suite import LoadedPlan, load_suite
from hengwen.records import Run, Usage
from hengwen.results.coverage import failed_answers
from hengwen.results.decide import Decision, decide_runs
from hengwen.runs.checkpoint_run import CheckpointRun
from hengwen.runs.options import RunOptions
from hengwen.runs.plan_lock import plan_lock
from hengwen.runs.resources import RunResources
from hengwen.store.export import Rows, rows
from hengwen.store.store import Store, opened_store

if TYPE_CHECKING:
    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None
    from pandas import DataFrame


Result = TypeVar("Result")
SIGNAL_SECONDS = 0.2
"""Interval in seconds at which the waiting main thread checks for signals that another thread got."""


class Interrupts:
    """Requests to stop a run: the first sets the run's ``stopping`` event, the second cancels the run."""

    def __init__(self, *, signals: bool) -> None:
        self._signals = (signal.SIGINT, signal.SIGTERM) if signals else ()
        self._requests = 0
        self._run: tuple[asyncio.AbstractEventLoop, Callable[[], None]] | None = None

    def request(self) -> None:
        """Request the run to stop. Any thread may call this method, even before the run has started."""
        self._requests += 1
        if self._run is not None:
            loop, stop = self._run
            loop.call_soon_threadsafe(stop)

    @contextmanager
    def stop_on_request(self, stopping: asyncio.Event) -> Iterator[None]:
        """Set ``stopping`` on the first request, and end the run on the second request."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if stopping.is_set() and task is not None:
                task.cancel()
            stopping.set()

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            if stopping.is_set():
                raise KeyboardInterrupt
            stopping.set()
            loop.call_soon_threadsafe(stopping.is_set)  # wakes the event loop if it waits for the network

        self._run = loop, stop
        if self._requests:
            stop()
        replaced: dict[int, Handler] = {}
        for name in self._signals:
            with suppress(ValueError):  # signals can be set only in the main thread
                replaced[name] = signal.signal(name, on_signal)
        try:
            yield
        finally:
            self._run = None
            for number, handler in replaced.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)


def run_until_complete(
    start: Callable[[Interrupts], Coroutine[object, object, Result]], interrupts: Interrupts | None = None
) -> Result:
    """Run a coroutine to its end, in a separate thread if this thread has a running event loop."""
    try:
        return _run(start) if interrupts is None else asyncio.run(start(interrupts))
    except asyncio.CancelledError:  # the coroutine ended itself after SIGTERM or Ctrl-C
        raise KeyboardInterrupt from None


def _run(start: Callable[[Interrupts], Coroutine[object, object, Result]]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start(Interrupts(signals=True)))
    interrupts = Interrupts(signals=False)
    is_watched = threading.Event()

    def run() -> Result:
        is_watched.wait()
        return asyncio.run(start(interrupts))

    with ThreadPoolExecutor(1, "hengwen-run") as pool:
        try:
            future = pool.submit(run)
        except KeyboardInterrupt:  # interrupted before the run started
            interrupts.request()
            is_watched.set()
            raise
        while not future.done():
            try:
                is_watched.set()
                wait([future], timeout=SIGNAL_SECONDS)
            except KeyboardInterrupt:
                interrupts.request()
        return future.result()


@contextmanager
def stop_after(stopping: asyncio.Event, seconds: float | None) -> Iterator[None]:
    """Set ``stopping`` when a time limit is reached."""
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
                f"the time limit of {seconds:g} s is reached; results are kept, "
                "the same command resumes the run"
            ) from None
        raise
    finally:
        timer.cancel()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult:
    """Runs of a plan with their warnings and failures."""

    plan: str
    """Name of the plan."""
    runs: tuple[Run, ...]
    """Runs in training order."""
    store: str
    """Path or URL of the store."""
    warnings: tuple[str, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)
    """Number of failures by status, without ``not_applicable``. A missing answer counts once, and so does a
    scorer or judge that failed on an answer, whatever the number of its scores."""
    first_messages: dict[str, str] = field(default_factory=dict)
    """For each status in ``failures``, the message of the first failure that has a message."""
    unscored: tuple[str, ...] = ()
    """Names (TASK/SCORE) of scores that failed for every answer."""
    out_of_budget: bool = False
    """Whether calls were skipped because they might have exceeded the budget."""
    unreachable: tuple[str, ...] = ()
    """Endpoints that were given up, because their calls failed for too long."""
    decision: Decision | None = None
    """Which checkpoint to ship; None if no run was made."""
    bill: Bill = field(default_factory=Bill)
    """What the calls of this command have used and cost; replies that the store already had cost nothing."""

    def __repr__(self) -> str:
        failed = sum(self.failures.values())
        return (
            f"RunResult(plan={self.plan!r}, runs={len(self.runs)}, failures={failed}, store={self.store!r})"
        )

    def _repr_html_(self) -> str:
        """Return the runs as a table, which notebooks show."""
        rows = "".join(
            f"<tr><td>{escape(run.checkpoint)}</td><td>{'' if run.step is None else run.step}</td>"
            f"<td>{run.status}</td><td>{escape(run.id)}</td></tr>"
            for run in self.runs
        )
        head = "<tr><th>checkpoint</th><th>step</th><th>status</th><th>run</th></tr>"
        return f"<p>{escape(repr(self))}</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def rows(self, store: Store | None = None) -> Rows:
        """Return every answer of the runs with every score; see ``hengwen.rows``.

        Args:
            store: The open store; default: the store is opened again, which is not possible in memory.
        """
        if store is None and self.store.startswith("sqlite://") and not self.store.removeprefix("sqlite://"):
            raise ConfigError("a store in memory is gone when it is closed; pass the open store")
        return rows(self.store if store is None else store, self.runs)

    def to_frame(self, store: Store | None = None) -> DataFrame:
        """Return the rows of ``rows`` as a data frame of pandas.

        Args:
            store: The open store; default: the store is opened again, which is not possible in memory.

        Raises:
            PluginError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise PluginError("a data frame needs pandas: pip install pandas") from None
        frame: DataFrame = pd.DataFrame(self.rows(store).to_dict())
        return frame


def run_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    repeat: int | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> RunResult:
    """Evaluate all checkpoints of a plan; results that the store already has are reused.

    If an event loop is already running, as in a notebook, the run uses a separate thread.

    Args:
        plan: A plan, or the path of a plan.
        store: An open store, or the path or URL of a store.
        judge: ``PROVIDER/MODEL`` that replaces the model of every judge, such as ``openai/gpt-4o-mini``, or
            ``rules`` for the rules judge, which needs no key.
        base_url: URL of an OpenAI-compatible server for ``judge``.
        repeat: Number of answers to generate for each sample, instead of the plan's ``repeats``.
        options: How the plan is run, such as a budget or the number of concurrent calls; see ``RunOptions``.
        trust: Whether the plan may run code that it names, and use environment variables other than
            ``*_API_KEY``.

    Returns:
        The runs, their warnings and failures.

    Raises:
        ConfigError: The plan or an option is wrong, or the plan needs trust.
        DataError: A file of the plan is wrong.
        StoreError: The store failed; committed data is kept.
        StoreBusyError: Another process runs the plan in this store, and ``options.wait`` is not set.
        TimeLimitError: The time limit is reached; calling this function again resumes the run.
        KeyboardInterrupt: The run was interrupted; calling this function again resumes it.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import RunOptions, open_store, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     result = run_plan(plan, store=store, options=RunOptions(limit=1))
        >>> [(run.checkpoint, run.status) for run in result.runs][0]
        ('ckpt-1000', 'finished')
    """
    resolved = resolve_plan(plan, judge=judge, base_url=base_url, repeat=repeat)
    return run_resolved(resolved, store, options or RunOptions(), trust=trust)


async def arun_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    repeat: int | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> RunResult:
    """Evaluate all checkpoints of a plan, like ``run_plan``, but in the running event loop.

    Arguments, result and errors are those of ``run_plan``. No signal handlers are installed: to interrupt the
    run, cancel the task, which raises CancelledError.

    Examples:
        >>> import asyncio
        >>> from importlib.resources import files
        >>> from hengwen import RunOptions, arun_plan, open_store
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     result = asyncio.run(arun_plan(plan, store=store, options=RunOptions(limit=1)))
        >>> [(run.checkpoint, run.status) for run in result.runs][0]
        ('ckpt-1000', 'finished')
    """
    suite = load_suite(resolve_plan(plan, judge=judge, base_url=base_url, repeat=repeat), trust=trust)
    with opened_store(store) as opened:
        resources = RunResources(suite, opened, options or RunOptions())
        return await _run_suite(resources, Interrupts(signals=False))


def run_resolved(
    plan: Plan,
    store: Store | str | Path,
    options: RunOptions,
    *,
    trust: bool = False,
    interrupts: Interrupts | None = None,
    checkpoints: Collection[str] | None = None,
) -> RunResult:
    """Evaluate the checkpoints of a plan to which overrides (such as another judge) are already applied."""
    suite = load_suite(plan, trust=trust)
    with opened_store(store) as opened:

        def start(signals: Interrupts) -> Coroutine[object, object, RunResult]:
            resources = RunResources(suite, opened, options, checkpoints=checkpoints)
            return _run_suite(resources, signals)

        return run_until_complete(start, interrupts)


async def _run_suite(resources: RunResources, interrupts: Interrupts) -> RunResult:
    async with run_session(resources, interrupts):
        runs, warnings = await _evaluate(resources)
    return run_result(resources, runs, [*resources.suite.warnings, *warnings])


@asynccontextmanager
async def run_session(resources: RunResources, interrupts: Interrupts) -> AsyncIterator[None]:
    """Make a run stoppable, hold the lock of its plan, and close its resources at the end."""
    stopping = resources.stopping
    try:
        with interrupts.stop_on_request(stopping), stop_after(stopping, resources.options.time_limit):
            plan, wait = resources.suite.plan.name, resources.options.wait
            lock = nullcontext() if resources.dry else plan_lock(resources.store, plan, stopping, wait=wait)
            async with lock:
                yield
    finally:
        await resources.close()


async def _evaluate(resources: RunResources) -> tuple[list[Run], list[str]]:
    runs: list[Run] = []
    warnings: list[str] = []
    for order, checkpoint in enumerate(resources.suite.plan.checkpoints):
        if resources.checkpoints is None or checkpoint.name in resources.checkpoints:
            checkpoint_run = CheckpointRun(resources, order)
            runs.append(await checkpoint_run.execute())
            warnings += checkpoint_run.warnings
    return runs, warnings


def decide_stored(store: Store, runs: Sequence[Run]) -> Decision:
    """Return which checkpoint of stored runs to ship."""
    table = store.table(runs)
    return decide_runs(runs, table, lambda ordered: compare_sets(store.responses, ordered, table))


def run_result(resources: RunResources, runs: Sequence[Run], warnings: Sequence[str]) -> RunResult:
    """Return the runs with their numbers of failures, which the store counts."""
    suite, store = resources.suite, resources.store
    statuses = store.statuses(runs)
    failures = failed_answers(statuses)
    unscored = [
        score.address
        for score, counts in statuses.items()
        # scores of whole tasks fail if an answer is missing
        if not counts["ok"] + counts["not_applicable"] and score.role != "task"
    ]
    return RunResult(
        plan=suite.plan.name,
        decision=decide_stored(store, runs) if runs else None,
        runs=tuple(runs),
        store=store.name,
        warnings=tuple(warnings),
        failures=dict(failures),
        first_messages={
            status: message for status, message in store.first_messages(runs).items() if status in failures
        }
        if failures
        else {},
        unscored=tuple(unscored),
        out_of_budget=resources.budget.stopped,
        unreachable=resources.unreachable,
        bill=resources.budget.bill(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Estimated calls, tokens and cost of one backend in one role (model under test, or judge)."""

    backend: str
    role: str
    usage: Usage
    cost: float | None
    """Cost at ``price``; None if the price is unknown."""
    price: Price | None


def estimate_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    repeat: int | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of ``run_plan`` with the same arguments, without any call."""
    suite = load_suite(resolve_plan(plan, judge=judge, base_url=base_url, repeat=repeat), trust=trust)
    with opened_store(store) as opened:
        return estimate_suite(suite, opened, options or RunOptions())


def estimate_suite(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of the run of a loaded plan; see ``estimate_plan``."""
    return run_until_complete(lambda _: _estimate(suite, store, options))


async def _estimate(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    resources = RunResources(suite, store, options, dry=True)
    await walk(resources)
    return estimates_of(resources)


async def walk(resources: RunResources) -> None:
    """Evaluate all checkpoints in a dry run."""
    try:
        for order in range(len(resources.suite.plan.checkpoints)):
            await CheckpointRun(resources, order).execute()
    finally:
        await resources.close()


def estimates_of(resources: RunResources) -> list[CostEstimate]:
    """Return the estimates of a dry run for each backend and role; models under test come first."""
    names = sorted(resources.dry_backends, key=lambda key: key[1] == "judge")
    estimates = []
    for name, role in names:
        usage, price = resources.dry_backends[name, role].expected, resources.price(name)
        unknown = None if usage.calls else 0.0
        cost = unknown if price is None else price.cost(usage)
        estimates.append(CostEstimate(backend=name, role=role, usage=usage, cost=cost, price=price))
    return estimates
