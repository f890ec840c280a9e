"""``Progress``: the open batches of one backend after a round of polling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The batches of one backend after a round of polling."""

    open: int
    """Number of batches that have not ended."""
    waiting: int
    """Number of open batches that wait for room in the provider's queue."""
    completed: int
    """Number of calls of running batches (started, not ended) that have succeeded or failed."""
    total: int
    """Number of calls of running batches (started, not ended) whose state is known."""
    problem: str = ""
    """Why the state or the replies of a batch are missing, or why a batch was refused; empty if neither."""
    lost: tuple[str, ...] = ()
    """Messages about batches that the provider does not know."""


def describe(states: list[Progress]) -> str:
    """Return the state of open batches in words; "" if none is open."""
    batches, waiting = sum(state.open for state in states), sum(state.waiting for state in states)
    if not batches:
        return ""
    completed, total = sum(state.completed for state in states), sum(state.total for state in states)
    words = f"{batches} open {'batch' if batches == 1 else 'batches'}: {completed:,} of {total:,} calls done"
    problems = [f"{waiting} wait for room in the provider's queue"] if waiting else []
    problems += [state.problem for state in states if state.problem]
    return "; ".join([words, *problems])
