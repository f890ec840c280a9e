"""Compute the reasons and details of scores again, for scorers whose reasons a run does not store."""

from __future__ import annotations

from contextlib import suppress
from math import isclose
from typing import TYPE_CHECKING, Any

from hengwen import registry
from hengwen.errors import ConfigError, PluginError
from hengwen.protocols import parts_read
from hengwen.records import Outcome, Response, Score

if TYPE_CHECKING:
    from hengwen.records import Run
    from hengwen.store.store import Answer


class ScoreExplainer:
    """Build scorers from the names and options that a run recorded, and score single answers again."""

    def __init__(self) -> None:
        self._scorers: dict[tuple[str, str], list[Any]] = {}

    def explain(self, run: Run, answer: Answer) -> tuple[Outcome, ...]:
        """Return the outcomes of a stored answer; scores that can be computed again get their reasons."""
        response = Response(sample_id=answer.sample_id, text=answer.text, repeat=answer.repeat)
        again: dict[tuple[str, str], Outcome] = {}
        for scorer in self._of_task(run, answer.task):
            with suppress(Exception):  # a scorer of a plug-in may raise anything
                again |= {
                    (outcome.name, outcome.signature): outcome
                    for outcome in scorer.score(answer.sample, response)
                }
        return tuple(
            _explained(stored, again.get((stored.name, stored.signature))) for stored in answer.outcomes
        )

    def _of_task(self, run: Run, task: str) -> list[Any]:
        key = run.id, task
        if key not in self._scorers:
            facts: Any = run.facts.get("tasks", {})
            self._scorers[key] = _built(facts.get(task, {}).get("scorers", []))
        return self._scorers[key]


def _built(specs: list[dict[str, Any]]) -> list[Any]:
    """Build the installed scorers whose reasons a run does not store (``EvaluationContext.details``)."""
    scorers = []
    for spec in specs:
        with suppress(ConfigError, PluginError):
            if "details" in parts_read(registry.load("scorers", spec["name"])):
                scorers.append(registry.build("scorers", spec["name"], spec["options"]))
    return scorers


def _explained(stored: Outcome, again: Outcome | None) -> Outcome:
    """Return the recomputed outcome if its value equals the stored value, else the stored outcome."""
    if isinstance(stored, Score) and isinstance(again, Score) and isclose(stored.value, again.value):
        return again
    return stored
