"""Rows of plain battles: one verdict of a judge in each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.io.field_names import FieldNames
from hengwen.io.row_reader import read_number
from hengwen.peer_review.battles import FIRST, OUTCOMES
from hengwen.peer_review.readers.columns import known_value, two_models

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.io.row_reader import DataRow
    from hengwen.peer_review.battles import Battles
    from hengwen.peer_review.readers.columns import BattleColumns

FIELDS = (
    "model_a",
    "model_b",
    "winner",
    "judge",
    "question",
    "first",
    "turn",
    "length_a",
    "length_b",
    "prompt",
    "answer_a",
    "answer_b",
)
NAMES = FieldNames(
    FIELDS,
    {"question": ("question_id", "id"), "first": ("shown_first",)},
    neighbours=("question_id",),
    way_out="rename the column",
)
WINNERS: dict[object, float | None] = {**OUTCOMES, "error": None}


def add_plain_row(columns: BattleColumns, row: DataRow) -> None:
    """Add the verdict of a row; a verdict ``error`` is counted as a failure."""
    models = two_models(row, "model_a", "model_b")
    winner = known_value(row, "winner", WINNERS)
    if winner is None:
        columns.failures += 1
        return
    question = row.text("question") or row.text("question_id") or row.missing("question")
    turn = row.positive_int("turn", 1)
    first = known_value(row, "first", FIRST) if row.values.get("first") else 0
    lengths = (_length(row, "length_a"), _length(row, "length_b")) if "length_a" in row.values else (0.0, 0.0)
    columns.add(question, turn, row.text("judge", "judge"), models, winner, first, lengths)
    texts = {model: row.text(name) for name, model in zip(("answer_a", "answer_b"), models, strict=True)}
    if any(texts.values()):
        _add_texts(columns, row, (question, turn), texts)


def _add_texts(columns: BattleColumns, row: DataRow, item: tuple[str, int], texts: Mapping[str, str]) -> None:
    """Add the prompt and the answers of a row; one of the two answers may be missing."""
    earlier = f"an earlier row of question {item[0]!r}, turn {item[1]}, has another"
    prompt = row.required_text("prompt")
    if columns.texts.setdefault(item, prompt) != prompt:
        row.fail(f"{earlier} prompt; give every prompt a question or a turn of its own")
    for model, text in texts.items():
        if text and columns.answers.setdefault((*item, model), text) != text:
            row.fail(f"{earlier} answer of {model!r}; give every answer a question or a turn of its own")


def check_names(row: DataRow) -> None:
    """Check the names of the fields of the first row of a file."""
    NAMES.check(row)


def _length(row: DataRow, name: str) -> float:
    if row.values.get(name) in (None, ""):
        return 0.0
    length = read_number(row, name)
    if length <= 0:
        row.fail(f"field {name!r} must be above 0, got {length:g}; leave it empty if it is unknown")
    return length


def plain_rows(
    battles: Battles,
    prompts: Mapping[tuple[str, int], str],
    answers: Mapping[tuple[str, int, str], str],
) -> Iterator[dict[str, Any]]:
    """Yield battles as rows of plain battles, which ``add_plain_row`` can read."""
    names = {1.0: "a", 0.0: "b", 0.5: "tie"}
    firsts = {value: name for name, value in FIRST.items()}
    for index in range(len(battles)):
        model_a, model_b = battles.models[battles.model_a[index]], battles.models[battles.model_b[index]]
        item = (battles.questions[battles.question[index]], int(battles.turn[index]))
        row: dict[str, Any] = {
            "model_a": model_a,
            "model_b": model_b,
            "winner": names[float(battles.outcome[index])],
            "judge": battles.judges[battles.judge[index]],
            "question": item[0],
            "first": firsts[int(battles.first[index])],
            "turn": item[1],
        }
        if battles.length_a is not None and battles.length_b is not None:
            row |= {"length_a": float(battles.length_a[index]), "length_b": float(battles.length_b[index])}
        a, b = answers.get((*item, model_a)), answers.get((*item, model_b))
        if item in prompts and a is not None and b is not None:
            row |= {"prompt": prompts[item], "answer_a": a, "answer_b": b}
        yield row
