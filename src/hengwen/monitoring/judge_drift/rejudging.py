"""``rejudge`` judges the stored answers of an earlier checkpoint again, with the judges of a plan.

The new verdicts are stored in a separate run, which names the judged run (``Run.rejudges``). Therefore the
new verdicts never appear among the scores of a checkpoint: not in reports, comparisons, labels or exit codes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError
from hengwen.monitoring.judge_drift.rejudging_run import RejudgingRun
from hengwen.monitoring.judge_drift.run_pair import RunPair, choose_runs
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.suite import LoadedPlan, load_judges
from hengwen.runs.estimate_plan import estimates_of
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.runs.run_plan import opened_store, run_result, run_session
from hengwen.runs.stopping import Interrupts, run_until_complete

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.plans.plan import Plan
    from hengwen.runs.estimate_plan import CostEstimate
    from hengwen.runs.run_plan import RunResult
    from hengwen.store.store import Store


def rejudge(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    before: str | None = None,
    after: str | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> RunResult:
    """Judge the stored answers of an earlier checkpoint again; ``judge_drift`` compares old and new verdicts.

    Replies that the judges gave in earlier runs are not reused. A second call of ``rejudge`` with the same
    runs and judges pays only for answers without a new verdict, for example after an interruption.
    Prompts whose text, references or metadata have changed in the plan are skipped.

    Args:
        plan: The plan, or its path. The judges of the plan are used; its checkpoints are not evaluated.
        store: An open store, or the path or URL of a store.
        before: The run whose answers are judged again: an id, the start of an id, or a checkpoint name;
            default: the pinned baseline of the plan, or else the checkpoint before ``after``.
        after: The later run, with which the earlier run will be compared; default: the run of the last
            checkpoint.
        judge: ``PROVIDER/MODEL`` that replaces the model of every judge; ``rules`` replaces every judge by
            fixed rules, which call no model. Use the judge of the later run: only then can the answers of
            both runs be compared.
        base_url: URL of an OpenAI-compatible server for ``judge``.
        options: How the judges are called; see ``RunOptions``. With ``fresh``, all answers are judged once
            more, even if they already have new verdicts.
        trust: Whether the plan may run code that it names, and use environment variables other than
            ``*_API_KEY``.

    Returns:
        The run that has the new verdicts, with warnings and failures.

    Raises:
        ConfigError: The plan, a run or an option is wrong; the plan has no judges; or there is no earlier run
            with stored answers.
        DataError: A file of the plan is wrong.
        StoreError: The store failed; committed data is kept.
        StoreBusyError: Another process runs the plan in this store, and ``options.wait`` is not set.
        TimeLimitError: The time limit is reached; the same call resumes.
        KeyboardInterrupt: The call was interrupted; the same call resumes.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, rejudge, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(plan, store=store)
        ...     result = rejudge(plan, store=store)
        >>> result.runs[0].checkpoint, result.runs[0].status
        ('ckpt-3000', 'finished')
    """
    suite = _judges_only(resolve_plan(plan, judge=judge, base_url=base_url), trust=trust)
    with opened_store(store) as opened:
        pair = choose_runs(opened, before, after, suite.plan.name)
        start = partial(_rejudge, suite, opened, options or RunOptions(), pair)
        return run_until_complete(start)


def estimate_rejudging(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    before: str | None = None,
    after: str | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of ``rejudge`` with the same arguments, without any call."""
    suite = _judges_only(resolve_plan(plan, judge=judge, base_url=base_url), trust=trust)
    with opened_store(store) as opened:
        pair = choose_runs(opened, before, after, suite.plan.name)
        resources = RunResources(suite, opened, options or RunOptions(), dry=True)
        return run_until_complete(lambda _: _estimate(resources, pair))


def _judges_only(plan: Plan, *, trust: bool) -> LoadedPlan:
    """Load the tasks and judges of a plan; raise an error if the plan has no judges."""
    if not any(task.judges for task in plan.tasks):
        raise ConfigError(
            f"plan {plan.name!r} has no judges, so there is nothing to judge again; "
            "add judges to a task, or pass the plan that has them"
        )
    return load_judges(plan, trust=trust)


async def _rejudge(
    suite: LoadedPlan, store: Store, options: RunOptions, pair: RunPair, interrupts: Interrupts
) -> RunResult:
    resources = RunResources(suite, store, options)
    async with run_session(resources, interrupts):
        rejudging = RejudgingRun(resources, pair)
        run = await rejudging.execute()
    return run_result(resources, [run], rejudging.warnings)


async def _estimate(resources: RunResources, pair: RunPair) -> list[CostEstimate]:
    try:
        await RejudgingRun(resources, pair).execute()
    finally:
        await resources.close()
    return estimates_of(resources)
