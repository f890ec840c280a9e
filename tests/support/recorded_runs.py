"""Runs of made-up checkpoints, recorded in a store without a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from score_rows import row_of

from hengwen import Failure, Run, Scale, Score, Store

UNIT = Scale(low=0, high=1)
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
                    row_of(
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
