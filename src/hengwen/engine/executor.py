"""Run a job: get the response to every sample, score and judge it, and record the results once.

An outcome is a ``Score`` or a ``Failure``. The ledger records outcomes and calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from hengwen.engine.evaluate import GroupEvaluator, JudgeEvaluator, ScorerEvaluator
from hengwen.engine.job import ITEM_HASH_LENGTH, Item
from hengwen.engine.pacing import LoopYielder, stagger_start, worker_count
from hengwen.errors import JudgeError
from hengwen.prompts.render import render_subject_prompt
from hengwen.records import Request, Response, Row, digest

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from hengwen.engine.committer import Committer
    from hengwen.engine.evaluate import Evaluator
    from hengwen.engine.job import Job, Target, TaskJob
    from hengwen.protocols import CompletedIndex, EvaluationKey, Ledger
    from hengwen.records import Outcome, Sample

Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Function that is called with (number of completed samples, number of all samples)."""


async def execute(
    job: Job,
    ledger: Ledger,
    committer: Committer,
    *,
    concurrency: int = 16,
    progress: Progress | None = None,
    stopping: asyncio.Event | None = None,
) -> None:
    """Evaluate all responses of a run, except those whose scores are already recorded in the ledger.

    Args:
        job: Tasks of the run.
        ledger: Ledger in which the run was already recorded by ``begin``.
        committer: Object that schedules the commits of the ledger.
        concurrency: Number of samples in progress at the same time, >= 1. In addition, a sixteenth of this
            number of samples is started early, so that their requests are ready. The number of calls without
            a reply is limited by the backends, not by this function.
        progress: Called after every sample.
        stopping: When this event is set, no new sample starts; calls that were sent end and are recorded.

    Raises:
        CancelledError: The run was stopped.
        StoreError: The ledger failed; committed records are kept.
    """
    stop = stopping or asyncio.Event()
    executor = _Executor(job, ledger, committer, stop)
    units = executor.units()
    total = sum(len(task.samples) + len(task.anchors) for task in job.tasks)
    completed = 0
    yielder = LoopYielder()

    async def work() -> None:
        nonlocal completed
        while not stop.is_set():
            unit = next(units, None)
            if unit is None:
                return
            await unit
            completed += 1
            if progress is not None:
                progress(completed, total)
            await yielder.yield_if_due()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(worker_count(concurrency, total)):
                group.create_task(work())
                await stagger_start()
    except ExceptionGroup as errors:
        raise _first_error(errors) from None
    try:
        executor.finish()
    finally:
        committer.flush()


async def _gather(coroutines: Sequence[Coroutine[None, None, Result]]) -> list[Result]:
    """Run coroutines concurrently; after all have ended, raise the error of the first one that failed."""
    if len(coroutines) == 1:
        return [await coroutines[0]]
    results = await asyncio.gather(*coroutines, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast("list[Result]", results)


def _first_error(errors: ExceptionGroup[Exception]) -> Exception:
    error: Exception = errors
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class _ItemKey(NamedTuple):
    """Identity of a response to evaluate, or of a group of responses (then ``repeat`` is None).

    The identity of a response and the signature of a scorer or judge form the key of the stored scores.
    """

    task: str
    sample: Sample | None
    repeat: int | None
    item_hash: str

    def with_signature(self, signature: str) -> EvaluationKey:
        sample_id = self.sample.id if self.sample else None
        return (self.task, sample_id, self.repeat, signature, self.item_hash)


class _Task:
    """A task of the plan; each of its scorers and judges is wrapped in an evaluator."""

    def __init__(self, job: TaskJob) -> None:
        self.job = job
        self.scorers = [ScorerEvaluator(scorer) for scorer in job.scorers]
        self.judges = [JudgeEvaluator(judge) for judge in job.judges]
        self.anchor_judges = [JudgeEvaluator(judge) for judge in job.anchor_judges]
        groups = [GroupEvaluator(scorer) for scorer in job.set_scorers]
        self.repeat_scorers = [group for group in groups if group.scope == "repeats"]
        self.checkpoint_scorers = [group for group in groups if group.scope == "checkpoint"]
        self.answered: list[tuple[Sample, Response]] = []
        """All responses so far, which are kept only if a scorer scores all responses of a checkpoint
        together."""

    def item_key(self, item: Item) -> _ItemKey:
        return _ItemKey(self.job.name, item.sample, item.response.repeat, item.hash)


class _Executor:
    """Evaluate the samples of one run."""

    def __init__(self, job: Job, ledger: Ledger, committer: Committer, stopping: asyncio.Event) -> None:
        self._run = job.run
        self._stopping = stopping
        self._job = job
        self._ledger = ledger
        self._committer = committer
        self._completed: CompletedIndex = ledger.done(job.run)
        self._tasks = [_Task(task) for task in job.tasks]

    def units(self) -> Iterator[Coroutine[None, None, None]]:
        """Yield one coroutine for each sample of a task, then one for each anchor (frozen response)."""
        for task in self._tasks:
            for sample in task.job.samples:
                yield self._evaluate_sample(task, sample)
            for sample, response in task.job.anchors:
                yield self._judge_anchor(task, Item.build(sample, response, namespace="anchor"))

    def finish(self) -> None:
        """Score the responses of a checkpoint as groups, and record the scores from human labels.

        Raises:
            CancelledError: The run is stopping.
        """
        self._raise_if_stopping()
        for task in self._tasks:
            if task.answered:
                order = {sample.id: index for index, sample in enumerate(task.job.samples)}
                task.answered.sort(key=lambda pair: (order[pair[0].id], pair[1].repeat))
                for group in task.checkpoint_scorers:
                    self._score_group(task, group, None, task.answered)
                    self._raise_if_stopping()
        self._ledger.record_rows(self._job.human_rows)

    def _raise_if_stopping(self) -> None:
        if self._stopping.is_set():
            raise asyncio.CancelledError

    async def _evaluate_sample(self, task: _Task, sample: Sample) -> None:
        responses = await self._responses(task, sample)
        judgments: list[tuple[JudgeEvaluator, Item, _ItemKey]] = []
        for index, response in enumerate(responses):
            item = Item.build(sample, response, responses[:index])
            item_key = task.item_key(item)
            for scorer in task.scorers:
                if not self._is_completed(item_key, scorer):
                    self._record(item_key, scorer.score(item))
                    self._raise_if_stopping()
            judgments += [(judge, item, item_key) for judge in task.judges]
        await _gather([self._judge(*judgment) for judgment in judgments])
        answered = [(sample, response) for response in responses]
        if task.checkpoint_scorers:
            task.answered += answered
        for group in task.repeat_scorers:
            if answered:
                self._score_group(task, group, sample, answered)

    async def _responses(self, task: _Task, sample: Sample) -> list[Response]:
        target = task.job.target
        if target is not None:
            repeats = range(1, target.repeats + 1)
            responses = await _gather([self._ask(task, target, sample, repeat) for repeat in repeats])
            return [response for response in responses if response is not None]
        stored = sorted(task.job.answers(sample.id), key=lambda response: response.repeat)
        if not stored:
            self._fail_all(task, sample, 1, "missing", "there is no stored answer to this sample")
        for response in stored:
            self._ledger.record_response(self._run.id, sample, response)
        self._committer.schedule_commit()
        return stored

    async def _ask(self, task: _Task, target: Target, sample: Sample, repeat: int) -> Response | None:
        request = Request(
            messages=render_subject_prompt(target.system, target.user, sample),
            params=target.params,
            signature=target.signature,
            repeat=repeat,
        )
        try:
            reply = await target.backend.complete(request)
        except JudgeError as error:
            self._fail_all(task, sample, repeat, error.status, f"no answer: {error}")
            return None
        response = Response(
            sample_id=sample.id,
            text=reply.text,
            task=task.job.name,
            checkpoint=self._run.checkpoint,
            repeat=repeat,
            metadata={"model": reply.model, "finish": reply.finish},
        )
        self._ledger.record_response(self._run.id, sample, response)
        self._committer.schedule_commit()
        return response

    def _fail_all(self, task: _Task, sample: Sample, repeat: int, status: str, message: str) -> None:
        """Record a Failure for each score that a missing response would have got."""
        error = JudgeError(message, status=status)
        evaluators: list[Evaluator] = [*task.scorers, *task.judges]
        outcomes = [failure for evaluator in evaluators for failure in evaluator.failures(error)]
        self._record(_ItemKey(task.job.name, sample, repeat, ""), outcomes)

    async def _judge(self, judge: JudgeEvaluator, item: Item, item_key: _ItemKey) -> None:
        if self._is_completed(item_key, judge):
            return
        outcomes = self._rederive(judge, item, item_key)
        if outcomes is None:
            outcomes = await judge.judge(item)
        self._record(item_key, outcomes)

    def _rederive(self, judge: JudgeEvaluator, item: Item, item_key: _ItemKey) -> list[Outcome] | None:
        """Return derived (such as capped) scores, recomputed from stored scores; None if none are stored."""
        if judge.verdict_signature is None or not self._completed:
            return None
        key = item_key.with_signature(judge.verdict_signature)
        source = self._source_run(key)
        return None if source is None else judge.derive(item, self._ledger.read(source, key))

    async def _judge_anchor(self, task: _Task, item: Item) -> None:
        item_key = task.item_key(item)
        for judge in task.anchor_judges:
            if not self._is_completed(item_key, judge, same_run_only=True):
                outcomes = await judge.judge(item)
                self._record(
                    item_key, [replace(outcome, name=f"anchor.{outcome.name}") for outcome in outcomes]
                )

    def _score_group(
        self,
        task: _Task,
        group: GroupEvaluator,
        sample: Sample | None,
        answered: Sequence[tuple[Sample, Response]],
    ) -> None:
        group_hash = digest([(member.hash, response.text) for member, response in answered])[
            :ITEM_HASH_LENGTH
        ]
        item_key = _ItemKey(task.job.name, sample, None, group_hash)
        if not self._is_completed(item_key, group):
            self._record(item_key, group.score(answered))

    def _source_run(self, key: EvaluationKey, *, same_run_only: bool = False) -> str | None:
        """Return the id of a run whose stored scores may be reused for a key; None if there is none."""
        source = self._completed.get(key)
        if (same_run_only or self._job.fresh) and source != self._run.id:
            return None
        return source

    def _is_completed(self, item_key: _ItemKey, evaluator: Evaluator, *, same_run_only: bool = False) -> bool:
        """Return whether all scores of an evaluator exist already; copy those of earlier runs into this run.

        Args:
            item_key: Response, or group of responses, that was scored.
            evaluator: Scorer or judge.
            same_run_only: Whether scores of earlier runs are ignored, which is so for anchors (frozen
                responses), because anchors are judged again in every run.
        """
        if not self._completed:
            return False
        sources: dict[EvaluationKey, str] = {}
        for signature in evaluator.signatures:
            key = item_key.with_signature(signature)
            source = self._source_run(key, same_run_only=same_run_only)
            if source is None:
                return False
            sources[key] = source
        for key, source in sources.items():
            if source != self._run.id:
                self._ledger.adopt(self._run.id, source, key)
                self._committer.schedule_commit()
        return True

    def _record(self, item_key: _ItemKey, outcomes: Sequence[Outcome]) -> None:
        task, sample, repeat, item_hash = item_key
        run_id, checkpoint = self._run.id, self._run.checkpoint
        sample_id, cluster = (sample.id, sample.cluster) if sample else (None, task)
        rows = [
            Row(
                run_id=run_id,
                task=task,
                checkpoint=checkpoint,
                sample_id=sample_id,
                repeat=repeat,
                cluster=cluster,
                outcome=outcome,
                item_hash=item_hash,
            )
            for outcome in outcomes
        ]
        self._ledger.record_rows(rows)
        self._committer.schedule_commit()
