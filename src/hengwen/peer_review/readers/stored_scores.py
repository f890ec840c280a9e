"""Read battles from the stored scores of judges: of two answers, the one with the better score wins."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hengwen.errors import ConfigError
from hengwen.peer_review.battles import Battles
from hengwen.peer_review.readers.battle_file import BattleFiles
from hengwen.results.run_order import run_labels
from hengwen.score_id import LEVEL

if TYPE_CHECKING:
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
