"""Read prompts and answers from the files of FastChat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.io.row_reader import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.io.row_reader import DataRow


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
