"""``run_plan``: a plan, the engine and a store; one run for each checkpoint."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hengwen.checkpoint_run import CheckpointRun, Options
from hengwen.errors import ConfigError
from hengwen.plan import BackendSpec, Plan, load_plan
from hengwen.store.store import Store, open_store
from hengwen.suite import Suite, build_backend, load_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hengwen.records import Run
    from hengwen.table import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of a plan."""

    plan: str
    runs: tuple[Run, ...]
    """In training order."""
    store: str
    table: ScoreTable
    warnings: tuple[str, ...] = ()
    failures: dict[str, int] = field(default_factory=dict)
    """Failed outcomes by status, without ``not_applicable``."""
    dead: tuple[str, ...] = ()
    """Scores (TASK/SCORE) of which there is not one, only failures."""


def run_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    concurrency: int = 16,
    limit: int | None = None,
    fresh: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> RunResult:
    """Weigh all checkpoints of a plan; what the store has already is not weighed again.

    Args:
        plan: A plan or the path of one.
        store: A store, the path of one, or its URL.
        judge: ``openai/MODEL`` in the place of every judge of the plan.
        base_url: Of an OpenAI-compatible server, for ``judge``.
        concurrency: Calls in flight, and samples in work, at the same time.
        limit: Weigh only the first so many samples of each task.
        fresh: Start again: no row and no call of before is used.
        progress: Called with (checkpoint, samples done, samples in all).

    Returns:
        The runs and their rows.

    Raises:
        ConfigError: The plan is wrong.
        DataError: A file that it names is wrong.
        StoreError: The store failed; what was committed is kept.
        KeyboardInterrupt: It was interrupted; the same call goes on from there.
    """
    checked = plan if isinstance(plan, Plan) else load_plan(plan)
    if judge is not None:
        checked = with_judge(checked, judge, base_url)
    suite = load_suite(checked)
    options = Options(concurrency=max(1, concurrency), limit=limit, fresh=fresh, progress=progress)
    if isinstance(store, Store):
        return _run_now(suite, store, options)
    with open_store(store) as opened:
        return _run_now(suite, opened, options)


def _run_now(suite: Suite, store: Store, options: Options) -> RunResult:
    try:
        return asyncio.run(_run_suite(suite, store, options))
    except asyncio.CancelledError:  # SIGTERM ends a run as Ctrl-C does
        raise KeyboardInterrupt from None


def with_judge(plan: Plan, judge: str, base_url: str | None = None) -> Plan:
    """Put a model in the place of every judge of a plan.

    Args:
        plan: With at least one judge.
        judge: ``provider/model``, such as ``openai/gpt-4o-mini``.
        base_url: Of an OpenAI-compatible server.

    Raises:
        ConfigError: The name is not ``provider/model``, or there is no judge to replace.
    """
    provider, slash, model = judge.partition("/")
    if not slash or not provider or not model:
        raise ConfigError(f"--judge wants PROVIDER/MODEL, such as openai/gpt-4o-mini, got {judge!r}")
    if not any(task.judges for task in plan.tasks):
        raise ConfigError(f"plan {plan.name!r} has no judges: for {judge} to replace")
    spec = BackendSpec(provider=provider, model=model, base_url=base_url, params={"temperature": 0})
    tasks = [
        task.model_copy(
            update={
                "judges": [
                    one.model_copy(update={"backend": "--judge", "judge": "rubric", "options": {}})
                    for one in task.judges
                ]
            }
        )
        for task in plan.tasks
    ]
    return plan.model_copy(update={"tasks": tasks, "backends": {**plan.backends, "--judge": spec}})


async def _run_suite(suite: Suite, store: Store, options: Options) -> RunResult:
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    with suppress(
        NotImplementedError, RuntimeError, ValueError
    ):  # not on Windows, not beside the main thread
        loop.add_signal_handler(signal.SIGTERM, main.cancel if main else lambda: None)
    plan = suite.plan
    backends = {name: build_backend(spec) for name, spec in _used_backends(plan).items()}
    store.keep_labels(plan.name, [label for _, label in suite.labels])
    stamp = datetime.now(UTC)
    runs: list[Run] = []
    warnings = list(suite.warnings)
    try:
        for order, checkpoint in enumerate(plan.checkpoints):
            checkpoint_run = CheckpointRun(suite, store, options, backends, checkpoint, order, stamp)
            runs.append(await checkpoint_run.weigh())
            warnings += checkpoint_run.warnings
    finally:
        for backend in backends.values():
            await backend.close()
    return _result(plan, runs, store, warnings)


def _used_backends(plan: Plan) -> dict[str, BackendSpec]:
    used = {judge.backend for task in plan.tasks for judge in task.judges}
    used |= {checkpoint.backend for checkpoint in plan.checkpoints}
    return {name: spec for name, spec in plan.backends.items() if name in used}


def _result(plan: Plan, runs: Sequence[Run], store: Store, warnings: Sequence[str]) -> RunResult:
    table = store.table(runs)
    failures: Counter[str] = Counter()
    scored: dict[str, bool] = {}
    for key, column in table.series.items():
        statuses = Counter(column.statuses)
        good = statuses.pop("ok", 0) + statuses.pop("not_applicable", 0)
        failures.update(statuses)
        scored[key.address] = scored.get(key.address, False) or good > 0
    return RunResult(
        plan=plan.name,
        runs=tuple(runs),
        store=store.name,
        table=table,
        warnings=tuple(warnings),
        failures=dict(failures),
        dead=tuple(address for address, good in scored.items() if not good),
    )
