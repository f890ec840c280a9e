"""Judge the stored answers of an earlier run again, and record the verdicts in a separate run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hengwen.engine.committer import Committer
from hengwen.engine.dry_run import DryLedger
from hengwen.engine.job import Job, TaskJob
from hengwen.engine.metered_backend import CallContext
from hengwen.errors import ConfigError
from hengwen.monitoring.judge_drift.run_pair import rejudging_for
from hengwen.records import Run, digest_of
from hengwen.runs.run_facts import scoring_versions
from hengwen.runs.run_job import package_versions, run_job
from hengwen.score_id import judged_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.judge_drift.run_pair import RunPair
    from hengwen.plans.suite import LoadedTask
    from hengwen.protocols import Judge, Ledger
    from hengwen.records import Reducer, Response, Sample
    from hengwen.runs.resources import RunResources


@dataclass(slots=True)
class _TaskAnswers:
    """Stored answers of one task, and the samples that they answer."""

    task: LoadedTask
    samples: list[Sample]
    responses: Mapping[str, Sequence[Response]]

    def for_sample(self, sample_id: str) -> Sequence[Response]:
        return self.responses[sample_id]


class RejudgingRun:
    """A run that judges the stored answers of the earlier of two runs again."""

    def __init__(self, resources: RunResources, pair: RunPair) -> None:
        if pair.before is None:
            raise ConfigError(
                f"no checkpoint before {pair.after.checkpoint} in {resources.store.name} whose answers could "
                "be judged again; name an earlier run (--before), or run another checkpoint first: hengwen "
                "run"
            )
        self._resources = resources
        self._pair = pair
        self._before = pair.before
        self.warnings: list[str] = []
        self._answers = self._stored_answers()

    def _stored_answers(self) -> list[_TaskAnswers]:
        """Return the earlier run's answers to the prompts that are still the same in the plan."""
        store = self._resources.store
        hashes = store.sample_hashes(self._before)
        responses: dict[str, dict[str, list[Response]]] = defaultdict(lambda: defaultdict(list))
        for response in store.responses(self._before):
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
                f"no answers of {self._before.checkpoint} ({self._before.id}) to judge again: {reason}, or "
                "name another earlier run"
            )
        if skipped:
            noun = "1 prompt" if skipped == 1 else f"{skipped} prompts"
            self.warnings.append(
                f"{self._before.checkpoint}: skipped {noun}, changed or removed in the plan since the run"
            )
        return answers

    async def execute(self) -> Run:
        """Judge the answers and return the run that has the verdicts."""
        resources = self._resources
        ledger: Ledger = resources.store.ledger()
        if resources.dry:
            ledger = DryLedger(ledger)
        committer = Committer(ledger)
        new_id = resources.new_run_id()
        context = CallContext(ledger, committer, new_id, resources.budget, resources.stopping)
        run = self._begin(new_id, [self._judges(context, task, "") for task in self._answers])
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

    def _begin(self, new_id: str, judges: Sequence[Sequence[Judge]]) -> Run:
        """Return the run to resume, or a new one."""
        before, suite, plan_hash = self._before, self._resources.suite, self._plan_hash(judges)
        earlier = rejudging_for(self._resources.store, self._pair)
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
            facts=self._facts(),
            status="running",
        )

    def _facts(self) -> dict[str, Any]:
        """The settings to store with this run: those of the earlier run, but with the present judges."""
        before: Mapping[str, Any] = self._before.facts
        facts = {"for_run": self._pair.after.id}
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
