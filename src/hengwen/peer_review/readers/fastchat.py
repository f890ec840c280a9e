"""Rows of FastChat's pairwise judgments (MT-bench), and of PiCO, which has the same format.

A row holds two verdicts of a judge: ``g1_winner``, for which the answer of ``model_1`` was shown first, and
``g2_winner``, for which the answer of ``model_2`` was shown first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.peer_review.readers.columns import known_value, two_models

if TYPE_CHECKING:
    from hengwen.io.row_reader import DataRow
    from hengwen.peer_review.readers.columns import BattleColumns

FIELDS = ("g1_winner", "g2_winner")
WINNERS = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, "error": None}


def is_fastchat(row: DataRow) -> bool:
    """Return whether a row has a field that only pairwise judgments of FastChat have."""
    return any(name in row.values for name in FIELDS)


def add_fastchat_row(columns: BattleColumns, row: DataRow) -> None:
    """Add the two verdicts of a row; a verdict ``error`` is counted as a failure."""
    models = two_models(row, "model_1", "model_2")
    question, turn, judge = row.required_text("question_id"), row.positive_int("turn", 1), _judge(row)
    for name, first in zip(FIELDS, (1, -1), strict=True):
        winner = known_value(row, name, WINNERS)
        if winner is None:
            columns.failures += 1
        else:
            columns.add(question, turn, judge, models, winner, first)


def _judge(row: DataRow) -> str:
    """Return the name of the judge; the field is the name, or a list of name and prompt."""
    judge = row.values.get("judge")
    if isinstance(judge, list):
        if not judge or not isinstance(judge[0], str) or not judge[0]:
            row.fail("field 'judge' must be a name, or a list that begins with a name")
        return judge[0]
    return row.required_text("judge")
