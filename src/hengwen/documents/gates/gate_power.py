"""Describe for ``hengwen validate`` how likely each gate of a plan is to pass (its power)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.numbers import count, decimals_for, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.monitoring.gates.power import TermPower

_UNKNOWN: Mapping[str, str] = {
    "no run": "power not known yet: it is estimated from the scores of a first run",
    "no second run": "power not known yet: it is estimated from the runs of two checkpoints",
    "no values by prompt": "power unknown: the runs in the store have no value of this score for each prompt",
    "no spread": "power unknown: all values or differences in the store are equal",
    "too few prompts": "too few prompts for any result",
    "too few to estimate": "power unknown: it is not estimated from so few prompts",
    "not a test": "no statistical test: the value itself is compared with the limit",
    "checkpoints": "needs at least 5 checkpoints; more prompts do not replace them",
}


def power_line(power: TermPower, run_command: str = "hengwen run PLAN") -> str:
    """Return one line on how likely a condition is to pass, or why this is unknown."""
    if power.unknown == "no run":
        return f"{power.text}: {_UNKNOWN[power.unknown]} ({run_command})"
    if power.unknown:
        least = "" if power.needed_prompts is None else f"; at least {count(power.needed_prompts)} are needed"
        return f"{power.text}: {_UNKNOWN[power.unknown]}{least}"
    size = f"{count(power.prompts)} prompts"
    source = " and ".join(run.checkpoint for run in power.runs)
    if power.kind == "no_drop":
        falls = [
            f"{item.address} {number(item.fall, max(2, decimals_for(item.scale, [item.fall])))}"
            for item in power.falls
        ]
        return (
            f"{power.text}: with {size} a fall is seen with power .80 from about: {', '.join(falls)} "
            f"(at the level of the first run tested against a baseline; differences of {source})"
        )
    known = [value for value in (power.provable, power.mean) if value is not None]
    decimals = max(1, decimals_for(power.scale, known))
    needed = "" if power.needed_prompts is None else f", or {count(power.needed_prompts)} prompts"
    if power.kind == "noninferior":
        first = _share(power.power_at_first_look)
        margin = f"a margin of {number(power.provable, decimals)}"
        if power.provable is None:
            margin = "more than any margin on the scale"
        return (
            f"{power.text}: with {size}, the power is {_share(power.power)} if both checkpoints are equal "
            f"({first} at the level of the first run tested against a baseline); "
            f"power .80 needs {margin}{needed} (differences of {source})"
        )
    provable = (
        "power .80 from no true mean on the scale"
        if power.provable is None
        else f"power .80 from a true mean of {number(power.provable, decimals)}"
    )
    return (
        f"{power.text}: power {_share(power.power)} with {size}, if the mean stays at "
        f"{number(power.mean, decimals)} ({source}); {provable}{needed}"
    )


def _share(power: float | None) -> str:
    return number(power, 2).removeprefix("0")
