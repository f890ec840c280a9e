"""Read battles from files of several formats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hengwen.errors import ConfigError, DataError
from hengwen.io.row_reader import read_rows
from hengwen.peer_review.battles import Battles
from hengwen.peer_review.readers.columns import BattleColumns
from hengwen.peer_review.readers.fastchat import add_fastchat_row, is_fastchat
from hengwen.peer_review.readers.plain import add_plain_row, check_names
from hengwen.results.run_order import run_labels
from hengwen.score_id import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.results.score_table import Column, SeriesKey
    from hengwen.store import Store


Question = tuple[str, str, int]
"""(task, sample, repeat)."""


def stored_battles(store: Store, plan: str | None = None) -> BattleFiles:
    """Return a battle for each judge, prompt and pair of checkpoints of a plan's newest runs.

    Equal scores are a tie. A pair in which the judge failed on an answer is counted as a failure.

    Args:
        store: The store.
        plan: Name of the plan; default: the plan of the newest run.
    """
    runs = store.latest(plan)
    labels = dict(zip([run.id for run in runs], run_labels(runs), strict=True))
    judged: dict[tuple[str, Question], dict[str, float | None]] = {}
    for key, column in store.table(runs).series.items():
        if key.kind == "judge" and key.score.role == "answer" and key.score.part == LEVEL:
            for question, value in _values(key, column).items():
                judged.setdefault((key.score.evaluator, question), {})[labels[key.run_id]] = value
    rows: list[tuple[str, str, float, str, str]] = []
    failures = 0
    for (judge, question), values in judged.items():
        for (first, score), (second, other) in combinations(values.items(), 2):
            if score is None or other is None:
                failures += 1
            else:
                winner = 0.5 if score == other else float(score > other)
                rows.append((first, second, winner, judge, "/".join(map(str, question))))
    if not rows:
        raise ConfigError(f"{store.name}: no judge scored answers of two checkpoints to the same prompt")
    a, b, winners, judges, questions = zip(*rows, strict=True)
    battles = Battles.from_columns(
        model_a=a, model_b=b, winner=np.array(winners), judge=judges, question=questions
    )
    return BattleFiles(battles=battles, failures=failures, prompts={}, answers={})


def _values(key: SeriesKey, column: Column) -> dict[Question, float | None]:
    """Return the value of each answer, higher for better; None for a failure."""
    sign = 1.0 if column.scale is None or column.scale.higher_is_better else -1.0
    return {
        (key.task, sample, repeat or 1): None if value is None else sign * value
        for sample, repeat, value in zip(column.sample_ids, column.repeats, column.values, strict=True)
        if sample is not None
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFiles:
    """Battles from files."""

    battles: Battles
    failures: int
    """Number of verdicts that are missing because the judge failed (``error`` in the file)."""
    prompts: Mapping[tuple[str, int], str]
    """Prompt of each question and turn, as far as the files contain it."""
    answers: Mapping[tuple[str, int, str], str]
    """Answer to each question and turn by each model, as far as the files contain it."""


def read_battles(paths: Sequence[Path]) -> BattleFiles:
    """Read battles from JSONL or CSV files; all rows of a file have the same format.

    Two formats are read. Pairwise judgments of FastChat and PiCO (``gpt-4_pair.jsonl``) have ``question_id``,
    ``model_1``, ``model_2``, ``g1_winner``, ``g2_winner``, ``judge`` and ``turn``. Plain battles have
    ``model_a``, ``model_b``, ``winner`` (``a``, ``b``, ``tie`` or ``error``) and ``question``. Optional
    columns of plain battles are ``judge``, ``first`` (``a`` or ``b``, the answer that was shown first),
    ``turn``, ``length_a`` and ``length_b``, and for preference pairs ``prompt``, ``answer_a``, ``answer_b``.

    Args:
        paths: The files, at least one.

    Raises:
        DataError: A file cannot be read, a row is wrong, or there is no verdict; the message names file and
            line.
        ValueError: ``paths`` is empty.
    """
    if not paths:
        raise ValueError("there are no files of battles; pass at least one")
    columns = BattleColumns()
    for path in paths:
        _read(path, columns)
    if not columns.winner:
        raise DataError(
            f"{paths[0]}: no verdict: the judge failed on all {columns.failures}; judge these battles again"
        )
    return BattleFiles(
        battles=columns.battles(), failures=columns.failures, prompts=columns.texts, answers=columns.answers
    )


def _read(path: Path, columns: BattleColumns) -> None:
    rows = read_rows(path)
    first = next(rows)
    add = add_fastchat_row if is_fastchat(first) else add_plain_row
    if add is add_plain_row:
        check_names(first)
    add(columns, first)
    for row in rows:
        add(columns, row)
