"""Evaluate answers by scorers and judges; if one raises an error, each of its scores gets a ``Failure``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hengwen._internal.plugins import describe_error
from hengwen.engine.job import Item
from hengwen.errors import StoreError
from hengwen.protocols import (
    EvaluationContext,
    GroupScorer,
    Judge,
    MultiSignature,
    Rederivable,
    Scorer,
    is_local,
    parts_read,
)
from hengwen.records import Failure, Kind, Outcome, Response, Sample
from hengwen.score_id import Role, ScoreId, scores_of


class Evaluator:
    """A scorer or judge; its score names, signatures and optional methods are read only once for a run."""

    def __init__(self, plugin: Scorer | GroupScorer | Judge, kind: Kind) -> None:
        self.signature = plugin.signature
        self._names = list(plugin.names)
        self._kind: Kind = kind
        self._plugin = plugin
        self._scores: dict[tuple[str, Role], dict[str, ScoreId]] = {}
        self._signatures: Mapping[str, str] = (
            plugin.signatures
            if isinstance(plugin, MultiSignature)
            else dict.fromkeys(self._names, self.signature)
        )

    @property
    def identity(self) -> tuple[Kind, tuple[str, ...], str]:
        """Kind, score names and signature, which are equal only for copies of one scorer or judge."""
        return self._kind, tuple(self._names), self.signature

    @property
    def signatures(self) -> list[str]:
        """Distinct signatures (texts of all settings) of the scores, in the order of the score names."""
        return list(dict.fromkeys(self._signatures.values()))

    def scores(self, task: str, role: Role = "answer") -> dict[str, ScoreId]:
        """Return the identities of the scores by name, always the same objects."""
        scores = self._scores.get((task, role))
        if scores is None:
            known = scores_of(self._plugin, task, is_judge=self._kind == "judge")
            scores = self._scores[task, role] = {name: score.about(role) for name, score in known.items()}
        return scores

    def failures(self, error: Exception) -> list[Outcome]:
        """Return a Failure for each score of a scorer or judge that raised an exception."""
        status, message, raw = describe_error(error)
        return [
            Failure(name=name, status=status, message=message, signature=signature, kind=self._kind, raw=raw)
            for name, signature in self._signatures.items()
        ]

    def _fill_missing(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Add a Failure for each declared score that is missing; raise if a score is not declared."""
        names = [outcome.name for outcome in outcomes]
        if names == self._names:
            return outcomes
        if set(names) - set(self._names) or len(set(names)) < len(names):
            raise ValueError(f"{self.signature} gave {names}, but promised {self._names}, each once")
        return outcomes + [
            Failure(
                name=name,
                status="scorer_error",
                message="no outcome was given for this name",
                signature=signature,
                kind=self._kind,
            )
            for name, signature in self._signatures.items()
            if name not in names
        ]


class ScorerEvaluator(Evaluator):
    """Evaluate single responses by a scorer."""

    def __init__(self, scorer: Scorer) -> None:
        super().__init__(scorer, "scorer")
        self._scorer = scorer
        self._reads_context = bool(parts_read(scorer))

    def score(self, item: Item) -> list[Outcome]:
        """Return one Score or Failure for each score name."""
        try:
            context = (_context(item, details=False),) if self._reads_context else ()
            outcomes = self._scorer.score(item.sample, item.response, *context)
            return self._fill_missing(list(outcomes))
        except Exception as error:
            return self.failures(error)


class GroupEvaluator(Evaluator):
    """Evaluate groups of responses by a scorer."""

    def __init__(self, scorer: GroupScorer) -> None:
        super().__init__(scorer, "scorer")
        self.scope = scorer.scope
        self._scorer = scorer

    def score(self, items: Sequence[tuple[Sample, Response]]) -> list[Outcome]:
        """Return one Score or Failure for each score name, computed from all responses of the group."""
        try:
            return self._fill_missing(list(self._scorer.score_set(items)))
        except Exception as error:
            return self.failures(error)


class JudgeEvaluator(Evaluator):
    """Evaluate responses by a judge."""

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge, "judge")
        self._judge = judge
        self._reads_context = bool(parts_read(judge))
        self.is_local = is_local(judge)
        """Whether the judge needs no network, so that worker processes can use it."""
        self._rederivable = judge if isinstance(judge, Rederivable) else None
        verdict_signature = self._signatures[self._names[0]]
        self.verdict_signature = (
            verdict_signature
            if self._rederivable is not None and verdict_signature != self.signature
            else None
        )
        """Signature of the stored scores from which derived ones can be recomputed, if they can."""

    async def judge(self, item: Item) -> list[Outcome]:
        """Return one Score or Failure for each score name."""
        try:
            context = (_context(item),) if self._reads_context else ()
            verdict = await self._judge.judge(item.sample, item.response, *context)
            return self._fill_missing(list(verdict.outcomes))
        except StoreError:
            raise
        except Exception as error:
            return self.failures(error)

    def judge_locally(self, item: Item) -> list[Outcome]:
        """Return the same as ``judge``, without an event loop, from a judge that needs no network."""
        coroutine = self.judge(item)
        try:
            coroutine.send(None)
        except StopIteration as finished:
            return list(finished.value)
        coroutine.close()
        return self.failures(TypeError(f"{self.signature} is a local judge, but waits"))

    def derive(self, item: Item, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """A judge's stored scores; derived scores (such as capped ones) are recomputed without a call."""
        assert self._rederivable is not None
        try:
            derived = self._rederivable.derive(outcomes, item.sample, item.response, _context(item))
            return self._fill_missing([*outcomes, *derived])
        except Exception as error:
            return self.failures(error)


def _context(item: Item, *, details: bool = True) -> EvaluationContext:
    return EvaluationContext(earlier=item.earlier, details=details)
