"""Evaluate responses in worker processes: by scorers, and by judges that need no network."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from functools import partial
from typing import Any, NamedTuple

from hengwen._internal.workers import Engine, WorkerPool
from hengwen.engine.evaluate import Evaluator, GroupEvaluator, JudgeEvaluator, ScorerEvaluator
from hengwen.engine.job import Item
from hengwen.errors import JudgeError
from hengwen.records import Outcome, Response, Sample

WHOLE_GROUP = -1
"""Index that stands for all responses of a unit, for a scorer of all repeats of a sample."""
MAX_PICKLED_BYTES = 16_000_000
"""Maximum size of a pickled scorer that is copied to worker processes, as each copy needs as much memory."""
MAX_CRASHES = 10
"""If an evaluator crashed at this number of responses and never succeeded, it is not tried again."""


class Unit(NamedTuple):
    """A sample with its responses, and the evaluations to do: indices of a response and an evaluator."""

    task: str
    sample: Sample
    responses: tuple[Response, ...]
    evaluations: tuple[tuple[int, int], ...]


Results = list[list[Outcome]] | str
"""The outcomes of each evaluation of a unit, or a message if a process died at it."""


def _score(evaluators: Mapping[str, Sequence[Evaluator]], unit: Unit) -> Results:
    """Return the outcomes of each evaluation of a unit; each worker process has a copy of the evaluators."""
    return [
        _evaluate(evaluators[unit.task][number], unit.sample, unit.responses, index)
        for index, number in unit.evaluations
    ]


def _evaluate(
    evaluator: Evaluator, sample: Sample, responses: Sequence[Response], index: int
) -> list[Outcome]:
    if isinstance(evaluator, GroupEvaluator):
        return evaluator.score([(sample, response) for response in responses])
    item = Item(sample=sample, response=responses[index], earlier=responses[:index], hash="")
    if isinstance(evaluator, ScorerEvaluator):
        return evaluator.score(item)
    assert isinstance(evaluator, JudgeEvaluator)
    return evaluator.judge_locally(item)


class ScoringPool:
    """Worker processes that do the evaluations of the tasks of a plan."""

    def __init__(
        self, evaluators: Mapping[str, Sequence[Evaluator]], workers: int, engine: Engine = "local"
    ) -> None:
        self._evaluators = {
            task: [evaluator for evaluator in members if _can_be_copied(evaluator)]
            for task, members in evaluators.items()
        }
        self._numbers = {
            (task, *evaluator.identity): number
            for task, members in self._evaluators.items()
            for number, evaluator in enumerate(members)
        }
        self.workers = workers
        self._pool: WorkerPool[Unit, Results] = WorkerPool(
            partial(_score, self._evaluators), workers, crashed=lambda _, message: message, engine=engine
        )
        self._crashes: Counter[tuple[str, int]] = Counter()
        self._succeeded: set[tuple[str, int]] = set()
        self._hopeless: dict[tuple[str, int], str] = {}
        """For each evaluator (task, number) that is not tried again, the message of its Failures."""

    def number_of(self, task: str, evaluator: Evaluator) -> int | None:
        """Return the index of an evaluator among those of its task; None if the pool does not have it."""
        return self._numbers.get((task, *evaluator.identity))

    async def evaluate(self, units: Sequence[Unit]) -> list[list[list[Outcome]]]:
        """Return, for each unit (a sample with its responses), the outcomes of each of its evaluations."""
        tried = [self._without_hopeless(unit) for unit in units] if self._hopeless else units
        results = []
        for unit, part, scored in zip(units, tried, await self._submit(tried), strict=True):
            groups = await self._evaluate_singly(part, scored) if isinstance(scored, str) else scored
            if not isinstance(scored, str):
                self._succeeded.update((part.task, number) for _, number in part.evaluations)
            # ``tried`` may lack evaluations of ``unit``, so outcomes are found by evaluation, not by position
            outcomes = dict(zip(part.evaluations, groups, strict=True))
            results.append(
                [
                    outcomes[evaluation]
                    if evaluation in outcomes
                    else self._failures(unit.task, evaluation[1], self._hopeless[unit.task, evaluation[1]])
                    for evaluation in unit.evaluations
                ]
            )
        return results

    async def _submit(self, units: Sequence[Unit]) -> list[Results]:
        """Evaluate units in worker processes; if that fails, in this process."""
        try:
            try:
                return await asyncio.wrap_future(self._pool.submit(units))
            except BrokenExecutor:
                return await asyncio.to_thread(self._pool.repeat, units)
        except CancelledError:  # the pool was closed
            raise asyncio.CancelledError from None
        except Exception:
            results: list[Results] = []
            for unit in units:
                results.append(_score(self._evaluators, unit))
                await asyncio.sleep(0)
            return results

    async def _evaluate_singly(self, unit: Unit, message: str) -> list[list[Outcome]]:
        """Repeat one by one the evaluations of a unit (sample with its responses) at which a process died."""
        outcomes = []
        for evaluation in unit.evaluations:
            key = unit.task, evaluation[1]
            scored: Results = message
            if len(unit.evaluations) > 1:
                scored = (await self._submit([unit._replace(evaluations=(evaluation,))]))[0]
            if isinstance(scored, str):
                self._crashes[key] += 1
                if self._crashes[key] >= MAX_CRASHES and key not in self._succeeded:
                    self._hopeless[key] = f"not tried, because it crashed at {MAX_CRASHES} answers: {scored}"
                outcomes.append(self._failures(*key, scored))
            else:
                self._succeeded.add(key)
                outcomes.append(scored[0])
        return outcomes

    def _without_hopeless(self, unit: Unit) -> Unit:
        return unit._replace(
            evaluations=tuple(
                evaluation
                for evaluation in unit.evaluations
                if (unit.task, evaluation[1]) not in self._hopeless
            )
        )

    def _failures(self, task: str, number: int, message: str) -> list[Outcome]:
        error = JudgeError(message, status="scorer_error")
        return self._evaluators[task][number].failures(error)

    def close(self) -> None:
        """End the processes."""
        self._pool.close()


class _SizeLimit:
    """A stream that only counts bytes, up to a limit, and notes names of the main script (``__main__``)."""

    def __init__(self) -> None:
        self._size = 0
        self.names_main = False

    def write(self, data: Any) -> int:
        self._size += len(data)
        self.names_main |= b"__main__" in bytes(data)
        if self._size > MAX_PICKLED_BYTES:
            raise ValueError("the pickled object is too large")
        return len(data)


def _can_be_copied(evaluator: Evaluator) -> bool:
    """Return whether an evaluator can be pickled, is small, and is not defined in the main script."""
    stream = _SizeLimit()
    try:
        pickle.Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(evaluator)
    except Exception:
        return False
    return not stream.names_main
