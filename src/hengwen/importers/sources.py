"""``ScoreSource``: rows of scores with named columns, from a table, from verdicts or from a log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hengwen.importers.verdicts import scan_any_rows
from hengwen.io.row_reader import DataRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hengwen.errors import DataError
    from hengwen.importers.columns import ColumnMap
    from hengwen.importers.logs import Log
    from hengwen.importers.verdicts import Verdict, VerdictFile

DETAILS = "\0details"
"""Key of what a source says beside the score; no column of a file has this name."""
WINS = "wins"
"""Part of a verdict that says how often an answer wins."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, whose columns are chosen by the user or by their names."""

    path: Path
    notes: list[str] = field(default_factory=list)
    columns: None = None

    def rows(self) -> Iterator[DataRow | DataError]:
        """Yield the rows of the table; for a malformed row, its error."""
        return scan_any_rows(self.path)


@dataclass(frozen=True, slots=True)
class Wins:
    """Verdicts on pairs as scores: 1 for an answer that wins, 0 for one that loses, 0.5 for a tie."""

    file: VerdictFile
    baseline: str
    judge: str
    """Judge of verdicts without one."""

    @property
    def path(self) -> Path:
        """The file of the verdicts."""
        return self.file.path

    @property
    def notes(self) -> list[str]:
        """What the answers are compared with."""
        return (
            [f"the share of wins over {self.baseline}"]
            if self.baseline
            else ["the share of wins over all opponents"]
        )

    @property
    def columns(self) -> ColumnMap:
        """The columns of the verdicts."""
        return self.file.columns

    def rows(self) -> Iterator[DataRow]:
        """Yield a row for each verdict on an answer, none for those of the baseline."""
        for verdict in self.file:
            for side, model in enumerate(verdict.models):
                if model != self.baseline:
                    yield DataRow(verdict.row.path, verdict.row.number, self._values(verdict, side))

    def _values(self, verdict: Verdict, side: int) -> dict[str, Any]:
        winner = verdict.winner
        won = verdict.problem if winner is None else 1 - winner if side else winner
        first = -verdict.first if side else verdict.first
        turn = f"/{verdict.turn}" if verdict.turn > 1 else ""
        return {
            "checkpoint": verdict.models[side],
            "id": verdict.question + turn,
            "cluster": verdict.question,
            "judge": verdict.judge or ("" if verdict.rater else self.judge),
            "rater": verdict.rater,
            "name": WINS,
            "score": won,
            "prompt": verdict.prompt,
            "answer": verdict.answers[side],
            DETAILS: {
                "opponent": verdict.models[1 - side],
                "first": first,
                "side": "b" if side and not self.baseline else "a",
            },
        }


ScoreSource: TypeAlias = "Table | Wins | Log"
"""A file that has rows of scores, which can be read several times."""


def common_model(files: Sequence[VerdictFile]) -> str:
    """Return the only model that is in every verdict; "" if none or several are."""
    models: Counter[str] = Counter()
    verdicts = 0
    for file in files:
        for verdict in file:
            models.update(verdict.models)
            verdicts += 1
    common = [model for model, count in models.items() if count == verdicts]
    return common[0] if len(common) == 1 else ""
