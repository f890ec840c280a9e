"""One score of a scorer or judge for texts that another tool holds; a failure stays a failure."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

from hengwen.engine.evaluate import JudgeEvaluator, ScorerEvaluator
from hengwen.engine.job import Item
from hengwen.errors import ConfigError
from hengwen.protocols import Judge
from hengwen.records import Response, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyio.from_thread import BlockingPortal

    from hengwen.protocols import Scorer
    from hengwen.records import Message, Outcome

REFERENCES = ("references", "reference", "ground_truth", "solution", "answer", "target", "label")
"""Columns of a data set that are references of a sample."""
_OPEN = ExitStack()
"""Keeps the event loop of ``_portal`` open as long as the process."""


class TextScorer:
    """A score of a scorer or judge; ``name`` is its name, by default that of the plug-in's first score."""

    def __init__(self, plugin: Scorer | Judge, name: str | None = None) -> None:
        self.name = name or plugin.names[0]
        if self.name not in plugin.names:
            raise ConfigError(f"the scorer gives {', '.join(plugin.names)}, not {self.name!r}")
        self.signature = plugin.signature
        self.is_judge = isinstance(plugin, Judge)
        self._evaluator = JudgeEvaluator(plugin) if isinstance(plugin, Judge) else ScorerEvaluator(plugin)

    def outcome(
        self, answer: str, prompt: str | tuple[Message, ...] = "", row: Mapping[str, Any] | None = None
    ) -> Outcome:
        """Return the score of an answer, or why it has none; ``row`` has references and metadata."""
        item = _item(answer, prompt, row or {})
        if isinstance(self._evaluator, ScorerEvaluator):
            return self._named(self._evaluator.score(item))
        return self._named(_portal().call(self._evaluator.judge, item))

    async def outcome_async(
        self, answer: str, prompt: str | tuple[Message, ...] = "", row: Mapping[str, Any] | None = None
    ) -> Outcome:
        """Return the same in an event loop, which calls of a judge do not block."""
        if isinstance(self._evaluator, ScorerEvaluator):
            return self.outcome(answer, prompt, row)
        return self._named(await self._evaluator.judge(_item(answer, prompt, row or {})))

    def _named(self, outcomes: Sequence[Outcome]) -> Outcome:
        return next(outcome for outcome in outcomes if outcome.name == self.name)


def failure_text(outcome: Outcome) -> str:
    """Return why there is no score; empty if there is one."""
    return "" if isinstance(outcome, Score) else f"{outcome.status}: {outcome.message}"


@cache
def _portal() -> BlockingPortal:
    """Return an event loop in a thread of its own, to which a judge's connections belong."""
    from anyio.from_thread import start_blocking_portal

    atexit.register(_OPEN.close)
    return _OPEN.enter_context(start_blocking_portal())


def _item(answer: str, prompt: str | tuple[Message, ...], row: Mapping[str, Any]) -> Item:
    references = next((row[column] for column in REFERENCES if row.get(column)), ())
    texts = (references,) if isinstance(references, str) else tuple(map(str, references))
    sample = Sample(id="text", input=prompt, references=texts, metadata=dict(row))
    return Item(sample=sample, response=Response(sample_id=sample.id, text=answer), hash="")
