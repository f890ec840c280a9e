"""``rejudge`` judges the stored answers of an earlier checkpoint again, twice, with the judges of a plan.

The verdicts of each pass are in a run of their own, which names the judged run (``Run.rejudges``), and so
never among the scores of a checkpoint. The old judge, where it still answers, judges the later answers once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from hengwen.engine.job import Job, TaskJob
from hengwen.engine.metered_backend import CallContext, Committer, DryLedger
from hengwen.errors import ConfigError
from hengwen.monitoring.judge_drift.report import (
    CROSSED,
    PASSES,
    RunPair,
    choose_runs,
    crossed_pair,
    rejudging_for,
)
from hengwen.plans.overrides import is_plan_path, resolve_plan
from hengwen.plans.plan import Plan
from hengwen.plans.suite import LoadedPlan, LoadedTask, load_judges
from hengwen.protocols import Judge, Ledger
from hengwen.records import Reducer, Response, Run, Sample, digest_of
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.runs.run_job import package_versions, run_job
from hengwen.runs.run_plan import (
    CostEstimate,
    Interrupts,
    RunResult,
    estimates_of,
    run_result,
    run_session,
    run_until_complete,
)
from hengwen.runs.task_scores import scoring_versions
from hengwen.score_id import judged_scores
from hengwen.store.store import Store, opened_store


def rejudge(  # noqa: PLR0913 - keyword-only options
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    before: str | Run | None = None,
    after: str | Run | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    old_judge: Plan | str | Path | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> RunResult:
    """Judge the stored answers of an earlier checkpoint twice again, for ``judge_drift`` to compare.

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
        old_judge: The judge of the earlier run, where it still answers; it judges the later answers once.
            ``PROVIDER/MODEL``, or the plan (or its path, ``*.yaml``) that has the old judge with its settings
            and its price.
        options: How the judges are called; see ``RunOptions``. With ``fresh``, all answers are judged once
            more, even if they already have new verdicts.
        trust: Whether the plan may run code that it names, and use environment variables other than
            ``*_API_KEY``.

    Returns:
        The two runs that have the new verdicts, and that of the old judge if there is one, with warnings and
        failures; fewer if a run was stopped.

    Raises:
        ConfigError: The plan, a run or an option is wrong; the plan has no judges; there is no earlier run
            with stored answers; or ``old_judge`` is not the judge of the earlier run.
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
        >>> [(run.checkpoint, run.status) for run in result.runs]
        [('ckpt-3000', 'finished'), ('ckpt-3000', 'finished')]
    """
    suites = _suites(plan, judge, base_url, old_judge, trust=trust)
    with opened_store(store) as opened:
        pair = choose_runs(opened, before, after, suites[0].plan.name)
        start = partial(_rejudge, suites, opened, options or RunOptions(), pair)
        return run_until_complete(start)


def estimate_rejudging(  # noqa: PLR0913 - keyword-only options
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    before: str | Run | None = None,
    after: str | Run | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    old_judge: Plan | str | Path | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of ``rejudge`` with the same arguments, without any call."""
    suites = _suites(plan, judge, base_url, old_judge, trust=trust)
    with opened_store(store) as opened:
        pair = choose_runs(opened, before, after, suites[0].plan.name)
        resources = _resources(suites, opened, options or RunOptions(), dry=True)
        return run_until_complete(lambda _: _estimate(resources, pair))


def _suites(
    plan: Plan | str | Path,
    judge: str | None,
    base_url: str | None,
    old_judge: Plan | str | Path | None,
    *,
    trust: bool,
) -> list[LoadedPlan]:
    """Load the plan with the present judges and, if it is named, that with the old judge."""
    plans = [resolve_plan(plan, judge=judge, base_url=base_url)]
    if isinstance(old_judge, str) and not is_plan_path(old_judge):
        plans.append(resolve_plan(plan, judge=old_judge))
    elif old_judge is not None:
        plans.append(resolve_plan(old_judge))
    return [_judges_only(item, trust=trust) for item in plans]


def _resources(
    suites: Sequence[LoadedPlan], store: Store, options: RunOptions, *, dry: bool = False
) -> list[RunResources]:
    """Return the resources of both plans, which share one budget and end together."""
    first = RunResources(suites[0], store, options, dry=dry)
    return [first, *(RunResources(suite, store, options, dry=dry, within=first) for suite in suites[1:])]


def _judges_only(plan: Plan, *, trust: bool) -> LoadedPlan:
    """Load the tasks and judges of a plan; raise an error if the plan has no judges."""
    if not any(task.judges for task in plan.tasks):
        raise ConfigError(
            f"plan {plan.name!r} has no judges, so there is nothing to judge again; "
            "add judges to a task, or pass the plan that has them"
        )
    return load_judges(plan, trust=trust)


async def _rejudge(
    suites: Sequence[LoadedPlan], store: Store, options: RunOptions, pair: RunPair, interrupts: Interrupts
) -> RunResult:
    resources = _resources(suites, store, options)
    runs: list[Run] = []
    async with run_session(resources[0], interrupts):
        try:
            rejudging = _rejudging_runs(resources, pair)
            for item, number in rejudging:
                if all(run.status == "finished" for run in runs):
                    runs.append(await item.execute(number))
        finally:
            for other in resources[1:]:
                await other.close()
    warnings = dict.fromkeys(warning for item, _ in rejudging for warning in item.warnings)
    unreachable = dict.fromkeys(endpoint for item in resources for endpoint in item.unreachable)
    return replace(run_result(resources[0], runs, [*warnings]), unreachable=tuple(unreachable))


async def _estimate(resources: Sequence[RunResources], pair: RunPair) -> list[CostEstimate]:
    try:
        for item, number in _rejudging_runs(resources, pair):
            await item.execute(number)
    finally:
        for used in resources:
            await used.close()
    return [estimate for used in resources for estimate in estimates_of(used)]


def _rejudging_runs(resources: Sequence[RunResources], pair: RunPair) -> list[tuple[RejudgingRun, int]]:
    """Return the passes of the present judge and then that of the old one, each with its number."""
    again = RejudgingRun(resources[0], pair)
    passes = [(again, number) for number in PASSES]
    for old in resources[1:]:
        crossed = RejudgingRun(old, crossed_pair(pair))
        crossed.check_judges_of(again.judged)
        passes.append((crossed, CROSSED))
    return passes


@dataclass(slots=True)
class _TaskAnswers:
    """Stored answers of one task, and the samples that they answer."""

    task: LoadedTask
    samples: list[Sample]
    responses: Mapping[str, Sequence[Response]]

    def for_sample(self, sample_id: str) -> Sequence[Response]:
        return self.responses[sample_id]


class RejudgingRun:
    """Runs that judge the stored answers of the earlier of two runs again."""

    def __init__(self, resources: RunResources, pair: RunPair) -> None:
        if pair.before is None:
            raise ConfigError(
                f"no checkpoint before {pair.after.checkpoint} in {resources.store.name} whose answers could "
                "be judged again; name an earlier run (--before), or run another checkpoint first: hengwen "
                "run"
            )
        self._resources = resources
        self._pair = pair
        self.judged = pair.before
        """Run whose answers are judged again."""
        self.warnings: list[str] = []
        self._answers = self._stored_answers()

    def _stored_answers(self) -> list[_TaskAnswers]:
        """Return the earlier run's answers to the prompts that are still the same in the plan."""
        store = self._resources.store
        hashes = store.sample_hashes(self.judged)
        responses: dict[str, dict[str, list[Response]]] = defaultdict(lambda: defaultdict(list))
        for response in store.responses(self.judged):
            responses[response.task][response.sample_id].append(response)
        answers = []
        skipped = 0
        for task in self._resources.suite.tasks:
            if not task.panel:
                continue
            by_sample, known = responses[task.spec.name], task.samples.samples
            samples = [
                known[name]
                for name in by_sample
                if name in known and known[name].hash == hashes[task.spec.name, name]
            ]
            skipped += len(by_sample) - len(samples)
            answers.append(_TaskAnswers(task, samples, by_sample))
        if not any(item.samples for item in answers):
            reason = (
                "its prompts are not those of the plan; pass the plan that the run was made with"
                if skipped
                else "the store has none for tasks with judges; run it again: hengwen run"
            )
            raise ConfigError(
                f"no answers of {self.judged.checkpoint} ({self.judged.id}) to judge again: {reason}, or "
                "name another earlier run"
            )
        if skipped:
            noun = "1 prompt" if skipped == 1 else f"{skipped} prompts"
            self.warnings.append(
                f"{self.judged.checkpoint}: skipped {noun}, changed or removed in the plan since the run"
            )
        return answers

    def check_judges_of(self, run: Run) -> None:
        """Raise an error if none of the judges has judged a run."""
        resources = self._resources
        ledger = DryLedger(resources.store.ledger())
        context = CallContext(ledger, Committer(ledger), "", resources.budget, resources.stopping)
        built = {judge.signature for task in self._answers for judge in self._judges(context, task, "")}
        known = {
            signature
            for key, column in resources.store.table([run]).series.items()
            if key.kind == "judge"
            for signature in column.signatures
        }
        if not built & known:
            raise ConfigError(
                f"the old judge did not judge {run.checkpoint}: it is {', '.join(sorted(built))}, "
                f"and the judge of {run.checkpoint} was {', '.join(sorted(known)) or 'none'}"
            )

    async def execute(self, number: int) -> Run:
        """Judge the answers in one pass and return the run that has its verdicts."""
        resources = self._resources
        ledger: Ledger = resources.store.ledger()
        if resources.dry:
            ledger = DryLedger(ledger)
        committer = Committer(ledger)
        new_id = resources.new_run_id()
        context = CallContext(ledger, committer, new_id, resources.budget, resources.stopping)
        run = self._begin(number, new_id, [self._judges(context, task, "") for task in self._answers])
        context.run_id = run.id
        ledger.begin(run)
        ledger.commit()
        # the cache scope is this run, so stored replies of other runs are not reused
        tasks = [self._task_job(task, self._judges(context, task, run.id)) for task in self._answers]
        # with ``fresh``, rows of other runs are not copied into this run
        return await run_job(Job(run=run, tasks=tasks, fresh=True), ledger, committer, resources)

    def _judges(self, context: CallContext, task: _TaskAnswers, cache_scope: str) -> list[Judge]:
        return self._resources.judges(context, task.task, cache_scope)

    def _task_job(self, task: _TaskAnswers, judges: Sequence[Judge]) -> TaskJob:
        return TaskJob(name=task.task.spec.name, samples=task.samples, answers=task.for_sample, judges=judges)

    def _plan_hash(self, judges: Sequence[Sequence[Judge]]) -> str:
        """Return a hash of the answers and judges; only a run with an equal hash is resumed."""
        return digest_of(
            [
                *(judge.signature for task in judges for judge in task),
                *(
                    [sample.hash, [response.text for response in task.for_sample(sample.id)]]
                    for task in self._answers
                    for sample in task.samples
                ),
            ]
        )

    def _begin(self, number: int, new_id: str, judges: Sequence[Sequence[Judge]]) -> Run:
        """Return the run to resume, or a new one."""
        before, suite, plan_hash = self.judged, self._resources.suite, self._plan_hash(judges)
        earlier = rejudging_for(self._resources.store, self._pair, number)
        if earlier is None or earlier.plan_hash != plan_hash or self._resources.options.fresh:
            earlier = Run(
                id=new_id,
                plan=before.plan,
                plan_hash=plan_hash,
                checkpoint=before.checkpoint,
                order=before.order,
                step=before.step,
                started=datetime.now(UTC).isoformat(timespec="microseconds"),
                versions=package_versions(),
                rejudges=before.id,
            )
        reducers: dict[str, Reducer] = {task.spec.name: task.spec.repeat_reducer for task in suite.tasks}
        return replace(
            earlier,
            seed=suite.plan.seed,
            score_order=tuple(
                score.address
                for answers, built in zip(self._answers, judges, strict=True)
                for score in judged_scores(answers.task.spec.name, built)
            ),
            reducers={name: reducer for name, reducer in reducers.items() if reducer != "mean"},
            facts=self._facts(number),
            status="running",
        )

    def _facts(self, number: int) -> dict[str, Any]:
        """The settings to store with this run: those of the earlier run, but with the present judges."""
        before: Mapping[str, Any] = self.judged.facts
        facts: dict[str, Any] = {"for_run": self._pair.after.id, "pass": number}
        if not before:  # runs by older versions of Hengwen did not store their settings
            return facts
        changed = {
            answers.task.spec.name: {
                "judges": self._resources.facts.judges(answers.task),
                "reducer": answers.task.spec.repeat_reducer,
            }
            for answers in self._answers
        }
        tasks = {name: {**task, **changed.get(name, {})} for name, task in before["tasks"].items()}
        return {**before, "versions": dict(scoring_versions()), "tasks": tasks, **facts}
