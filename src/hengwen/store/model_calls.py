"""``ModelCalls``: what one model was asked in a role, and how fast and how often it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import case, func, select

from hengwen.store import tables
from hengwen.store.batches import BATCHED, UNREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection


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
