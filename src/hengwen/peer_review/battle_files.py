"""Read battles of files and of a store, and write them as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from hengwen.errors import ConfigError, DataError
from hengwen.importers.columns import VERDICTS
from hengwen.importers.verdicts import FIRST, WINS, Verdict, VerdictFile, any_rows
from hengwen.io.row_reader import FieldNames
from hengwen.peer_review.battles import Battles
from hengwen.records import Failure, Row
from hengwen.results.comparability import run_labels
from hengwen.results.decide import rewards_of
from hengwen.results.score_table import Column, SeriesKey
from hengwen.score_id import LEVEL
from hengwen.store import Store


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
        self.add(
            verdict.question,
            verdict.turn,
            verdict.judge or "judge",
            verdict.models,
            verdict.winner,
            verdict.first,
            (a, b),
        )


Question = tuple[str, str, int]
"""(task, sample, repeat)."""


def stored_battles(store: Store, plan: str | None = None) -> BattleFiles:
    """Return a battle for each judge, prompt and pair of checkpoints of a plan's newest runs.

    Verdicts on pairs that were imported are battles themselves. Equal scores are a tie. A pair in which the
    judge failed on an answer is counted as a failure.

    Args:
        store: The store.
        plan: Name of the plan; default: the plan of the newest run.
    """
    runs = store.latest(plan)
    labels = dict(zip([run.id for run in runs], run_labels(runs), strict=True))
    table = store.table(runs)
    columns = BattleColumns()
    if any(key.score.part == WINS for key in table.series):
        _add_verdicts(columns, store.rows(runs), labels)
    judged: dict[tuple[str, Question], dict[str, float | None]] = {}
    for key, column in table.series.items():
        if _is_level(key):
            for question, value in _values(key, column).items():
                judged.setdefault((key.score.evaluator, question), {})[labels[key.run_id]] = value
    for (judge, question), values in judged.items():
        for (first, score), (second, other) in combinations(values.items(), 2):
            if score is None or other is None:
                columns.failures += 1
            else:
                winner = 0.5 if score == other else float(score > other)
                columns.add("/".join(map(str, question)), 1, judge, (first, second), winner, 0)
    if not columns.winner:
        if not runs:
            raise ConfigError(f"no runs in {store.name}; see: hengwen run")
        raise ConfigError(
            f"{store.name}: no judge scored answers of two checkpoints of plan {runs[0].plan!r} "
            "to the same prompt"
        )
    used = {key.score.address for key in table.series if _is_level(key) or key.score.part == WINS}
    rewards = tuple(sorted(used & rewards_of(runs)))
    return BattleFiles(battles=columns.battles(), rewards=rewards)


def _is_level(key: SeriesKey) -> bool:
    return key.kind == "judge" and key.score.role == "answer" and key.score.part == LEVEL


def _add_verdicts(columns: BattleColumns, rows: Iterable[Row], labels: Mapping[str, str]) -> None:
    """Add the verdicts that were imported; without a baseline, each gave a score to both of its models."""
    failed: Counter[bool] = Counter()
    for row in rows:
        outcome = row.outcome
        if row.score.part != WINS or outcome.kind != "judge":
            continue
        if isinstance(outcome, Failure):
            failed["|over:" in outcome.signature] += 1
        elif outcome.details.get("side") == "a":
            models = labels[row.run_id], str(outcome.details["opponent"])
            first = int(str(outcome.details["first"]))
            columns.add(f"{row.task}/{row.sample_id}", 1, row.score.evaluator, models, outcome.value, first)
    columns.failures += failed[True] + failed[False] // 2


def _values(key: SeriesKey, column: Column) -> dict[Question, float | None]:
    """Return the value of each answer, higher for better; None for a failure."""
    sign = 1.0 if column.scale is None or column.scale.higher_is_better else -1.0
    return {
        (key.task, sample, repeat or 1): None if value is None else sign * value
        for sample, repeat, value in zip(column.sample_ids, column.repeats, column.values, strict=True)
        if sample is not None
    }


NAMES = FieldNames(
    tuple(VERDICTS),
    {},
    neighbours=[alias for aliases in VERDICTS.values() for alias in aliases],
    way_out="rename the column, or name it (--columns)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFiles:
    """Battles from files."""

    battles: Battles
    rewards: tuple[str, ...] = ()
    """Addresses of the scores that became battles and that a model was trained on."""

    @property
    def failures(self) -> int:
        """Number of verdicts that are missing because the judge failed (``error`` in the file)."""
        return self.battles.failures


def read_battles(paths: Sequence[Path], columns: Sequence[tuple[str, str]] = ()) -> BattleFiles:
    """Read battles from .jsonl, .csv, .parquet or .json files; all rows of a file have the same format.

    Pairwise judgments of FastChat and PiCO (``gpt-4_pair.jsonl``) have ``question_id``, ``model_1``,
    ``model_2``, ``g1_winner``, ``g2_winner``, ``judge`` and ``turn``. Annotations of AlpacaEval have
    ``instruction``, ``generator_1``, ``generator_2`` and ``preference`` (1, the first answer, to 2). Plain
    battles have ``model_a``, ``model_b``, ``winner`` (``a``, ``b``, ``tie``, ``error``, or a number from 0 to
    1, which is 1 if ``model_a`` wins) and ``question``. Optional columns are ``judge``, ``first`` (``a`` or
    ``b``, the answer that was shown first), ``turn``, ``length_a`` and ``length_b``.

    Args:
        paths: The files, at least one.
        columns: Pairs such as ``("winner", "human_winner")``; others are chosen by their names.

    Raises:
        DataError: A file cannot be read, a row is wrong, or there is no verdict; the message names file and
            line.
        ValueError: ``paths`` is empty.
    """
    if not paths:
        raise ValueError("there are no files of battles; pass at least one")
    read = BattleColumns()
    for path in paths:
        _read(path, columns, read)
    if not read.winner:
        raise DataError(
            f"{paths[0]}: no verdict: the judge failed on all {read.failures}; judge these battles again"
        )
    return BattleFiles(battles=read.battles())


def _read(path: Path, named: Sequence[tuple[str, str]], read: BattleColumns) -> None:
    try:
        verdicts = VerdictFile(path, named, strict=True)
    except ConfigError as error:
        raise DataError(str(error)) from None
    if not named and not verdicts.is_fastchat:
        NAMES.check(next(any_rows(path)))
    for verdict in verdicts:
        read.add_verdict(verdict)


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
)
"""Columns of the rows."""


def plain_rows(battles: Battles) -> Iterator[dict[str, Any]]:
    """Yield battles as rows of plain battles, which ``read_battles`` can read."""
    names: dict[float, str | float] = {1.0: "a", 0.0: "b", 0.5: "tie"}
    firsts = {value: name for name, value in FIRST.items()}
    for index in range(len(battles)):
        model_a, model_b = battles.models[battles.model_a[index]], battles.models[battles.model_b[index]]
        row: dict[str, Any] = {
            "model_a": model_a,
            "model_b": model_b,
            "winner": names.get(outcome := float(battles.outcome[index]), outcome),
            "judge": battles.judges[battles.judge[index]],
            "question": battles.questions[battles.question[index]],
            "first": firsts[int(battles.first[index])],
            "turn": int(battles.turn[index]),
        }
        if battles.length_a is not None and battles.length_b is not None:
            row |= {"length_a": float(battles.length_a[index]), "length_b": float(battles.length_b[index])}
        yield row
