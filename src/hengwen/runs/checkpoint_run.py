"""Evaluate one checkpoint of a plan, in a new run or in an earlier run that is resumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from hengwen.engine.job import Job, Target, TaskJob
from hengwen.engine.metered_backend import CallContext, Committer
from hengwen.plans.datasets import ResponseSet
from hengwen.plans.plan import CheckpointSpec, PromptSpec
from hengwen.plans.suite import LoadedPlan, LoadedTask
from hengwen.protocols import Backend, Judge, Ledger
from hengwen.records import Failure, Reducer, Response, Run, Sample, digest, digest_of
from hengwen.runs.resources import RunResources
from hengwen.runs.run_job import package_versions, run_job
from hengwen.runs.task_scores import TaskScore, human_rows, published_rows, scoring_versions
from hengwen.score_id import FINAL, ScoreId, judged_scores, scores_of


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A task of the plan, together with its judges as they were built for one run."""

    task: LoadedTask
    judges: Sequence[Judge]


def resumes(earlier: Run, new_hash: str, *, fresh: bool, has_anchors: bool) -> bool:
    """Whether to resume an earlier run of the same plan and checkpoint instead of starting a new one."""
    return (
        earlier.plan_hash == new_hash
        and earlier.facts.get("versions") == scoring_versions()
        and not fresh
        and not (has_anchors and earlier.status == "finished")
    )


def plan_hash(
    suite: LoadedPlan,
    checkpoint: CheckpointSpec,
    tasks: Sequence[JudgedTask],
    responses: ResponseSet,
    backends: Mapping[str, Backend],
) -> str:
    """Return a hash of what determines a run's scores, except package versions; file paths do not matter."""
    parts = [
        [
            judged.task.spec.name,
            digest_of(sample.hash for sample in judged.task.samples.samples.values()),
            [scorer.signature for scorer in judged.task.scorers],
            [scorer.signature for scorer in judged.task.set_scorers],
            [judge.signature for judge in judged.judges],
            [judged.task.spec.prompt, judged.task.spec.repeats] if checkpoint.backend else None,
        ]
        for judged in tasks
    ]
    answers = digest_of((r.task, r.sample_id, r.repeat, r.text) for r in responses)
    target = backends[checkpoint.backend].signature if checkpoint.backend else None
    labels = [label for _, label in (*suite.labels, *suite.anchors)]
    return digest(suite.plan.name, checkpoint.name, parts, answers, target, checkpoint.prompt, labels)


class CheckpointRun:
    """The evaluation of one checkpoint of a plan."""

    def __init__(self, resources: RunResources, order: int) -> None:
        self._resources = resources
        self._suite = resources.suite
        self._store = resources.store
        self._options = resources.options
        self._spec = resources.suite.plan.checkpoints[order]
        self._order = order
        self._responses = self._suite.responses.get(self._spec.name, ResponseSet())
        self.warnings: list[str] = []

    async def execute(self) -> Run:
        """Evaluate the checkpoint and return its run, whose ``status`` says how it ended."""
        ledger = self._resources.ledger()
        committer = Committer(ledger)
        new_id = self._resources.new_run_id()
        context = CallContext(ledger, committer, new_id, self._resources.budget, self._resources.stopping)
        cache_scope = new_id if self._options.fresh else ""
        tasks = [
            JudgedTask(task, self._resources.judges(context, task, cache_scope)) for task in self._suite.tasks
        ]
        run_hash = plan_hash(self._suite, self._spec, tasks, self._responses, self._resources.backends)
        runs = self._store.runs(self._suite.plan.name)
        earlier = next((run for run in runs if run.checkpoint == self._spec.name), None)
        run = self._begin(earlier, new_id, run_hash, tasks)
        context.run_id = run.id  # calls are recorded under the resumed run
        self._resources.run_ids.add(run.id)
        ledger.begin(run)
        ledger.commit()
        rows, warnings = human_rows(self._suite, run, self._responses)
        self.warnings += warnings
        job = Job(
            run=run,
            tasks=[self._task_job(judged, context, cache_scope) for judged in tasks],
            human_rows=rows,
            fresh=self._options.fresh,
        )
        return await run_job(
            job,
            ledger,
            committer,
            self._resources,
            record_more=None
            if self._resources.dry
            else partial(self._record_task_scores, run, tasks, ledger),
        )

    def _record_task_scores(self, run: Run, tasks: Sequence[JudgedTask], ledger: Ledger) -> None:
        """Compute the score of each whole task from all stored scores of the run, and record it."""
        task_scores = [
            TaskScore(
                source=_verdict(judged.task.spec.name, judge, has_rules=configured.rules is not None),
                signature=judge.signature,
                scale=judged.task.spec.scale,
                samples=list(judged.task.samples.samples),
                repeats=judged.task.spec.repeats,
                answer_scale=configured.rubric.scale,
            )
            for judged in tasks
            for configured, judge in zip(judged.task.panel, judged.judges, strict=True)
            if judged.task.spec.scale is not None
        ]
        if not task_scores:
            return
        rows = published_rows(run, task_scores, self._store.rows([run]))
        ledger.record_rows(rows)
        self.warnings += [
            f"{run.checkpoint}: no {row.score.address}: {row.outcome.message}"
            for row in rows
            if isinstance(row.outcome, Failure)
        ]

    def _begin(self, earlier: Run | None, new_id: str, run_hash: str, tasks: Sequence[JudgedTask]) -> Run:
        """Return the earlier run if it can be resumed, else a new run."""
        suite, checkpoint = self._suite, self._spec
        if earlier is None or not resumes(
            earlier,
            run_hash,
            fresh=self._options.fresh,
            has_anchors=bool(suite.anchors)
            and earlier.id not in self._resources.run_ids,  # this is a later round of the same command
        ):
            earlier = Run(
                id=new_id,
                plan=suite.plan.name,
                plan_hash=run_hash,
                checkpoint=checkpoint.name,
                started=_start_after(earlier),
                versions=package_versions(),
            )
        facts = self._resources.facts.facts(self._order, self._responses, earlier.facts)
        reducers: dict[str, Reducer] = {task.spec.name: task.spec.repeat_reducer for task in suite.tasks}
        return replace(
            earlier,
            order=self._order,
            step=checkpoint.step,
            seed=suite.plan.seed,
            score_order=_score_order(tasks),
            reducers={name: reducer for name, reducer in reducers.items() if reducer != "mean"},
            facts=facts,
            status="running",
        )

    def _task_job(self, judged: JudgedTask, context: CallContext, cache_scope: str) -> TaskJob:
        task = judged.task
        anchors = self._anchors(task)
        anchor_judges = judged.judges  # with --fresh, this run repeats all calls anyway
        if anchors and cache_scope != context.run_id:
            anchor_judges = self._resources.judges(context, task, context.run_id)
        return TaskJob(
            name=task.spec.name,
            samples=task.samples.take(self._options.limit),
            answers=partial(self._responses.for_sample, task.spec.name),
            target=self._target(task, context, cache_scope),
            scorers=() if self._resources.dry else task.scorers,
            set_scorers=() if self._resources.dry else task.set_scorers,
            judges=judged.judges,
            anchors=anchors,
            anchor_judges=anchor_judges if anchors else (),
        )

    def _target(self, task: LoadedTask, context: CallContext, cache_scope: str) -> Target | None:
        if self._spec.backend is None:
            return None
        prompt = self._spec.prompt or task.spec.prompt or PromptSpec()
        backend = self._resources.wrap(context, self._spec.backend, "subject", cache_scope)
        return Target(
            backend=backend,
            signature=f"subject|{backend.signature}|v:1",
            system=prompt.system,
            user=prompt.user,
            params=prompt.params,
            repeats=task.spec.repeats,
        )

    def _anchors(self, task: LoadedTask) -> list[tuple[Sample, Response]]:
        anchors: dict[tuple[str, int], tuple[Sample, Response]] = {}
        for _, label in self._suite.anchors:
            if label.task == task.spec.name:
                sample = Sample(
                    id=label.id,
                    input=label.input,
                    references=label.references,
                    metadata=label.metadata,
                    task=label.task,
                )
                response = Response(
                    sample_id=label.id,
                    text=label.output,
                    task=label.task,
                    checkpoint=self._spec.name,
                    repeat=label.repeat,
                )
                anchors[(label.id, label.repeat)] = (sample, response)
        return list(anchors.values())


def _start_after(earlier: Run | None) -> str:
    """Return the time, or a time just after the start of an earlier run if the clock was set back since."""
    now = datetime.now(UTC)
    with suppress(ValueError, TypeError, OverflowError):  # an imported run may have started at any text
        if earlier is not None:
            now = max(now, datetime.fromisoformat(earlier.started) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")


def _score_order(tasks: Sequence[JudgedTask]) -> tuple[str, ...]:
    return tuple(
        score.address
        for judged in tasks
        for score in (
            *judged.task.scorer_scores,
            *judged.task.task_scores,
            *judged_scores(judged.task.spec.name, judged.judges),
        )
    )


def _verdict(task: str, judge: Judge, *, has_rules: bool) -> ScoreId:
    """Return the judge's level, or the final score if rules may cap the level."""
    level = next(iter(scores_of(judge, task, is_judge=True).values()))
    return level.with_part(FINAL) if has_rules else level
