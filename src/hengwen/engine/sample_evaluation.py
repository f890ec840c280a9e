"""Evaluate the samples of one run: get their responses, score them, and judge them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from hengwen.engine.evaluate import Evaluator, GroupEvaluator, JudgeEvaluator, ScorerEvaluator
from hengwen.engine.job import Item, Job, Target, TaskJob, group_hash
from hengwen.engine.metered_backend import Committer
from hengwen.engine.recorder import ItemKey, Recorder
from hengwen.engine.scoring import WHOLE_GROUP, ScoringPool, Unit
from hengwen.errors import JudgeError
from hengwen.prompts.render import render_subject_prompt
from hengwen.protocols import Ledger
from hengwen.records import Request, Response, Sample

Result = TypeVar("Result")
AnyEvaluator = TypeVar("AnyEvaluator", bound="Evaluator")


class TaskEvaluators:
    """A task of the plan; each of its scorers and judges is wrapped in an evaluator."""

    def __init__(self, job: TaskJob, pool: ScoringPool | None) -> None:
        self.job = job
        self.scorers = [ScorerEvaluator(scorer) for scorer in job.scorers]
        self.judges = [JudgeEvaluator(judge) for judge in job.judges]
        self.anchor_judges = [JudgeEvaluator(judge) for judge in job.anchor_judges]
        groups = [GroupEvaluator(scorer) for scorer in job.set_scorers]
        self.repeat_scorers = [group for group in groups if group.scope == "repeats"]
        self.checkpoint_scorers = [group for group in groups if group.scope == "checkpoint"]
        self.answers: dict[str, Sequence[Response]] = {}
        """All responses so far, by sample, if a scorer scores all responses of a checkpoint together."""
        self._numbers: dict[int, int] = {}
        if pool is not None:
            for evaluator in (*self.scorers, *self.judges, *self.repeat_scorers):
                number = pool.number_of(job.name, evaluator)
                if number is not None:
                    self._numbers[id(evaluator)] = number

    def number_of(self, evaluator: Evaluator) -> int | None:
        """Return the index of an evaluator in the worker processes; None if only this process uses it."""
        return self._numbers.get(id(evaluator))


@dataclass(slots=True, kw_only=True)
class Answered:
    """A sample of a task with its responses, or an anchor (frozen response that is judged in every run)."""

    task: TaskEvaluators
    sample: Sample
    anchor: Response | None = None
    items: list[Item] = field(default_factory=list)
    """The responses; none before the model under test has answered."""
    is_scored: bool = False
    """Whether the worker processes have done their evaluations of this sample."""

    @property
    def responses(self) -> list[Response]:
        """The responses, in the order of their repeats."""
        return [item.response for item in self.items]

    @property
    def pairs(self) -> list[tuple[Sample, Response]]:
        """The sample with each response."""
        return [(self.sample, item.response) for item in self.items]

    @property
    def group_key(self) -> ItemKey:
        """The identity of all responses together."""
        return ItemKey(self.task.job.name, self.sample, None, group_hash(self.pairs))


class Answers:
    """The first stage of a run: it gets the responses to one sample after the other."""

    def __init__(self, run: RunEvaluation, stopping: asyncio.Event) -> None:
        self._run = run
        self._stopping = stopping
        self._units = run.units()

    async def get(self) -> Answered | None:
        """Return the next sample with its responses; None after the last sample."""
        while not self._stopping.is_set() and (unit := next(self._units, None)) is not None:
            target = unit.task.job.target
            if unit.anchor is not None or target is None:
                return self._stored(unit)
            return self._run.answered(unit, await self._run.ask(unit.task, target, unit.sample))
        return None

    def get_nowait(self) -> Answered | None:
        """Return the next sample with its stored responses; None if there is none at present."""
        unit = None if self._stopping.is_set() else next(self._units, None)
        return None if unit is None else self._stored(unit)

    def _stored(self, unit: Answered) -> Answered:
        if unit.anchor is None:
            return self._run.answered(unit, self._run.read(unit.task, unit.sample))
        unit.items = [Item.build(unit.sample, unit.anchor, namespace="anchor")]
        return unit


class RunEvaluation:
    """Evaluate the samples of one run, and record the results."""

    def __init__(
        self,
        job: Job,
        ledger: Ledger,
        committer: Committer,
        stopping: asyncio.Event,
        pool: ScoringPool | None,
    ) -> None:
        self._run = job.run
        self._stopping = stopping
        self._human_rows = job.human_rows
        self._recorder = Recorder(job, ledger, committer)
        self._tasks = [TaskEvaluators(task, pool) for task in job.tasks]

    def units(self) -> Iterator[Answered]:
        """Yield each sample of each task, and after them the task's anchors (frozen responses)."""
        for task in self._tasks:
            for sample in task.job.samples:
                yield Answered(task=task, sample=sample)
            for sample, response in task.job.anchors:
                yield Answered(task=task, sample=sample, anchor=response)

    def answered(self, unit: Answered, responses: list[Response]) -> Answered:
        """Return a sample with its responses, which are kept for the scorers of whole checkpoints."""
        sample = unit.sample
        if unit.task.checkpoint_scorers:
            unit.task.answers[sample.id] = responses
        unit.items = [
            Item.build(sample, response, responses[:index]) for index, response in enumerate(responses)
        ]
        return unit

    def read(self, task: TaskEvaluators, sample: Sample) -> list[Response]:
        """Return the responses to a sample that existed before the run, and record them in the ledger."""
        stored = task.job.sorted_answers(sample.id)
        if not stored:
            self._fail_all(task, sample, 1, "missing", "there is no stored answer to this sample")
        for response in stored:
            self._recorder.record_response(sample, response)
        return stored

    async def ask(self, task: TaskEvaluators, target: Target, sample: Sample) -> list[Response]:
        """Let the model under test answer a sample, and record its responses."""
        repeats = range(1, target.repeats + 1)
        responses = await _gather([self._ask_once(task, target, sample, repeat) for repeat in repeats])
        return [response for response in responses if response is not None]

    async def _ask_once(
        self, task: TaskEvaluators, target: Target, sample: Sample, repeat: int
    ) -> Response | None:
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
        self._recorder.record_response(sample, response)
        return response

    def _fail_all(self, task: TaskEvaluators, sample: Sample, repeat: int, status: str, message: str) -> None:
        """Record a Failure for each score that a missing response would have got."""
        error = JudgeError(message, status=status)
        for evaluator in (*task.scorers, *task.judges):
            item_key = ItemKey(task.job.name, sample, repeat, "")
            self._recorder.record(item_key, evaluator, evaluator.failures(error))

    async def score_in_pool(self, batch: list[Answered], pool: ScoringPool) -> list[Answered]:
        """Do the evaluations of samples in worker processes, record the outcomes, and return the samples."""
        units: list[Unit] = []
        keys: list[list[tuple[ItemKey, Evaluator]]] = []
        for answered in batch:
            evaluations = self._evaluations_in_pool(answered)
            if evaluations:
                numbers = tuple(evaluation for evaluation, _, _ in evaluations)
                units.append(
                    Unit(answered.task.job.name, answered.sample, tuple(answered.responses), numbers)
                )
                keys.append([(key, evaluator) for _, key, evaluator in evaluations])
            answered.is_scored = answered.anchor is None
        if units:
            for unit_keys, results in zip(keys, await pool.evaluate(units), strict=True):
                for (item_key, evaluator), outcomes in zip(unit_keys, results, strict=True):
                    self._recorder.record(item_key, evaluator, outcomes)
        return batch

    def _evaluations_in_pool(self, answered: Answered) -> list[tuple[tuple[int, int], ItemKey, Evaluator]]:
        """Return the evaluations for worker processes: indices of response and evaluator, key, evaluator."""
        task = answered.task
        if answered.anchor is not None or not answered.items:
            return []
        evaluations: list[tuple[tuple[int, int], ItemKey, Evaluator]] = []
        for index, item in enumerate(answered.items):
            item_key = ItemKey.of(task.job.name, item)
            for evaluator in (*task.scorers, *task.judges):
                number = task.number_of(evaluator)
                if number is None or self._recorder.is_completed(item_key, evaluator):
                    continue
                if isinstance(evaluator, JudgeEvaluator) and self._record_derived(evaluator, item, item_key):
                    continue
                evaluations.append(((index, number), item_key, evaluator))
        for group in task.repeat_scorers:
            number = task.number_of(group)
            if number is not None:
                item_key = answered.group_key
                if not self._recorder.is_completed(item_key, group):
                    evaluations.append(((WHOLE_GROUP, number), item_key, group))
        return evaluations

    async def evaluate(self, answered: Answered) -> None:
        """Evaluate a sample by all scorers and judges whose outcomes are not recorded yet."""
        task = answered.task
        if answered.anchor is not None:
            item = answered.items[0]
            item_key = ItemKey.of(task.job.name, item)
            await _gather([self._judge_anchor(judge, item, item_key) for judge in task.anchor_judges])
            return
        judgments: list[Coroutine[None, None, None]] = []
        judges = self._local(answered, task.judges)
        scorers = self._local(answered, task.scorers)
        for item in answered.items:
            item_key = ItemKey.of(task.job.name, item)
            for scorer in scorers:
                if not self._recorder.is_completed(item_key, scorer):
                    self._recorder.record(item_key, scorer, scorer.score(item))
                    self._raise_if_stopping()
            judgments += [self._judge(judge, item, item_key) for judge in judges]
        await _gather(judgments)
        if answered.items:
            for group in self._local(answered, task.repeat_scorers):
                item_key = answered.group_key
                if not self._recorder.is_completed(item_key, group):
                    self._recorder.record(item_key, group, group.score(answered.pairs))

    def _local(self, answered: Answered, evaluators: list[AnyEvaluator]) -> list[AnyEvaluator]:
        """Return the evaluators that no worker process has applied, so this process must apply them."""
        if not answered.is_scored:
            return evaluators
        return [evaluator for evaluator in evaluators if answered.task.number_of(evaluator) is None]

    async def _judge(self, judge: JudgeEvaluator, item: Item, item_key: ItemKey) -> None:
        if not self._recorder.is_completed(item_key, judge) and not self._record_derived(
            judge, item, item_key
        ):
            self._recorder.record(item_key, judge, await judge.judge(item))

    def _record_derived(self, judge: JudgeEvaluator, item: Item, item_key: ItemKey) -> bool:
        """Record derived (such as capped) scores if they can be recomputed from stored scores."""
        if judge.verdict_signature is None:
            return False
        stored = self._recorder.stored_outcomes(item_key, judge.verdict_signature)
        if stored is None:
            return False
        self._recorder.record(item_key, judge, judge.derive(item, stored))
        return True

    async def _judge_anchor(self, judge: JudgeEvaluator, item: Item, item_key: ItemKey) -> None:
        if not self._recorder.is_completed(item_key, judge, same_run_only=True):
            self._recorder.record(item_key, judge, await judge.judge(item), "anchor")

    def finish(self) -> None:
        """Apply scorers of whole checkpoints to all responses of a task; record scores from human labels."""
        self._raise_if_stopping()
        for task in self._tasks:
            pairs = [
                (sample, response)
                for sample in (task.job.samples if task.answers else ())
                for response in task.answers.get(sample.id, ())
            ]
            if pairs:
                item_key = ItemKey(task.job.name, None, None, group_hash(pairs))
                for group in task.checkpoint_scorers:
                    if not self._recorder.is_completed(item_key, group):
                        self._recorder.record(item_key, group, group.score(pairs))
                    self._raise_if_stopping()
        self._recorder.record_rows(self._human_rows)

    def _raise_if_stopping(self) -> None:
        if self._stopping.is_set():
            raise asyncio.CancelledError


async def _gather(coroutines: Sequence[Coroutine[None, None, Result]]) -> list[Result]:
    """Run coroutines concurrently; after all have ended, return their results or raise the first error."""
    if len(coroutines) == 1:
        return [await coroutines[0]]
    results = await asyncio.gather(*coroutines, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast("list[Result]", results)
