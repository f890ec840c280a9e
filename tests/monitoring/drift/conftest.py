"""Stores and scores of made-up checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from recorded_runs import UNIT, Values, by_prompt, record_run
from scipy import stats
from score_rows import score_of

from hengwen import Run, Scale, Store, open_store
from hengwen.monitoring.drift.collect import CollectedScore
from hengwen.monitoring.drift.series import TestedSeries

LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
ANSWER_SD = 2**0.5
"""Standard deviation of a latent answer: of its prompt and of itself."""
SHARES = {"skew": [0.05, 0.1, 0.2, 0.35, 0.3], "ceiling": [0.025] * 4 + [0.9]}


def draw_levels(
    seed: int, shape: tuple[int, int, int], shares: str = "skew", *, jitter: float = 0.0, fall: float = 0.0
) -> NDArray[np.float64]:
    """Return levels from 0 to 1 with the given shares, shape (prompts, checkpoints, repeats).

    ``jitter``, the standard deviation of the checkpoints, and ``fall``, the total fall, are in units of the
    standard deviation of an answer.
    """
    rng = np.random.default_rng(seed)
    prompts, checkpoints, repeats = shape
    latent = rng.normal(0, 1, (prompts, 1, 1)) + rng.normal(0, 1, (prompts, checkpoints, repeats))
    latent += rng.normal(0, jitter * ANSWER_SD, (1, checkpoints, 1)) if jitter else 0
    latent -= np.linspace(0, fall * ANSWER_SD, checkpoints)[None, :, None]
    cuts = stats.norm.ppf(np.cumsum(SHARES[shares])[:-1]) * ANSWER_SD
    return LEVELS[np.searchsorted(cuts, latent)]


def make_series(values: NDArray[np.float64], scale: Scale | None = UNIT, **changes: Any) -> TestedSeries:
    """Return a score without a store; values have the shape (prompts, checkpoints, repeats)."""
    *_, score = _growing(values, scale, **changes)
    return TestedSeries.of(score)


def growing_series(values: NDArray[np.float64]) -> Iterator[TestedSeries]:
    """Yield a score after each of its checkpoints."""
    return map(TestedSeries.of, _growing(values, UNIT))


def _growing(values: NDArray[np.float64], scale: Scale | None, **changes: Any) -> Iterator[CollectedScore]:
    from hengwen.results.comparability import UNKNOWN
    from hengwen.results.score_table import Column

    prompts, checkpoints, repeats = values.shape
    labels: list[str] = []
    score = CollectedScore(id=score_of("s.value"), kind="scorer", scale=scale, labels=labels, **changes)
    names = [f"p{p}" for p in range(prompts) for _ in range(repeats)]
    for k in range(checkpoints):
        column = Column.of(
            values[:, k].ravel().tolist(),
            sample_ids=names,
            repeats=list(range(1, repeats + 1)) * prompts,
            signatures={"s"},
            scale=scale,
        )
        score.matrix.add(column, UNKNOWN)
        score.human.append(([], []))
        labels.append(f"c{k}")
        yield score


@pytest.fixture
def levels() -> Callable[..., NDArray[np.float64]]:
    return draw_levels


@pytest.fixture
def series_of() -> Callable[..., TestedSeries]:
    return make_series


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def record(store: Store) -> Callable[..., Run]:
    """Return a function that records a run of one checkpoint; see ``record_run``."""

    def record_one(
        checkpoint: str, scores: Mapping[str, Values], *, into: Store | None = None, **fields: Any
    ) -> Run:
        return record_run(into or store, checkpoint, scores, **fields)

    return record_one


@pytest.fixture
def fill(store: Store) -> Callable[..., Store]:
    """Return a function that records values of one score, shape (prompts, checkpoints, repeats)."""

    def record_all(values: NDArray[np.float64], **fields: Any) -> Store:
        for index in range(values.shape[1]):
            record_run(store, f"c{index}", {"s.value": by_prompt(values[:, index])}, order=index, **fields)
        return store

    return record_all
