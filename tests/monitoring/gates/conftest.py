"""Runs with given values, written to a store without evaluating anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from score_rows import row_of

from hengwen import Failure, Plan, Run, Scale, Score, Store, open_store

Values = Sequence[float | None] | Sequence[Sequence[float | None]]
"""One value a prompt, or a list of repeats; None is a failure."""
SCALE = Scale(low=0, high=1)


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def plan() -> Plan:
    """A plan whose name is that of the runs; its scores are not read."""
    return Plan.model_validate(
        {
            "name": "p",
            "tasks": [{"name": "t", "samples": "s.jsonl", "scorers": ["length"]}],
            "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
        }
    )


@pytest.fixture
def add_run(store: Store) -> Callable[..., Run]:
    """Return a function that writes a run with the values of scores by address."""

    def add(checkpoint: str, scores: Mapping[str, Values], step: int | None = None, **more: Any) -> Run:
        number = len(store.runs())
        scale, kind = more.pop("scale", SCALE), more.pop("kind", "scorer")
        status = more.pop("failure", "parse_error")
        run = Run(
            id=f"run{number}-{checkpoint}",
            plan="p",
            plan_hash="",
            checkpoint=checkpoint,
            order=number,
            step=number if step is None else step,
            started=f"2026-01-01T00:00:{number:02}",
            score_order=tuple(scores),
            **{"status": "finished", **more},
        )
        rows = []
        for address, values in scores.items():
            task, _, name = address.partition("/")
            rest = {"name": name, "signature": f"{name}|v:1", "kind": kind}
            for index, value in enumerate(values):
                repeats = value if isinstance(value, (list, tuple)) else [value]
                for repeat, number_or_none in enumerate(repeats, start=1):
                    outcome = (
                        Failure(status=status, message="no level in the reply", **rest)
                        if number_or_none is None
                        else Score(value=number_or_none, scale=scale, **rest)
                    )
                    key = {"run_id": run.id, "task": task, "checkpoint": checkpoint, "repeat": repeat}
                    sample = f"p{index}"
                    rows.append(row_of(**key, sample_id=sample, cluster=sample, outcome=outcome))
        ledger = store.ledger()
        ledger.begin(run)
        ledger.record_rows(rows)
        ledger.commit()
        return run

    return add
