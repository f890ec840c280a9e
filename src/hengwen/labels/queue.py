"""Which answers are shown to a rater, and in which order: drawn at random by a seed, blind to every judge."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, did_you_mean
from hengwen.records import Label, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.prompts import Rubric
    from hengwen.records import Response, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One answer to label with one score."""

    sample: Sample
    response: Response
    rubric: Rubric
    score: str
    persona: str

    @property
    def part(self) -> str:
        """``level``, or a criterion of the rubric."""
        return self.score.rpartition(".")[2]

    def label(self, value: float, rater: str) -> Label:
        """Return the label that a rater gives."""
        response = self.response
        return Label(
            task=response.task,
            id=response.sample_id,
            checkpoint=response.checkpoint,
            repeat=response.repeat,
            output=response.text,
            score=self.score,
            value=value,
            rater=rater,
        )


def questions(
    suite: LoadedPlan,
    stored: Iterable[Response] = (),
    *,
    task: str | None = None,
    score: str | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> list[Question]:
    """Return what is to be labelled, in random order.

    The order depends on the seed alone: the first ``limit`` answers are a simple random sample, the same for
    every rater, and a larger limit adds to a smaller one.

    Args:
        suite: With the answers that the plan stores.
        stored: Answers that were generated in runs.
        task: Only of this one.
        score: Of a judge; default: the level of each task's first judge.
        seed: Of the order.
        limit: Only so many.

    Raises:
        ConfigError: There is no such task or score, or nothing to label.
    """
    chosen = {one.spec.name: one for one in _tasks(suite, task)}
    scores = {name: _score(one, score) for name, one in chosen.items()}
    if score is not None and not any(scores.values()):
        known = [name for one in chosen.values() for name in one.rubrics]
        raise ConfigError(f"no judge gives {score!r}{did_you_mean(score, known)}")
    answers = [
        answer for answer in _answers(suite, stored) if scores.get(answer.task) and _sample(chosen, answer)
    ]
    if not answers:
        raise ConfigError("there is nothing to label: no judge, or no answer of a task that has one")

    def at_random(answer: Response) -> str:
        return digest(seed, answer.task, answer.sample_id, answer.checkpoint, answer.repeat)

    drawn = sorted(answers, key=at_random) if limit is None else nsmallest(limit, answers, key=at_random)
    return [_question(chosen[answer.task], scores[answer.task], answer) for answer in drawn]


def generated(suite: LoadedPlan, store: str) -> tuple[list[Response], list[str]]:
    """Return the answers that the newest runs of a store hold for checkpoints that a backend answers.

    Args:
        suite: Of the plan.
        store: Path or URL.

    Returns:
        The answers, and warnings on checkpoints that have none.
    """
    wanted = [checkpoint.name for checkpoint in suite.plan.checkpoints if checkpoint.backend is not None]
    if not wanted:
        return [], []
    found: list[Response] = []
    if "://" in store or Path(store).exists():
        found = list(_from_store(suite.plan.name, wanted, store))
    there = {answer.checkpoint for answer in found}
    return found, [
        f"checkpoint {name!r} has no answers in {store} yet; they come with: hengwen run"
        for name in wanted
        if name not in there
    ]


def _from_store(plan: str, wanted: Sequence[str], store: str) -> Iterator[Response]:
    from hengwen.records import Response
    from hengwen.store import open_store

    with open_store(store) as opened:
        for run in opened.latest(plan):
            for answer in opened.answers(run) if run.checkpoint in wanted else ():
                yield Response(
                    sample_id=answer.sample_id,
                    text=answer.text,
                    task=answer.task,
                    checkpoint=run.checkpoint,
                    repeat=answer.repeat,
                )


def _tasks(suite: LoadedPlan, task: str | None) -> Sequence[LoadedTask]:
    names = [one.spec.name for one in suite.tasks]
    if task is not None and task not in names:
        raise ConfigError(f"the plan has no task {task!r}{did_you_mean(task, names)}")
    return [one for one in suite.tasks if task in (None, one.spec.name)]


def _score(task: LoadedTask, score: str | None) -> str:
    """The score to label in a task; empty where it has none."""
    known = task.rubrics
    return next(iter(known), "") if score is None else score if score in known else ""


def _answers(suite: LoadedPlan, stored: Iterable[Response]) -> Iterator[Response]:
    for answers in suite.responses.values():
        yield from answers
    yield from stored


def _sample(tasks: dict[str, LoadedTask], answer: Response) -> bool:
    return answer.sample_id in tasks[answer.task].samples.samples


def _question(task: LoadedTask, score: str, answer: Response) -> Question:
    from hengwen.prompts.render import render_persona

    sample, rubric = task.samples.samples[answer.sample_id], task.rubrics[score]
    shown = task.persona if "persona" in rubric.uses else ""
    return Question(
        sample=sample, response=answer, rubric=rubric, score=score, persona=render_persona(shown, sample)
    )
