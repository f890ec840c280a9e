"""Collect battles, which are read row by row, in columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.battles import Battles

if TYPE_CHECKING:
    from hengwen.importers.verdicts import Verdict


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
    """Length of answer A; NaN if it is unknown."""
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
        lengths: tuple[float, float] = (nan, nan),
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
        known = not any(map(isnan, (*self.length_a, *self.length_b)))
        battles = Battles.from_columns(
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
        return replace(battles, failures=self.failures)

    def add_verdict(self, verdict: Verdict) -> None:
        """Append the verdict of a file with its texts; a failure is only counted."""
        if verdict.winner is None:
            self.failures += 1
            return
        a, b = (nan if length is None else length for length in verdict.lengths)
        item = verdict.question, verdict.turn
        self.add(*item, verdict.judge or "judge", verdict.models, verdict.winner, verdict.first, (a, b))
        if any(verdict.answers):
            self._add_texts(verdict, item)

    def _add_texts(self, verdict: Verdict, item: tuple[str, int]) -> None:
        """Add the prompt and the answers of a row; one of the two answers may be missing."""
        earlier = f"an earlier row of question {item[0]!r}, turn {item[1]}, has another"
        prompt = verdict.prompt or verdict.row.required_text("prompt")
        if self.texts.setdefault(item, prompt) != prompt:
            verdict.row.fail(f"{earlier} prompt; give every prompt a question or a turn of its own")
        for model, text in zip(verdict.models, verdict.answers, strict=True):
            if text and self.answers.setdefault((*item, model), text) != text:
                verdict.row.fail(
                    f"{earlier} answer of {model!r}; give every answer a question or a turn of its own"
                )
