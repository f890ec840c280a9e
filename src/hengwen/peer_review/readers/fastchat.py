"""Read battles, prompts and answers from the files of FastChat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.io.row_reader import read_rows
from hengwen.peer_review.readers.columns import known_value, two_models

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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


def read_prompts(path: Path) -> dict[tuple[str, int], str]:
    """Return the prompt of each question and turn. The prompt of a later turn contains the earlier turns."""
    prompts = {}
    for row in read_rows(path):
        turns = _texts(row, "turns", row.values.get("turns"))
        for number in range(1, len(turns) + 1):
            prompts[row.required_text("question_id"), number] = "\n\n".join(turns[:number])
    return prompts


def read_answers(paths: Sequence[Path]) -> dict[tuple[str, int, str], str]:
    """Return the answer to each question and turn by each model."""
    answers = {}
    for path in paths:
        for row in read_rows(path):
            choices = row.values.get("choices")
            if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
                row.fail("field 'choices' must be a list of objects with 'turns'")
            turns = _texts(row, "choices[0].turns", choices[0].get("turns"))
            for number, text in enumerate(turns, start=1):
                answers[row.required_text("question_id"), number, row.required_text("model_id")] = text
    return answers


def _texts(row: DataRow, name: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        row.fail(f"{name} must be a list of texts")
    return value
