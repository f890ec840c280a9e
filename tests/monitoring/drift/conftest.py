"""Stores and scores of made-up checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hengwen import Failure, Row, Run, Scale, Score, Store, open_store
from hengwen.monitoring.drift.collect import CollectedScore
from hengwen.monitoring.drift.series import TestedSeries

UNIT = Scale(low=0, high=1)
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
    from hengwen.results.comparability import UNKNOWN
    from hengwen.results.score_table import Column

    prompts, checkpoints, repeats = values.shape
    score = CollectedScore(
        task="t",
        name="s.value",
        kind="scorer",
        scale=scale,
        labels=[f"c{k}" for k in range(checkpoints)],
        **changes,
    )
    names = [f"p{p}" for p in range(prompts) for _ in range(repeats)]
    for k in range(checkpoints):
        column = Column.of(
            values[:, k].ravel().tolist(),
            sample_ids=names,
            repeats=list(range(1, repeats + 1)) * prompts,
            signatures={"s"},
            scale=scale,
        )
        score.matrix.add(column)
        score.keys.append(UNKNOWN)
        score.signatures.append("s")
        score.human.append(([], []))
    return TestedSeries.of(score)


Values = Mapping[str, Sequence[float | None]]
"""The repeats of each prompt; None if one failed."""


def record_run(
    store: Store,
    checkpoint: str,
    scores: Mapping[str, Values],
    *,
    order: int = 0,
    step: int | None = None,
    kind: str = "scorer",
    signature: str = "v:1",
    human: Values | None = None,
    clusters: Mapping[str, str] | None = None,
    scale: Scale | None = UNIT,
    **run: Any,
) -> Run:
    """Record a run with scores by name; ``human`` has human values of the answers for the first score."""
    fields = {"plan": "p", "plan_hash": "", "started": f"2026-01-{1 + len(store.runs()):02d}", **run}
    new = Run(id=f"r-{checkpoint}", checkpoint=checkpoint, order=order, step=step, **fields)
    ledger = store.ledger()
    ledger.begin(new)
    rows = []
    items = [(name, kind, values) for name, values in scores.items()]
    if human is not None:
        items.append((f"human.{next(iter(scores))}", "human", human))
    for name, row_kind, values in items:
        for prompt, repeats in values.items():
            for repeat, value in enumerate(repeats, start=1):
                rest: dict[str, Any] = {"name": name, "signature": f"{name}|{signature}", "kind": row_kind}
                outcome = (
                    Failure(status="missing", message="no answer", **rest)
                    if value is None
                    else Score(value=value, scale=scale, **rest)
                )
                rows.append(
                    Row(
                        run_id=new.id,
                        task="t",
                        checkpoint=checkpoint,
                        sample_id=prompt or None,
                        repeat=repeat if prompt else None,
                        cluster=(clusters or {}).get(prompt, prompt),
                        outcome=outcome,
                    )
                )
    ledger.record_rows(rows)
    ledger.commit()
    return new


def by_prompt(column: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return the repeats of each prompt, from an array of the shape (prompts, repeats)."""
    return {f"p{index}": row for index, row in enumerate(column.tolist())}


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
