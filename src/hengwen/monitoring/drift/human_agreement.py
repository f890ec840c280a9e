"""Compare rankings by humans with rankings by a score: of prompts or answers, and of checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.score_drift import HumanAgreement
from hengwen.relevance_metrics import compare_rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.monitoring.drift.human_values import HumanValues
    from hengwen.monitoring.drift.series import TestedSeries
    from hengwen.records import Run

MIN_ITEMS = 2
"""Minimum number of prompts, answers or checkpoints in a ranking."""


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
