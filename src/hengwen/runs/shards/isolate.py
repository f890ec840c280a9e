"""Score rows in a separate process, so that a row that kills the process becomes a failure of this row."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING

from hengwen._internal.worker_process import worker_process
from hengwen.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hengwen.io.row_reader import DataRow
    from hengwen.io.row_writer import JsonRow
    from hengwen.runs.score_file import RowScorer

ATTEMPTS = 2
"""Number of processes that may die while they score a row, before the row is a failure."""


def score_isolated(row_scorer: RowScorer, rows: Iterable[DataRow | DataError]) -> Iterator[JsonRow]:
    """Yield the output row of each row; a row that kills its process twice becomes a failure.

    Args:
        row_scorer: Scorer of rows, which is sent to the process.
        rows: The rows; each is sent alone, which takes about 0.2 ms.
    """
    pool = worker_process()
    try:
        for row in rows:
            for _ in range(ATTEMPTS):
                try:
                    scored = pool.submit(row_scorer, row).result()
                    break
                except BrokenExecutor:
                    pool.shutdown()
                    pool = worker_process()
            else:
                assert not isinstance(row, DataError)  # a malformed line is not given to the scorer
                scored = row_scorer.failed_row(row, f"killed {ATTEMPTS} processes that scored it")
            yield scored
    finally:
        pool.shutdown()
