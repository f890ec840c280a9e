"""Run a job: every sample answered, scored and judged, every outcome in the ledger once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from hengwen.engine import evaluate
from hengwen.engine.job import item_hash, signatures_by_name
from hengwen.errors import JudgeError
from hengwen.prompts.render import render_subject_prompt
from hengwen.records import Request, Response, Row, digest

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from hengwen.engine.committer import Committer
    from hengwen.engine.job import Job, Subject, TaskJob
    from hengwen.protocols import CompletedIndex, EvaluationKey, GroupScorer, Judge, Ledger, Scorer
    from hengwen.records import Outcome, Sample

Result = TypeVar("Result")
LONGEST_BREATH = 0.01
"""Seconds for which samples are weighed in one go while calls in flight wait."""
READY = 16
"""For so many samples in work one more is: its call is ready when another's reply has come. With more of them
replies wait to be read, and those are lost where the process is killed."""
HEAD_START = 2
"""Turns of the loop in which a first call is sent before the next sample begins: calls that begin together
are answered together, in waves, and between waves nothing is done."""
Progress = Callable[[int, int], None]
"""Called with (samples done, samples in all)."""


async def execute(
    job: Job,
    ledger: Ledger,
    committer: Committer,
    *,
    concurrency: int = 16,
    progress: Progress | None = None,
    stopping: asyncio.Event | None = None,
) -> None:
    """Weigh all answers of a run; what the ledger has already is not weighed again.

    Args:
        job: What to do.
        ledger: Where it is kept; the run must have begun.
        committer: Over the same ledger.
        concurrency: Samples in work at the same time, >= 1, and a sixteenth more whose calls are made ready;
            how many calls are in flight is for the limiters to say.
        progress: Told after every sample.
        stopping: Where it is set, no new sample is begun; calls in flight end and are kept.

    Raises:
        CancelledError: The run was stopped.
        StoreError: The ledger failed. What was committed is kept.
    """
    stop = stopping or asyncio.Event()
    worker = _Worker(job, ledger, committer)
    units = (unit for task in job.tasks for unit in worker.units(task))
    total = sum(len(task.samples) + len(task.anchors) for task in job.tasks)
    finished = 0
    loop = asyncio.get_running_loop()
    breath = loop.time()

    async def work() -> None:
        nonlocal finished, breath
        for unit in units:
            await unit
            finished += 1
            if progress is not None:
                progress(finished, total)
            if loop.time() - breath > LONGEST_BREATH:  # scorers never wait: let the calls in flight move
                await asyncio.sleep(0)
                breath = loop.time()
            if stop.is_set():
                return

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency + concurrency // READY, total)):
                group.create_task(work())
                for _ in range(HEAD_START):
                    await asyncio.sleep(0)
    except ExceptionGroup as errors:
        raise _first(errors) from None
    if stop.is_set():
        committer.finish()
        raise asyncio.CancelledError
    worker.finish()
    committer.finish()


async def _all(waiting: Sequence[Coroutine[None, None, Result]]) -> list[Result]:
    """Run coroutines side by side; where one fails or is stopped, the others end before it is told."""
    if len(waiting) == 1:
        return [await waiting[0]]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast("list[Result]", results)


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    error: Exception = errors
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class _Worker:
    """Weighs the samples of one run."""

    def __init__(self, job: Job, ledger: Ledger, committer: Committer) -> None:
        self._run = job.run
        self._job = job
        self._ledger = ledger
        self._committer = committer
        self._done: CompletedIndex = ledger.done(job.run)
        self._answers: dict[str, list[tuple[Sample, Response]]] = {}

    def units(self, task: TaskJob) -> Iterator[Coroutine[None, None, None]]:
        """Yield one coroutine a sample, then one an anchor."""
        for sample in task.samples:
            yield self._sample(task, sample)
        for sample, response in task.anchors:
            yield self._anchor(task, sample, response)

    def finish(self) -> None:
        """Score what needs all answers of the checkpoint, and add the human rows."""
        for task in self._job.tasks:
            order = {sample.id: place for place, sample in enumerate(task.samples)}
            items = self._answers.get(task.name, [])
            items.sort(key=lambda item: (order[item[0].id], item[1].repeat))
            for scorer in task.set_scorers:
                if scorer.scope == "checkpoint" and items:
                    self._score_set(task, scorer, None, items)
        self._ledger.record_rows(self._job.human_rows)

    async def _sample(self, task: TaskJob, sample: Sample) -> None:
        responses = await self._responses(task, sample)
        judging: list[Coroutine[None, None, None]] = []
        for index, response in enumerate(responses):
            earlier = responses[:index]
            key = item_hash(sample, response, earlier)
            for scorer in task.scorers:
                if not self._settled(task, sample, response.repeat, scorer, key):
                    outcomes = evaluate.score(scorer, sample, response, earlier)
                    self._keep(task, sample, response.repeat, key, outcomes)
            judging += [self._judge(task, judge, sample, response, earlier, key) for judge in task.judges]
        await _all(judging)
        answered = [(sample, response) for response in responses]
        if any(set_scorer.scope == "checkpoint" for set_scorer in task.set_scorers):
            self._answers.setdefault(task.name, []).extend(answered)
        for set_scorer in task.set_scorers:
            if set_scorer.scope == "repeats" and answered:
                self._score_set(task, set_scorer, sample, answered)

    async def _responses(self, task: TaskJob, sample: Sample) -> list[Response]:
        if task.subject is None:
            stored = sorted(task.answers(sample.id), key=lambda response: response.repeat)
            if not stored:
                self._no_answer(task, sample, 1, "missing", "there is no stored answer to this sample")
            for response in stored:
                self._ledger.record_response(self._run.id, sample, response)
            self._committer.touch()
            return stored
        repeats = range(1, task.subject.repeats + 1)
        answers = await _all([self._ask(task, task.subject, sample, repeat) for repeat in repeats])
        return [answer for answer in answers if answer is not None]

    async def _ask(self, task: TaskJob, subject: Subject, sample: Sample, repeat: int) -> Response | None:
        request = Request(
            messages=render_subject_prompt(subject.system, subject.user, sample),
            params=subject.params,
            signature=subject.signature,
            repeat=repeat,
        )
        try:
            reply = await subject.backend.complete(request)
        except JudgeError as error:
            self._no_answer(task, sample, repeat, error.status, f"no answer: {error}")
            return None
        response = Response(
            sample_id=sample.id,
            text=reply.text,
            task=task.name,
            checkpoint=self._run.checkpoint,
            repeat=repeat,
            metadata={"model": reply.model, "finish": reply.finish},
        )
        self._ledger.record_response(self._run.id, sample, response)
        self._committer.touch()
        return response

    def _no_answer(self, task: TaskJob, sample: Sample, repeat: int, status: str, message: str) -> None:
        error = JudgeError(message, status=status)
        outcomes = [
            failure for scorer in task.scorers for failure in evaluate.failures(scorer, error, "code")
        ]
        outcomes += [failure for judge in task.judges for failure in evaluate.failures(judge, error, "judge")]
        self._keep(task, sample, repeat, "", outcomes)

    async def _judge(
        self,
        task: TaskJob,
        judge: Judge,
        sample: Sample,
        response: Response,
        earlier: Sequence[Response],
        key: str,
    ) -> None:
        if self._settled(task, sample, response.repeat, judge, key):
            return
        outcomes = self._derived(task, judge, sample, response, earlier, key)
        if outcomes is None:
            outcomes = await evaluate.judge(judge, sample, response, earlier)
        self._keep(task, sample, response.repeat, key, outcomes)

    def _derived(
        self,
        task: TaskJob,
        judge: Judge,
        sample: Sample,
        response: Response,
        earlier: Sequence[Response],
        key: str,
    ) -> list[Outcome] | None:
        """What follows from a verdict that is there, where only what is derived of it is new; else None."""
        own = signatures_by_name(judge)[judge.names[0]] if self._done else judge.signature
        if own == judge.signature:
            return None
        done = (task.name, sample.id, response.repeat, own, key)
        source = self._done.get(done)
        if source is None or (self._job.fresh and source != self._run.id):
            return None
        return evaluate.derive(judge, self._ledger.read(source, done), sample, response, earlier)

    async def _anchor(self, task: TaskJob, sample: Sample, response: Response) -> None:
        key = item_hash(sample, response, mark="anchor")
        for judge in task.anchor_judges:
            if not self._settled(task, sample, response.repeat, judge, key, own=True):
                outcomes = await evaluate.judge(judge, sample, response, ())
                named = [replace(outcome, name=f"anchor.{outcome.name}") for outcome in outcomes]
                self._keep(task, sample, response.repeat, key, named)

    def _score_set(
        self,
        task: TaskJob,
        scorer: GroupScorer,
        sample: Sample | None,
        items: Sequence[tuple[Sample, Response]],
    ) -> None:
        key = digest([(one.hash, response.text) for one, response in items])
        if not self._settled(task, sample, None, scorer, key):
            self._keep(task, sample, None, key, evaluate.score_set(scorer, items))

    def _settled(
        self,
        task: TaskJob,
        sample: Sample | None,
        repeat: int | None,
        weigher: Scorer | GroupScorer | Judge,
        key: str,
        *,
        own: bool = False,
    ) -> bool:
        """Whether all its outcomes are there; earlier runs' are adopted, but not for anchors (own)."""
        if not self._done:
            return False
        found: dict[EvaluationKey, str] = {}
        for signature in dict.fromkeys(signatures_by_name(weigher).values()):
            done = (task.name, sample.id if sample else None, repeat, signature, key)
            source = self._done.get(done)
            if source is None or ((own or self._job.fresh) and source != self._run.id):
                return False
            found[done] = source
        for done, source in found.items():
            if source != self._run.id:
                self._ledger.adopt(self._run.id, source, done)
                self._committer.touch()
        return True

    def _keep(
        self, task: TaskJob, sample: Sample | None, repeat: int | None, key: str, outcomes: Sequence[Outcome]
    ) -> None:
        run_id, checkpoint = self._run.id, self._run.checkpoint
        sample_id, cluster = (sample.id, sample.cluster) if sample else (None, task.name)
        rows = [
            Row(
                run_id=run_id,
                task=task.name,
                checkpoint=checkpoint,
                sample_id=sample_id,
                repeat=repeat,
                cluster=cluster,
                outcome=outcome,
                item_hash=key,
            )
            for outcome in outcomes
        ]
        self._ledger.record_rows(rows)
        self._committer.touch()
