"""What reports show of a store: a stored answer with its outcomes, and the calls of one model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import case, func, select

from hengwen.store import tables
from hengwen.store.batches import BATCHED, UNREAD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from hengwen.records import Outcome, Sample
    from hengwen.score_id import ScoreId


ResponseKey = tuple[str, str, int]
"""(task, sample id, repeat): identifies an answer in one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A stored answer with its input and its outcomes (scores and failures)."""

    task: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: Mapping[ScoreId, Outcome]
    sample: Sample
    """The prompt with its references and metadata."""


class ModelCalls(NamedTuple):
    """Calls of one model in one role."""

    role: str
    """``judge``, or ``subject`` (the model under test)."""
    model: str
    """Name that the server returned; empty if no call got an answer."""
    calls: int
    """Number of replies that were paid for."""
    failed: int
    """Number of attempts that failed."""
    input_tokens: int
    output_tokens: int
    seconds: float | None
    """Mean latency of the attempts that did not fail; None if all failed."""


def model_calls(connection: Connection, run_ids: Sequence[str]) -> list[ModelCalls]:
    """Return the calls of runs by role and model."""
    attempt = tables.attempt.c
    is_answered = attempt.status == "ok"
    query = (
        select(
            attempt.role,
            attempt.model,
            func.sum(attempt.calls),
            func.sum(case((attempt.status.in_(("ok", BATCHED, UNREAD)), 0), else_=1)),
            func.sum(attempt.input_tokens),
            func.sum(attempt.output_tokens),
            func.avg(case((is_answered, attempt.latency))),
        )
        .where(attempt.run_id.in_(run_ids))
        .group_by(attempt.role, attempt.model)
        .order_by(attempt.role, attempt.model)
    )
    return [ModelCalls(*row) for row in connection.execute(query)]
