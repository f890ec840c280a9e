"""Sort runs by training order (step, position in the plan, start of the run), and label them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run


class RunOrder(NamedTuple):
    """Sorted runs; if their training order is not known, also the reason why."""

    runs: tuple[Run, ...]
    problem: str = ""
    """Reason why the training order is not known, so that trends cannot be reported; empty if it is known."""


def training_order(runs: Sequence[Run]) -> RunOrder:
    """Sort runs by (step, position in the plan, start), and say whether that is the order of training."""
    ordered = sorted(runs, key=_key)
    steps = [run.step for run in ordered]
    if None not in steps and len(set(steps)) == len(steps):
        return RunOrder(tuple(ordered))
    if _from_one_list(runs):
        by_place = sorted(runs, key=lambda run: run.order)
        known_steps = [run.step for run in by_place if run.step is not None]
        if known_steps == sorted(known_steps):
            return RunOrder(tuple(by_place))
    if len(ordered) < 2:
        return RunOrder(tuple(ordered))
    unclear = [run.checkpoint for run in ordered if run.step is None or steps.count(run.step) > 1]
    return RunOrder(tuple(ordered), f"the order of {', '.join(unclear)} is not known")


def run_labels(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the name of each run's checkpoint, with the run id if several runs have that checkpoint."""
    names = [run.checkpoint for run in runs]
    return tuple(
        run.checkpoint if names.count(run.checkpoint) == 1 else f"{run.checkpoint} ({run.id})" for run in runs
    )


def _key(run: Run) -> tuple[bool, float, int, str]:
    return (run.step is None, run.step or 0, run.order, run.started)


def _from_one_list(runs: Sequence[Run]) -> bool:
    """Return whether all runs come from one list of checkpoints and have different positions in the list."""
    lists = {run.facts.get("sequence", "") for run in runs}
    return len(lists) <= 1 and len({run.order for run in runs}) == len(runs)
