"""Collect battles, which are read row by row, in columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.peer_review.battles import Battles

if TYPE_CHECKING:
    from hengwen.io.row_reader import DataRow


@dataclass(slots=True)
class BattleColumns:
    """Battles that are collected in lists, one entry for each verdict."""

    model_a: list[str] = field(default_factory=list)
    model_b: list[str] = field(default_factory=list)
    winner: list[float] = field(default_factory=list)
    judge: list[str] = field(default_factory=list)
    question: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    length_a: list[float] = field(default_factory=list)
    """Length of answer A; 0 if it is unknown."""
    length_b: list[float] = field(default_factory=list)
    failures: int = 0
    """Number of verdicts that are missing because the judge failed; a failure is never a verdict."""
    texts: dict[tuple[str, int], str] = field(default_factory=dict)
    """Prompt of each question and turn, if the rows contain it."""
    answers: dict[tuple[str, int, str], str] = field(default_factory=dict)
    """Answer to each question and turn by each model, if the rows contain it."""

    def add(
        self,
        question: str,
        turn: int,
        judge: str,
        models: tuple[str, str],
        winner: float,
        first: int,
        lengths: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Append one verdict."""
        self.question.append(question)
        self.turn.append(turn)
        self.judge.append(judge)
        self.model_a.append(models[0])
        self.model_b.append(models[1])
        self.winner.append(winner)
        self.first.append(first)
        self.length_a.append(lengths[0])
        self.length_b.append(lengths[1])

    def battles(self) -> Battles:
        """Return the battles; they have the lengths of the answers only if all lengths are known."""
        known = min(self.length_a, default=0.0) > 0 and min(self.length_b, default=0.0) > 0
        return Battles.from_columns(
            model_a=self.model_a,
            model_b=self.model_b,
            winner=np.array(self.winner),
            judge=self.judge,
            question=self.question,
            first=np.array(self.first),
            turn=np.array(self.turn),
            length_a=np.array(self.length_a) if known else None,
            length_b=np.array(self.length_b) if known else None,
        )


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
