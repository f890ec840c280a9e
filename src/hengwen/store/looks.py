"""Count the runs that are tested against one baseline: each test is another chance of a false alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from hengwen.store import tables
from hengwen.store.database import store_errors

if TYPE_CHECKING:
    from sqlalchemy import Engine


def count_look(engine: Engine, series: str, run_id: str, when: str, *, read_only: bool) -> int:
    """Record that a run is tested against a baseline; return its number, from 1, among the tested runs."""
    look = tables.look
    recorded = select(look.c.number).where(look.c.series == series, look.c.run_id == run_id)
    last = select(func.coalesce(func.max(look.c.number), 0)).where(look.c.series == series)
    with store_errors(engine), engine.begin() as connection:
        if not read_only:  # so that no other process takes the same number
            is_sqlite = engine.dialect.name == "sqlite"
            connection.exec_driver_sql("BEGIN IMMEDIATE" if is_sqlite else "LOCK TABLE look")
        number = connection.execute(recorded).scalar()
        if number is not None:
            return int(number)
        number = int(connection.execute(last).scalar_one()) + 1
        if not read_only:
            columns = {"series": series, "run_id": run_id, "number": number, "looked": when}
            connection.execute(look.insert(), [columns])
        return number
