"""Read a ranking of models by people from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.argument_types import checked_arguments
from hengwen.io.row_reader import read_number, read_rows

if TYPE_CHECKING:
    from pathlib import Path


@checked_arguments
def read_human_ranking(path: Path) -> dict[str, float]:
    """Return the human score of each model, higher is better.

    Args:
        path: A CSV or JSONL file with the column ``model`` and the column ``score`` (higher is better, such
            as an Elo rating) or ``rank`` (1 is best).

    Raises:
        DataError: The file cannot be read, a model occurs twice, or a row has no score and no rank. A row
            with both a score and a rank is also an error.
    """
    scores: dict[str, float] = {}
    for row in read_rows(path):
        model = row.required_text("model")
        if model in scores:
            row.fail(f"model {model!r} occurs twice")
        named = [name for name in ("score", "rank") if row.values.get(name) not in (None, "")]
        if len(named) != 1:
            row.fail(f"a row needs either 'score' or 'rank', got {' and '.join(named) or 'neither'}")
        number = read_number(row, named[0])
        scores[model] = number if named[0] == "score" else -number
    return scores
