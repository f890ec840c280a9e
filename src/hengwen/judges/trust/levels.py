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
    """Return the value of the level that a judge gave, or the failure if it gave none."""
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
