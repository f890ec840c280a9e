"""What a rater needs: the answers of a plan in the order of labelling, and the file of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from hengwen.errors import ConfigError
from hengwen.io.output_files import check_inside, check_target
from hengwen.judges.calibration.statistics import krippendorff_alpha, rating_table
from hengwen.labels.file import LabelFile
from hengwen.labels.queue import Question, draw_questions, generated_answers
from hengwen.plans.overrides import input_files
from hengwen.plans.plan import Plan
from hengwen.plans.suite import LoadedPlan, load_suite
from hengwen.records import Label
from hengwen.store import store_files


class RaterAgreement(NamedTuple):
    """How well raters agree with each other."""

    raters: int
    shared: int
    """Number of answers with labels of two raters or more."""
    alpha: float | None
    """Krippendorff's alpha over these; None if it is undefined."""


@dataclass
class LabelDesk:
    """The answers of a plan that people label, and the file of their labels."""

    plan: str
    """Name of the plan."""
    path: Path
    """File of the plan."""
    suite: LoadedPlan
    """The plan with its files, without the labels."""
    questions: Sequence[Question]
    file: LabelFile
    warnings: Sequence[str]
    """What the rater should know first, such as checkpoints without answers."""
    is_in_plan: bool
    """Whether the plan names the label file."""
    unstored: str = ""
    """Why the labels are in the file but not in the store; empty if they are in both."""
    lock: Lock = field(default_factory=Lock)
    """Held by who writes the labels to the store."""

    @cached_property
    def _by_token(self) -> dict[str, Question]:
        return {question.token: question for question in self.questions}

    def question(self, token: str) -> Question:
        """Return the question with a token."""
        if token not in self._by_token:
            raise ConfigError("this answer is not among those to label; open the page of labels again")
        return self._by_token[token]

    def open_questions(self, rater: str) -> list[Question]:
        """Return the questions that a rater has not answered, in the order of labelling."""
        done = {label.key for label in self.file.labels() if label.rater == rater}
        return [question for question in self.questions if question.key not in done]

    def give(self, question: Question, level: str, rater: str) -> None:
        """Write the label of a rater; a level that was given before is not an error if it is the same."""
        if level not in question.rubric.labels:
            raise ConfigError(f"the rubric has no level {level!r}")
        label = question.label(question.rubric.labels[level], rater)
        for other in self.file.labels():
            if (other.key, other.rater, other.value) == (label.key, rater, label.value):
                return
        self.file.append(label)

    def take_back(self, question: Question, rater: str) -> Label | None:
        """Remove and return the label of a rater; None if it is gone."""
        for label in self.file.labels():
            if label.key == question.key and label.rater == rater:
                self.file.take_back(question.label(label.value, rater))
                return label
        return None

    def rater_agreement(self) -> RaterAgreement:
        """Return how well the raters agree on the answers that two or more of them labelled."""
        ratings: dict[object, list[tuple[str, float]]] = {}
        for label in self.file.labels():
            ratings.setdefault(label.key, []).append((label.rater, label.value))
        shared = [item for item in ratings.values() if len(item) > 1]
        raters = {rater for item in ratings.values() for rater, _ in item}
        alpha = krippendorff_alpha(rating_table(shared)) if shared else None
        return RaterAgreement(len(raters), len(shared), alpha)


def open_desk(  # noqa: PLR0913 - options of a command
    loaded: Plan,
    path: Path,
    store: str,
    *,
    trust: bool = False,
    output: Path | None = None,
    task: str | None = None,
    score: str | None = None,
    seed: int | None = None,
    limit: int | None = None,
) -> LabelDesk:
    """Return the answers of a trusted plan in the order of labelling, and the file of their labels."""
    target = output or loaded.labels or path.with_name("labels.csv")
    if output is None and not trust:
        check_inside(target, path)
    unlabelled = loaded.model_copy(update={"labels": None})  # the label file may be the output
    check_target(target, [path, *input_files(unlabelled), *store_files(store)])
    suite = load_suite(unlabelled, trust=True)
    answers, warnings = generated_answers(suite, store)
    order_seed = loaded.seed if seed is None else seed
    questions = draw_questions(suite, answers, task=task, score=score, seed=order_seed, limit=limit)
    return LabelDesk(
        plan=loaded.name,
        path=path,
        suite=suite,
        questions=questions,
        file=LabelFile(target, suite.levels),
        warnings=warnings,
        is_in_plan=loaded.labels is not None and target.resolve() == loaded.labels.resolve(),
    )
