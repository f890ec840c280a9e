"""Read the level in a judge's verdict, and check that the rubric has this level."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.judges.panel import outcomes_or_failures
from hengwen.records import Failure, Verdict

if TYPE_CHECKING:
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Judge


def level_or_failure(judge: Judge, rubric: Rubric, result: Verdict | BaseException) -> float | Failure:
    """Return the value of the level that a judge gave, or the failure if it gave none.

    Args:
        judge: The judge that was called.
        rubric: The rubric with the expected levels.
        result: Verdict or exception of the judge, which ``asyncio.gather(..., return_exceptions=True)``
            returned.

    Raises:
        ValueError: The value is outside the rubric's levels, so the judge uses another rubric.
        StoreError: The store cannot save a paid reply of the judge.
    """
    outcome = outcomes_or_failures(judge, result)[judge.names[0]]
    if isinstance(outcome, Failure):
        return outcome
    scale = replace(rubric.scale, levels=None)
    if not scale.holds(outcome.value):
        raise ValueError(
            f"{judge.signature} gave {outcome.value:g}, but rubric {rubric.name!r} has levels from "
            f"{scale.low:g} to {scale.high:g}; is it a judge of this rubric?"
        )
    return outcome.value
