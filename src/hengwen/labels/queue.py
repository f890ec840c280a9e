"""Select the answers that a rater labels: at random, over all prompts, and without the scores of judges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hengwen.errors import ConfigError, did_you_mean
from hengwen.judges.calibration.joining import random_draw
from hengwen.plans.suite import LoadedPlan, LoadedTask
from hengwen.prompts import Rubric
from hengwen.records import Label, LabelKey, Response, Sample, digest
from hengwen.score_id import ScoreId


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One answer that waits for a label, and the score that the label is for."""

    sample: Sample
    response: Response
    rubric: Rubric
    score: ScoreId
    persona: str
    drawn: str
    """How the answer was selected, such as ``random|seed:0``; stored with each label of the answer."""

    @property
    def key(self) -> LabelKey:
        """Key of the labels that answer the question."""
        return self.label(0.0, "").key

    @property
    def token(self) -> str:
        """Name of the question that does not tell whose answer it is."""
        return digest(*self.key)[:16]

    def label(self, value: float, rater: str) -> Label:
        """Return a label with the value that a rater gave this answer."""
        response = self.response
        return Label(
            task=response.task,
            id=response.sample_id,
            checkpoint=response.checkpoint,
            repeat=response.repeat,
            output=response.text,
            score=self.score.base,
            value=value,
            rater=rater,
            drawn=self.drawn,
        )


def draw_questions(
    suite: LoadedPlan,
    generated: Iterable[Response] = (),
    *,
    task: str | None = None,
    score: str | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> list[Question]:
    """Return the answers to label, in random order; see ``_sampling_order``."""
    tasks = _select_tasks(suite, task)
    scores = {name: _score_to_label(loaded, score) for name, loaded in tasks.items()}
    if score is not None and not any(scores.values()):
        known = [name for loaded in tasks.values() for name in loaded.rubrics]
        raise ConfigError(f"no judge gives {score!r}{did_you_mean(score, known)}")
    answers = [
        answer
        for answer in _all_answers(suite, generated)
        if scores.get(answer.task) and answer.sample_id in tasks[answer.task].samples.samples
    ]
    if not answers:
        raise ConfigError("nothing to label: no task has both a judge and an answer")

    chosen = sorted(answers, key=_sampling_order(answers, seed))[:limit]
    drawn = random_draw(seed, len(answers))
    return [_question(tasks[answer.task], scores[answer.task], answer, drawn) for answer in chosen]


def _sampling_order(answers: Sequence[Response], seed: int) -> Callable[[Response], tuple[float, str]]:
    """Return the key of a systematic random sample: every prefix is spread over checkpoints and prompts."""
    # Labels of one prompt tell less than labels of several. So a checkpoint's prompts are all taken before
    # one is taken again, and the checkpoints begin at different prompts. A prefix still holds each answer
    # with the same probability, which the corrected means need; the scores of judges have no part in it.
    repeats: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for answer in answers:
        repeats[answer.task, answer.checkpoint, answer.sample_id].append(_draw(seed, answer))
    ranks: dict[tuple[str, str, str], int] = {}
    counts: dict[tuple[str, str], int] = {}
    for kind, index in (("checkpoint", 1), ("prompt", 2)):
        for task in {task for task, *_ in repeats}:
            names = {group[index] for group in repeats if group[0] == task}
            counts[kind, task] = len(names)
            ordered = sorted(names, key=lambda name: digest(seed, kind, task, name))
            ranks |= {(kind, task, name): rank for rank, name in enumerate(ordered)}
    for draws in repeats.values():
        draws.sort()

    def key(answer: Response) -> tuple[float, str]:
        task, draw = answer.task, _draw(seed, answer)
        draws = repeats[task, answer.checkpoint, answer.sample_id]
        start = (
            _uniform(seed, task) + ranks["checkpoint", task, answer.checkpoint] / counts["checkpoint", task]
        )
        within = _uniform(seed, task, answer.checkpoint, answer.sample_id)
        start += (ranks["prompt", task, answer.sample_id] + within) / counts["prompt", task]
        return (draws.index(draw) + start % 1) / len(draws), draw

    return key


def _uniform(*parts: object) -> float:
    return int(digest(*parts)[:12], 16) / 16**12


def _draw(seed: int, answer: Response) -> str:
    return digest(seed, answer.task, answer.sample_id, answer.checkpoint, answer.repeat)


def generated_answers(suite: LoadedPlan, store: str) -> tuple[list[Response], list[str]]:
    """Return the answers that backends generated in the newest run of each checkpoint."""
    names = [checkpoint.name for checkpoint in suite.plan.checkpoints if checkpoint.backend is not None]
    if not names:
        return [], []
    answers: list[Response] = []
    if "://" in store or Path(store).exists():
        answers = list(_from_store(suite.plan.name, names, store))
    answered = {answer.checkpoint for answer in answers}
    return answers, [
        f"checkpoint {name!r} has no answers in {store} yet; generate them with: hengwen run"
        for name in names
        if name not in answered
    ]


def _from_store(plan: str, checkpoints: Sequence[str], store: str) -> Iterator[Response]:
    from hengwen.store import open_store

    with open_store(store) as opened:
        for run in opened.latest(plan):
            if run.checkpoint in checkpoints:
                yield from opened.responses(run)


def _select_tasks(suite: LoadedPlan, name: str | None) -> dict[str, LoadedTask]:
    tasks = {task.spec.name: task for task in suite.tasks}
    if name is None:
        return tasks
    if name not in tasks:
        raise ConfigError(f"the plan has no task {name!r}{did_you_mean(name, tasks)}")
    return {name: tasks[name]}


def _score_to_label(task: LoadedTask, score: str | None) -> str:
    """Return the name of the score to label in a task; empty if the task does not have the score."""
    if score is None:
        return next(iter(task.rubrics), "")
    return score if score in task.rubrics else ""


def _all_answers(suite: LoadedPlan, generated: Iterable[Response]) -> Iterator[Response]:
    for responses in suite.responses.values():
        yield from responses
    yield from generated


def _question(task: LoadedTask, score: str, answer: Response, drawn: str) -> Question:
    from hengwen.prompts.render import render_persona

    sample, rubric = task.samples.samples[answer.sample_id], task.rubrics[score]
    score_id = next(judged for judged in task.judged_scores if judged.base == score)
    persona = task.persona if "persona" in rubric.uses else ""
    return Question(
        sample=sample,
        response=answer,
        rubric=rubric,
        score=score_id,
        persona=render_persona(persona, sample),
        drawn=drawn,
    )
