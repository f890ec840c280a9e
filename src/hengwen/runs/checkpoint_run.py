"""One checkpoint of a suite on its way to a run: which run goes on, what is built, how it ends."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib import metadata
from typing import TYPE_CHECKING, Literal

from hengwen.engine.committer import Committer
from hengwen.engine.dry_run import DryLedger
from hengwen.engine.executor import execute
from hengwen.engine.job import Job, Target, TaskJob
from hengwen.engine.metered_backend import CallContext
from hengwen.errors import StoreError
from hengwen.plans.datasets import ResponseSet
from hengwen.plans.plan import PromptSpec
from hengwen.records import Failure, Response, Run, Sample, digest, digest_of
from hengwen.runs.human_rows import human_rows
from hengwen.runs.task_scores import TaskScore, published_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.plans.plan import CheckpointSpec
    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.protocols import Backend, Judge, Ledger
    from hengwen.records import Reducer
    from hengwen.runs.resources import RunOptions, RunResources
    from hengwen.store.store import Store

PACKAGES = (
    "hengwen",
    "numpy",
    "scipy",
    "jieba",
    "pypinyin",
    "pypinyin-dict",
    "rapidfuzz",
    "openai",
    "aiohttp",
    "langchain-core",
    "langchain-openai",
)
"""Whose versions a run records: they can move a number."""


class CheckpointRun:
    """One checkpoint of a suite, on its way to a run."""

    def __init__(
        self,
        suite: LoadedPlan,
        store: Store,
        options: RunOptions,
        desk: RunResources,
        checkpoint: CheckpointSpec,
        order: int,
        stamp: datetime,
    ) -> None:
        self._suite = suite
        self._store = store
        self._options = options
        self._desk = desk
        self._spec = checkpoint
        self._order = order
        self._stamp = stamp
        self._responses = suite.responses.get(checkpoint.name, ResponseSet())
        self.warnings: list[str] = []

    async def weigh(self) -> Run:
        """Weigh the checkpoint; its run says how that ended."""
        dry = self._options.dry
        ledger: Ledger = DryLedger(self._store.ledger()) if dry else self._store.ledger()
        committer = Committer(ledger)
        plain = [self._plain_judges(task) for task in self._suite.tasks]
        run = self._begin(self._plan_hash(plain), self._layout(plain))
        meter = CallContext(ledger, committer, run.id, self._desk.budget, self._desk.stopping)
        ledger.begin(run)
        ledger.commit()
        rows, warnings = human_rows(self._suite, run, self._responses)
        self.warnings += warnings
        job = Job(
            run=run,
            tasks=[self._task(task, meter, run) for task in self._suite.tasks],
            human_rows=rows,
            fresh=self._options.fresh,
        )
        progress = self._options.progress
        status: Literal["finished", "interrupted", "failed"] = "failed"
        try:
            await execute(
                job,
                ledger,
                committer,
                concurrency=self._options.concurrency,
                stopping=self._desk.stopping,
                progress=(lambda done, total: progress(self._spec.name, done, total)) if progress else None,
            )
            if not dry:
                self._publish(run, plain, ledger)
            status = "finished"
        except asyncio.CancelledError:
            status = "interrupted"
            raise
        finally:
            run = replace(run, status=status)
            ledger.begin(run)
            if status == "failed":  # the store may be what failed: the first error is the one to tell
                with suppress(StoreError):
                    ledger.commit()
            else:
                committer.flush()
        return run

    def _publish(self, run: Run, judges: Sequence[Sequence[Judge]], ledger: Ledger) -> None:
        """Add the values of whole tasks, from the rows that are kept: also from those of before."""
        wanted = [
            TaskScore(
                task=task.spec.name,
                judge=panelist.name,
                source=f"{panelist.name}.final" if panelist.rules else judge.names[0],
                signature=judge.signature,
                scale=task.spec.scale,
                samples=list(task.samples.samples),
                repeats=task.spec.repeats,
                answers=panelist.rubric.scale,
            )
            for task, panel in zip(self._suite.tasks, judges, strict=True)
            for panelist, judge in zip(task.panel, panel, strict=True)
            if task.spec.scale is not None
        ]
        if not wanted:
            return
        rows = published_rows(run, wanted, self._store.rows([run]), seed=run.seed)
        ledger.record_rows(rows)
        self.warnings += [
            f"{run.checkpoint}: no {row.task}/{row.outcome.name}: {row.outcome.message}"
            for row in rows
            if isinstance(row.outcome, Failure)
        ]

    def _plain_judges(self, task: LoadedTask) -> list[Judge]:
        """The judges of a task, for their signatures: not to be asked."""
        backends = self._desk.backends
        return [
            panelist.build(task.persona, [backends[name] for name in panelist.spec.asked])
            for panelist in task.panel
        ]

    def _layout(self, judges: Sequence[Sequence[Judge]]) -> tuple[str, ...]:
        """The scores in the order of the plan: code, judges, then anchors and human values."""
        found: list[str] = []
        for task, panel in zip(self._suite.tasks, judges, strict=True):
            judged = [name for judge in panel for name in judge.names]
            names = [name for scorer in task.scorers for name in scorer.names]
            names += [name for scorer in task.set_scorers for name in scorer.names]
            names += [name for published in task.published.values() for name in published]
            names += judged + [
                f"{prefix}{name}" for prefix in ("human.", "anchor.", "human.anchor.") for name in judged
            ]
            found += [f"{task.spec.name}/{name}" for name in names]
        return tuple(found)

    def _begin(self, plan_hash: str, layout: tuple[str, ...]) -> Run:
        """The run to go on with, or a new one."""
        plan, name = self._suite.plan.name, self._spec.name
        before = [run for run in self._store.runs(plan) if run.checkpoint == name]
        same = before and before[0].plan_hash == plan_hash and not self._options.fresh
        if same and not (self._suite.anchors and before[0].status == "finished"):
            return replace(
                before[0],
                order=self._order,
                step=self._spec.step,
                layout=layout,
                reducers=self._reducers,
                status="running",
            )
        return Run(
            id=f"{self._stamp:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
            plan=plan,
            plan_hash=plan_hash,
            checkpoint=name,
            order=self._order,
            step=self._spec.step,
            started=datetime.now(UTC).isoformat(timespec="microseconds"),
            versions=_versions(),
            layout=layout,
            reducers=self._reducers,
            seed=self._suite.plan.seed,
        )

    @property
    def _reducers(self) -> dict[str, Reducer]:
        specs = [task.spec for task in self._suite.tasks]
        return {spec.name: spec.reduce for spec in specs if spec.reduce != "mean"}

    def _plan_hash(self, judges: Sequence[Sequence[Judge]]) -> str:
        """Hash all that decides this run's rows; not the other checkpoints, not where files lie."""
        tasks = [
            [
                task.spec.name,
                digest_of(sample.hash for sample in task.samples.samples.values()),
                [scorer.signature for scorer in task.scorers],
                [scorer.signature for scorer in task.set_scorers],
                [judge.signature for judge in panel],
                [task.spec.prompt, task.spec.repeats] if self._spec.backend else None,
            ]
            for task, panel in zip(self._suite.tasks, judges, strict=True)
        ]
        answers = digest_of((r.task, r.sample_id, r.repeat, r.text) for r in self._responses)
        subject = self._desk.backends[self._spec.backend].signature if self._spec.backend else None
        labels = [label for _, label in (*self._suite.labels, *self._suite.anchors)]
        return digest(
            self._suite.plan.name, self._spec.name, tasks, answers, subject, self._spec.prompt, labels
        )

    def _task(self, task: LoadedTask, meter: CallContext, run: Run) -> TaskJob:
        scope = run.id if self._options.fresh else ""
        return TaskJob(
            name=task.spec.name,
            samples=task.samples.first(self._options.limit),
            answers=partial(self._responses.of, task.spec.name),
            target=self._subject(task, meter, scope),
            scorers=() if self._options.dry else task.scorers,
            set_scorers=() if self._options.dry else task.set_scorers,
            judges=self._judges(task, meter, scope),
            anchors=self._anchors(task),
            anchor_judges=self._judges(task, meter, run.id) if self._suite.anchors else (),
        )

    def _judges(self, task: LoadedTask, meter: CallContext, scope: str) -> list[Judge]:
        judges = []
        wrapped: dict[str, Backend] = {}
        for panelist in task.panel:
            for name in panelist.spec.asked:
                if name not in wrapped:
                    wrapped[name] = self._desk.wrap(meter, name, "judge", scope)
            judges.append(panelist.build(task.persona, [wrapped[name] for name in panelist.spec.asked]))
        return judges

    def _subject(self, task: LoadedTask, meter: CallContext, scope: str) -> Target | None:
        name = self._spec.backend
        if name is None:
            return None
        prompt = self._spec.prompt or task.spec.prompt or PromptSpec()
        backend = self._desk.wrap(meter, name, "subject", scope)
        return Target(
            backend=backend,
            signature=f"subject|{backend.signature}|v:1",
            system=prompt.system,
            user=prompt.user,
            params=prompt.params,
            repeats=task.spec.repeats,
        )

    def _anchors(self, task: LoadedTask) -> list[tuple[Sample, Response]]:
        found: dict[tuple[str, int], tuple[Sample, Response]] = {}
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
                found[(label.id, label.repeat)] = (sample, response)
        return list(found.values())


@cache
def _versions() -> Mapping[str, str]:
    found = {}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
