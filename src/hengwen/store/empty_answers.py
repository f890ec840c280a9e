"""``empty_answers``: the runs and tasks of which more than a few answers have no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import case, func, select

from hengwen.results.coverage import EmptyAnswers
from hengwen.store import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.records import Run
    from hengwen.store.store import Store

WHITESPACE = "".join(filter(str.isspace, map(chr, range(1, 0x3001))))
"""All characters that ``str.strip`` removes."""


def empty_answers(store: Store, runs: Sequence[Run], labels: Sequence[str]) -> Iterator[EmptyAnswers]:
    """Yield the runs, by their labels, and the tasks of which more than 2 % of the answers are empty."""
    response = tables.response.c
    is_empty = func.ltrim(response.text, WHITESPACE) == ""
    query = (
        select(response.run_id, response.task, func.sum(case((is_empty, 1), else_=0)), func.count())
        .where(response.run_id.in_([run.id for run in runs]))
        .group_by(response.run_id, response.task)
        .order_by(response.run_id, response.task)
    )
    with store.connect() as connection:
        rows = connection.execute(query).all()
    for run, label in zip(runs, labels, strict=True):
        counts = (EmptyAnswers(label, task, empty, n) for run_id, task, empty, n in rows if run_id == run.id)
        yield from (item for item in counts if item.is_finding)
