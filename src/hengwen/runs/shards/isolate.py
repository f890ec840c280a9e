"""Score rows in a separate process, so that only a row that kills this process becomes a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.parallel import map_in_processes
from hengwen._internal.worker_pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hengwen.errors import DataError
    from hengwen.io.row_reader import DataRow
    from hengwen.io.row_writer import JsonRow
    from hengwen.runs.score_file import RowScorer


def score_isolated(row_scorer: RowScorer, rows: Iterable[DataRow | DataError]) -> Iterator[JsonRow]:
    """Yield the output row of each row; a row at which the scoring process dies twice becomes a failure."""
    pool: WorkerPool[DataRow | DataError, JsonRow] = WorkerPool(row_scorer, 1, crashed=row_scorer.failed_row)
    return map_in_processes(pool, rows)
