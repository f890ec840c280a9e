"""Compare rankings by humans with rankings by a score: of prompts or answers, and of checkpoints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path

import numpy as np

from hengwen.errors import DataError
from hengwen.io.row_reader import read_number, read_rows
from hengwen.monitoring.drift.score_drift import HumanAgreement
from hengwen.monitoring.drift.series import TestedSeries
from hengwen.records import Run
from hengwen.relevance_metrics import compare_rankings

Key = tuple[str, str, str, str]
"""(checkpoint, task, sample id, score); an empty text means any."""
MIN_ITEMS = 2
"""Minimum number of prompts, answers or checkpoints in a ranking."""


@dataclass(frozen=True, slots=True)
class HumanValues:
    """Values that people gave to checkpoints or prompts; several values for one of them are averaged."""

    values: Mapping[Key, float]

    def of_checkpoint(self, checkpoint: str, task: str, score: str) -> float | None:
        """Return the value that people gave to a checkpoint as a whole; None if there is none."""
        return self._lookup((checkpoint,), task, "", score)

    def of_prompt(self, checkpoint: str, task: str, sample: str, score: str) -> float | None:
        """Return the value that people gave to a prompt at a checkpoint."""
        return self._lookup((checkpoint, ""), task, sample, score)

    def _lookup(self, checkpoints: tuple[str, ...], task: str, sample: str, score: str) -> float | None:
        keys = (
            (checkpoint, a_task, sample, a_score)
            for checkpoint in checkpoints
            for a_task in (task, "")
            for a_score in (score, "")
        )
        return next((self.values[key] for key in keys if key in self.values), None)


def read_human_values(path: Path) -> HumanValues:
    """Read a file with the column ``value`` and at least one of the columns ``checkpoint`` and ``id``."""
    values: dict[Key, list[float]] = defaultdict(list)
    for row in read_rows(path):
        key = (row.text("checkpoint"), row.text("task"), row.text("id"), row.text("score"))
        if not (key[0] or key[2]):
            raise DataError(row.locate("names neither a checkpoint nor an id"), line=row.number)
        values[key].append(read_number(row, "value"))
    return HumanValues({key: fsum(numbers) / len(numbers) for key, numbers in values.items()})


def human_agreements(
    series: TestedSeries, runs: Sequence[Run], human: HumanValues | None
) -> tuple[HumanAgreement, ...]:
    """Return the agreement of the score with humans: over the checkpoints, then at each checkpoint."""
    agreements = []
    if human is not None:
        agreements = _ranked("", *_checkpoint_pairs(series, runs, human))
    for position, index in enumerate(series.included):
        pairs = (
            series.score.human[index]
            if human is None
            else _prompt_pairs(series, position, runs[index].checkpoint, human)
        )
        agreements += _ranked(series.score.labels[index], *_upwards(series, *pairs))
    return tuple(agreements)


def _ranked(checkpoint: str, values: Sequence[float], human: Sequence[float]) -> list[HumanAgreement]:
    if len(values) < MIN_ITEMS:
        return []
    return [
        HumanAgreement(checkpoint=checkpoint, ranking=compare_rankings(np.array(values), np.array(human)))
    ]


def _checkpoint_pairs(
    series: TestedSeries, runs: Sequence[Run], human: HumanValues
) -> tuple[list[float], list[float]]:
    score = series.score
    pairs: tuple[list[float], list[float]] = ([], [])
    for index, mean in zip(series.included, series.means, strict=True):
        value = human.of_checkpoint(runs[index].checkpoint, score.id.task, score.id.base)
        if value is not None:
            pairs[0].append(float(mean))
            pairs[1].append(value)
    return _upwards(series, *pairs)


def _prompt_pairs(
    series: TestedSeries, position: int, checkpoint: str, human: HumanValues
) -> tuple[list[float], list[float]]:
    score = series.score
    pairs: tuple[list[float], list[float]] = ([], [])
    for name, value in zip(series.matrix.prompts, series.table[:, position].tolist(), strict=True):
        human_value = human.of_prompt(checkpoint, score.id.task, name, score.id.base)
        if human_value is not None and value == value:  # noqa: PLR0124 - not NaN
            pairs[0].append(value)
            pairs[1].append(human_value)
    return pairs


def _upwards(
    series: TestedSeries, values: Sequence[float], human: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return both lists; the score's values are negated if lower values are better."""
    sign = 1 if series.matrix.higher_is_better else -1
    return [sign * value for value in values], list(human)
