"""Read verdicts on pairs of answers: columns by name (also AlpacaEval's), and judgments of FastChat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from hengwen.errors import DataError
from hengwen.importers.columns import ColumnMap, map_verdicts
from hengwen.io.json_items import json_rows
from hengwen.io.parquet_reader import scan_parquet
from hengwen.io.row_reader import DataRow, read_number, scan_rows
from hengwen.records import digest
from hengwen.text.numbers import short_repr

OUTCOMES: dict[object, float] = {
    "a": 1.0,
    "b": 0.0,
    "tie": 0.5,
    "model_a": 1.0,
    "model_b": 0.0,
    "tie (bothbad)": 0.5,
    "tie (inconsistent)": 0.5,
    "both_bad": 0.5,
}
"""Outcome for model A of each verdict; the names from ``model_a`` on occur in public arena data."""
FIRST = {"a": 1, "b": -1, "": 0}
FASTCHAT = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5, "error": None}
FASTCHAT_FIELDS = ("g1_winner", "g2_winner")
MAX_QUESTION = 100
"""Maximum number of characters of the name of a question; of a longer text, the hash is the name."""
HEADER_ROWS = 100
"""Number of rows of JSON whose fields are the columns of the file."""

DETAILS = "\0details"
"""Key of what a source says beside the score; no column of a file has this name."""
WINS = "wins"
"""Part of a verdict that says how often an answer wins."""


class Verdict(NamedTuple):
    """One verdict of a judge on the answers of two models to a question."""

    row: DataRow
    models: tuple[str, str]
    winner: float | None
    """1 if the first model wins, 0 if the second does, 0.5 for a tie, weights between; None for a failure."""
    question: str
    problem: str = ""
    """Why there is no verdict."""
    turn: int = 1
    judge: str = ""
    rater: str = ""
    first: int = 0
    """1 if the answer of the first model was shown first, -1 if it was second, 0 if unknown."""
    lengths: tuple[float | None, float | None] = (None, None)
    prompt: str = ""
    answers: tuple[str, str] = ("", "")


class VerdictFile:
    """A file of verdicts, which can be read several times."""

    # Of a strict file, only `error` is a failure, and a winner that is no verdict is an error of the file.

    def __init__(
        self,
        path: Path,
        columns: Iterable[tuple[str, str]] = (),
        winners: Mapping[str, str] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self.path = path
        self._winners, self._strict = winners or {}, strict
        header = list(
            dict.fromkeys(name for row in islice(any_rows(path), HEADER_ROWS) for name in row.values)
        )
        if not header:
            raise DataError(f"{path}: no rows")
        self.is_fastchat = not columns and any(name in header for name in FASTCHAT_FIELDS)
        self.columns = ColumnMap({}, (), ()) if self.is_fastchat else map_verdicts(header, columns, str(path))

    def __iter__(self) -> Iterator[Verdict]:
        """Yield the verdicts; a judgment of FastChat is two, one for each order of the answers."""
        rows = any_rows(self.path)
        return chain.from_iterable(map(_fastchat, rows)) if self.is_fastchat else map(self._verdict, rows)

    def _verdict(self, row: DataRow) -> Verdict:
        row = type(row)(
            row.path,
            row.number,
            {field: self.columns.value(row.values, field) for field in self.columns.fields},
        )
        models = two_models(row, "model_a", "model_b")
        winner, problem = self._winner(row, models)
        question = row.required_text("question")
        prompt = row.text("prompt")
        if len(question) > MAX_QUESTION:
            question, prompt = digest(question)[:16], prompt or question
        return Verdict(
            row=row,
            models=models,
            winner=winner,
            problem=problem,
            question=question,
            turn=row.positive_int("turn"),
            judge=row.text("judge"),
            rater=row.text("rater"),
            first=known_value(row, "first", FIRST) if row.values.get("first") else 0,
            lengths=(_length(row, "length_a"), _length(row, "length_b")),
            prompt=prompt,
            answers=(row.text("answer_a"), row.text("answer_b")),
        )

    def _winner(self, row: DataRow, models: tuple[str, str]) -> tuple[float | None, str]:
        """Return the outcome for the first model, or None and why there is no verdict."""
        preference = row.values.get("preference")
        if "preference" in row.values and "winner" not in row.values:
            number = _number(preference)
            if number is None:
                return None, f"no preference: {short_repr(preference)}"
            if number != 0 and not 1 <= number <= 2:
                row.fail(
                    f"a preference is 1 (the first answer) to 2 (the second), 0 for a tie, got {number:g}"
                )
            return (0.5 if number == 0 else 2 - number), ""
        cell = row.values.get("winner")
        text = "" if cell is None else str(cell).strip()
        text = self._winners.get(text, text)
        if text in OUTCOMES:
            return OUTCOMES[text], ""
        if text in models:
            return 1.0 - models.index(text), ""
        number = _number(text)
        if number is None and self._strict:
            known_value(row, "winner", {**OUTCOMES, "error": None})
        if number is None:
            return None, f"no verdict: {short_repr(cell)}"
        if not 0 <= number <= 1:
            row.fail(
                f"a winner in numbers lies in 0..1, got {number:g}; other numbers need --winners 1=a,2=b"
            )
        return number, ""


def any_rows(path: Path) -> Iterator[DataRow]:
    """Yield the rows of a .jsonl, .csv, .parquet or .json file."""
    for row in scan_any_rows(path):
        if isinstance(row, DataError):
            raise row
        yield row


def scan_any_rows(path: Path) -> Iterator[DataRow | DataError]:
    """Yield the same; for a malformed row of .jsonl or .csv, yield its error instead."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        return json_rows(path)
    return scan_parquet(path) if suffix == ".parquet" else scan_rows(path)


def two_models(row: DataRow, first_name: str, second_name: str) -> tuple[str, str]:
    """Return the two models of a row."""
    first, second = row.required_text(first_name), row.required_text(second_name)
    if first == second:
        row.fail(f"model {first!r} battles itself: {first_name!r} and {second_name!r} are equal")
    return first, second


def known_value(row: DataRow, name: str, known: dict[Any, Any]) -> Any:
    """Return the meaning of a field that must have one of several known values."""
    value = row.values.get(name)
    try:
        return known[value]
    except (KeyError, TypeError):
        text = row.required_text(name)
        if text in known:
            return known[text]
        row.fail(f"field {name!r} must be one of {', '.join(map(repr, known))}, got {text!r}")


def _fastchat(row: DataRow) -> Iterator[Verdict]:
    models = two_models(row, "model_1", "model_2")
    question, turn, judge = row.required_text("question_id"), row.positive_int("turn"), judge_name(row)
    for name, first in zip(FASTCHAT_FIELDS, (1, -1), strict=True):
        winner = known_value(row, name, FASTCHAT)
        problem = "no verdict: error" if winner is None else ""
        yield Verdict(row, models, winner, question, problem, turn, judge, first=first)


def judge_name(row: DataRow) -> str:
    """Return the name of FastChat's judge; the field is the name, or a list of name and prompt."""
    judge = row.values.get("judge")
    if isinstance(judge, list):
        if not judge or not isinstance(judge[0], str) or not judge[0]:
            row.fail("field 'judge' must be a name, or a list that begins with a name")
        return judge[0]
    return row.required_text("judge")


def _length(row: DataRow, name: str) -> float | None:
    if row.values.get(name) in (None, ""):
        return None
    length = read_number(row, name)
    if length < 0:
        row.fail(f"field {name!r} must be 0 or above, got {length:g}; leave it empty if it is unknown")
    return length


def _number(cell: object) -> float | None:
    try:
        number = float(str(cell))
    except ValueError:
        return None
    return None if isnan(number) else number


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
