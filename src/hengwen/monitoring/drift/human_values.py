"""Read from a file the values that people gave to checkpoints, prompts or answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.io.row_reader import read_number, read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Key = tuple[str, str, str, str]
"""(checkpoint, task, sample id, score); an empty text means any."""


@dataclass(frozen=True, slots=True)
class HumanValues:
    """Values that people gave to checkpoints or prompts; several values for one of them are averaged."""

    values: Mapping[Key, float]

    def of_checkpoint(self, checkpoint: str, task: str, score: str) -> float | None:
        """Return the value that people gave to a checkpoint as a whole; None if there is none."""
        return self._lookup((checkpoint,), task, "", score)

    def of_prompt(self, checkpoint: str, task: str, sample: str, score: str) -> float | None:
        """Return the value that people gave to a prompt at a checkpoint."""
        return self._lookup((checkpoint, ""), task, sample, score)

    def _lookup(self, checkpoints: tuple[str, ...], task: str, sample: str, score: str) -> float | None:
        keys = (
            (checkpoint, a_task, sample, a_score)
            for checkpoint in checkpoints
            for a_task in (task, "")
            for a_score in (score, "")
        )
        return next((self.values[key] for key in keys if key in self.values), None)


def read_human_values(path: Path) -> HumanValues:
    """Read a file with the column ``value`` and at least one of the columns ``checkpoint`` and ``id``."""
    values: dict[Key, list[float]] = defaultdict(list)
    for row in read_rows(path):
        key = (row.text("checkpoint"), row.text("task"), row.text("id"), row.text("score"))
        if not (key[0] or key[2]):
            raise DataError(row.locate("names neither a checkpoint nor an id"), line=row.number)
        values[key].append(read_number(row, "value"))
    return HumanValues({key: fsum(numbers) / len(numbers) for key, numbers in values.items()})
