"""Read the answers of the models under test from the newest run of each checkpoint of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.records import Response, Run, Sample
    from hengwen.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A sample with one answer of each model that answered it in one repeat."""

    task: LoadedTask
    sample: Sample
    repeat: int
    """Number of the repeat in which the models gave these answers, from 1."""
    answers: dict[int, Response]
    """Answer of each model; the key is the index of the model in the list of models under test."""

    @property
    def name(self) -> str:
        """Name of the question: task and sample."""
        return f"{self.task.spec.name}/{self.sample.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The models under test and the questions that they answered."""

    runs: tuple[Run, ...]
    """Newest run of each model."""
    questions: tuple[Question, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, which are the checkpoints of the plan."""
        return tuple(run.checkpoint for run in self.runs)


def stored_contest(
    suite: LoadedPlan, store: Store, checkpoints: list[str], limit: int | None = None
) -> Contest:
    """The stored answers of a plan's checkpoints to all questions that at least two of them answered."""
    runs = tuple(run for run in store.latest(suite.plan.name) if run.checkpoint in checkpoints)
    if len(runs) < 2:
        raise ConfigError(
            f"a peer review needs stored answers of at least 2 checkpoints of plan {suite.plan.name!r}, "
            f"{store.name} has {len(runs)}; first: hengwen run PLAN"
        )
    known = {
        (task.spec.name, sample.id): (task, sample)
        for task in suite.tasks
        if task.panel
        for sample in task.samples.take(limit)
    }
    answers: dict[tuple[str, str, int], dict[int, Response]] = {}
    for model, run in enumerate(runs):
        hashes = store.sample_hashes(run)
        for response in store.responses(run):
            key = (response.task, response.sample_id)
            if key in known and known[key][1].hash == hashes[key]:
                answers.setdefault((*key, response.repeat), {})[model] = response
    questions = tuple(
        Question(task=known[task, name][0], sample=known[task, name][1], repeat=repeat, answers=by_model)
        for (task, name, repeat), by_model in sorted(answers.items())
        if len(by_model) > 1
    )
    if not questions:
        raise ConfigError(
            f"no prompt of plan {suite.plan.name!r} has stored answers of two checkpoints in {store.name}; "
            "if prompts changed, run the plan again: hengwen run PLAN"
        )
    return Contest(runs=runs, questions=questions)
