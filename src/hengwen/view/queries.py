"""What pages read of single runs: scores, prompts, texts, calls."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import String, func, or_, select
from sqlalchemy import cast as as_type

from hengwen.score_id import caps
from hengwen.store.score_queries import read_evaluators
from hengwen.store.tables import attempt, evaluation, evaluator, response, sample

if TYPE_CHECKING:
    from collections.abc import Collection

    from hengwen.records import Kind, Run
    from hengwen.score_id import ScoreId
    from hengwen.store import Store


MAX_TAG, MAX_TAGS = 40, 60
"""Longest tag in characters, and how many a page offers."""


class AnswerScore(NamedTuple):
    """A score that each answer has."""

    id: ScoreId
    kind: Kind

    @property
    def address(self) -> str:
        """``TASK/SCORE``."""
        return self.id.address


def answer_scores(store: Store, run: Run) -> list[AnswerScore]:
    """Return the scores that a run gave its answers as the plan orders them; those of capping rules last."""
    used = select(evaluation.c.evaluator_id).where(
        evaluation.c.run_id == run.id, evaluation.c.sample_id != ""
    )
    with store.connect() as connection:
        evaluators = read_evaluators(connection, used.distinct()).values()
    order = {address: index for index, address in enumerate(run.score_order)}
    scores = {
        AnswerScore(score, evaluator.kind): evaluator.kind == "scorer" and caps(evaluator.signature)
        for evaluator in evaluators
        if evaluator.role == "answer"
        for score in evaluator.scores
    }
    return sorted(
        scores, key=lambda score: (scores[score], order.get(score.address, len(order)), score.address)
    )


def has_labels(store: Store) -> bool:
    """Return whether people have labelled answers of any run."""
    with store.connect() as connection:
        label = select(evaluator.c.id).where(evaluator.c.role == "human").limit(1)
        return connection.execute(label).first() is not None


def prompts(store: Store, run: Run, task: str, ids: Collection[str]) -> dict[str, str]:
    """Return the texts of some prompts of a run, by id."""
    query = (
        select(response.c.sample_id, sample.c.input)
        .join(sample, sample.c.hash == response.c.sample_hash)
        .where(response.c.run_id == run.id, response.c.task == task, response.c.sample_id.in_(ids))
    )
    with store.connect() as connection:
        inputs = {sample_id: json.loads(text) for sample_id, text in connection.execute(query)}
    return {name: value if isinstance(value, str) else value[-1][1] for name, value in inputs.items()}


def texts(
    store: Store, runs: Collection[Run], task: str, ids: Collection[str]
) -> dict[tuple[str, str], list[str]]:
    """Return the answers of runs to some prompts, by run and prompt, sorted by repeat."""
    query = (
        select(response.c.run_id, response.c.sample_id, response.c.text)
        .where(
            response.c.run_id.in_([run.id for run in runs]),
            response.c.task == task,
            response.c.sample_id.in_(ids),
        )
        .order_by(response.c.run_id, response.c.sample_id, response.c.repeat)
    )
    answers: dict[tuple[str, str], list[str]] = defaultdict(list)
    with store.connect() as connection:
        for run_id, sample_id, text in connection.execute(query):
            answers[run_id, sample_id].append(text)
    return answers


def matching(store: Store, runs: Collection[Run], task: str, text: str, tag: str) -> set[str]:
    """Return the prompts of runs that have a text in prompt or answer, and a tag in their metadata."""
    query = (
        select(response.c.sample_id)
        .join(sample, sample.c.hash == response.c.sample_hash)
        .where(response.c.run_id.in_([run.id for run in runs]), response.c.task == task)
        .distinct()
    )
    if text:
        has_text = (column.icontains(text, autoescape=True) for column in (response.c.text, sample.c.input))
        query = query.where(or_(*has_text))
    if tag:
        query = query.where(
            as_type(sample.c.metadata, String).contains(json.dumps(tag, ensure_ascii=False), autoescape=True)
        )
    with store.connect() as connection:
        return set(connection.execute(query).scalars())


def tags(store: Store, run: Run, task: str) -> list[str]:
    """Return the short texts in the metadata of a task's samples that several samples have."""
    query = (
        select(sample.c.metadata, func.count())
        .join(response, sample.c.hash == response.c.sample_hash)
        .where(response.c.run_id == run.id, response.c.task == task)
        .group_by(sample.c.metadata)
    )
    counts: Counter[str] = Counter()
    with store.connect() as connection:
        for metadata, count in connection.execute(query):
            lists = (value if isinstance(value, list) else [value] for value in json.loads(metadata).values())
            for tag in {tag for values in lists for tag in values if isinstance(tag, str) and tag}:
                counts[tag] += count if len(tag) <= MAX_TAG else 0
    return sorted(tag for tag, count in counts.items() if count > 1)[:MAX_TAGS]


class Progress(NamedTuple):
    """How far a run is."""

    answers: int
    expected: int | None
    calls: int
    tokens: dict[str, tuple[int, int]]
    """Tokens in and out, by model."""


def progress(store: Store, run: Run) -> Progress:
    """Return the answers and calls that a run has stored so far."""
    answers = select(func.count()).select_from(response).where(response.c.run_id == run.id)
    sums = (func.sum(attempt.c[name]) for name in ("calls", "input_tokens", "output_tokens"))
    calls = select(attempt.c.model, *sums).where(attempt.c.run_id == run.id).group_by(attempt.c.model)
    with store.connect() as connection:
        done = connection.execute(answers).scalar_one()
        rows = connection.execute(calls).all()
    return Progress(
        answers=done,
        expected=_expected(run),
        calls=sum(count for _, count, _, _ in rows),
        tokens={model: (sent, received) for model, _, sent, received in rows},
    )


def _expected(run: Run) -> int | None:
    """Return how many answers a run will have; None if that is not recorded."""
    tasks = run.facts.get("tasks")
    try:
        return sum(facts["samples_taken"] * int(facts["repeats"]) for facts in tasks.values())  # type: ignore[attr-defined]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
