"""Interfaces of plug-ins and of the ledger (the storage to which the engine writes results).

A plug-in need not inherit from the classes of this module; it only needs the same methods and attributes. A
plug-in may raise any exception; the engine records it as a ``Failure``. In this module, an outcome is a
``Score`` or a ``Failure``. A verdict is a judge's result for one response: one outcome for the overall level
and one for each criterion. A signature is a text with every setting that can change a score.

Required interfaces are ``Scorer``, ``GroupScorer``, ``Judge`` and ``Backend``. The others are optional:

=======================  ================================================================
``ContextReader``        a scorer or judge that gets the context: earlier responses, evidence
``SampleValidator``      a scorer that checks samples before any model is called
``DatasetConfigurable``  a scorer whose settings depend on all samples of a task
``LocalJudge``           a judge that needs no network
``MultiSignature``       a judge whose scores have different signatures
``Rederivable``          a judge that recomputes derived scores from stored ones
``ParsingBackend``       a backend that parses a reply before it records the call
=======================  ================================================================

Hengwen checks with ``isinstance`` whether a plug-in has an optional interface. The check for optional
interfaces is done once for each plug-in, before the first response is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar, runtime_checkable

from hengwen.records import Attempt, Outcome, Reply, Request, Response, Row, Run, Sample, Verdict

Parsed = TypeVar("Parsed")
"""Type of the value that a ``parse`` function returns for a reply."""


ContextPart = Literal["earlier", "evidence", "details"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """What a scorer or judge may read besides the sample and the response."""

    earlier: Sequence[Response] = ()
    """Earlier responses of the same checkpoint to the same sample (smaller ``repeat`` number)."""
    evidence: Sequence[str] = ()
    """Sentences about the response, written by rules; they never quote it."""
    details: bool = True
    """Whether reasons and details of scores are needed. A report asks for them again for the few answers that
    it shows, so that the store stays small."""

    def arguments_for(self, plugin: object) -> tuple[EvaluationContext, ...]:
        """Return the arguments after sample and response: the context, or nothing for a plain plug-in."""
        parts = parts_read(plugin)
        if not parts:
            return ()
        return (self if "evidence" in parts or not self.evidence else replace(self, evidence=()),)


NO_CONTEXT = EvaluationContext()
"""The context of a single response: nothing came before it, and no rule wrote about it."""


@runtime_checkable
class ContextReader(Protocol):
    """Optional attribute of a scorer or judge that gets an ``EvaluationContext`` as third argument.

    Its method is ``score(sample, response, context)`` or ``judge(sample, response, context)``; give
    ``context`` the default ``NO_CONTEXT``, so that it can be called without one.
    """

    @property
    def reads(self) -> Collection[ContextPart]:
        """Parts of the context that the plug-in reads with its present options.

        ``details`` marks a scorer that leaves out reasons and details if they are not needed; ``evidence`` a
        judge whose prompt includes what rules wrote. A plug-in that reads nothing gets no context.
        """
        ...


def parts_read(plugin: object) -> frozenset[ContextPart]:
    """Return the parts of the context that a plug-in, or a class of plug-ins, reads."""
    reads = getattr(plugin, "reads", ())
    return frozenset(reads) if isinstance(reads, Collection) else frozenset()


@runtime_checkable
class Scorer(Protocol):
    """Scores one response. The methods of a scorer are plain functions, not coroutines.

    Copies of a scorer score different responses in different processes, so a scorer must not keep state from
    one response to the next. A scorer that cannot be pickled is used only in the main process.
    """

    @property
    def signature(self) -> str:
        """Text with every setting that can change a score."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores, the most important first. If ``score`` raises, each score gets a Failure."""
        ...

    def score(self, sample: Sample, response: Response) -> Sequence[Outcome]:
        """Return a Score or a ``not_applicable`` Failure for each of ``names``; raise for other errors."""
        ...


@runtime_checkable
class SampleValidator(Protocol):
    """Optional scorer method: validate each sample before any call is made."""

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Yield warnings about a sample; raise ValueError if no response to it can be scored."""
        ...


@runtime_checkable
class DatasetConfigurable(Protocol):
    """Optional scorer method: set the scorer up with all samples of a task, once before scoring."""

    def for_samples(self, samples: Collection[Sample]) -> Scorer | GroupScorer:
        """Return a scorer whose settings fit the samples, and whose signature contains these settings."""
        ...


@runtime_checkable
class GroupScorer(Protocol):
    """Scores several responses together: the repeats of a sample, or all responses of a task."""

    @property
    def scope(self) -> Literal["repeats", "checkpoint"]:
        """``repeats``: the repeats of a sample form a group; ``checkpoint``: all responses of a task do."""
        ...

    @property
    def signature(self) -> str:
        """Text with every setting that can change a score."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores of a group, the most important first."""
        ...

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> Sequence[Outcome]:
        """Return a Score or Failure for each score name of the scorer, from all responses of the group."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Judges one response: it gives a Score or a Failure for the overall level and one for each criterion."""

    @property
    def signature(self) -> str:
        """Text that contains every setting that can change the judge's scores."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores that the judge gives; the first is the overall level."""
        ...

    async def judge(self, sample: Sample, response: Response) -> Verdict:
        """Judge a response.

        Args:
            sample: Prompt with its references.
            response: Response to judge.
        """
        ...


@runtime_checkable
class LocalJudge(Protocol):
    """Optional judge attribute: the judge needs no network, so that several processes can judge.

    A local judge never waits, must be picklable, and must not keep state from one response to the next.
    """

    @property
    def is_local(self) -> bool:
        """Whether this judge, with its present options, makes no calls."""
        ...


def is_local(judge: object) -> bool:
    """Return whether a judge needs no network."""
    return isinstance(judge, LocalJudge) and judge.is_local


@runtime_checkable
class MultiSignature(Protocol):
    """Optional judge property: the signature (text with the settings) of each score, if signatures differ."""

    @property
    def signatures(self) -> Mapping[str, str]:
        """For each score name, the signature: a text with every setting that can change the score."""
        ...


@runtime_checkable
class Rederivable(Protocol):
    """Optional judge method: recompute derived (such as capped) scores from stored ones, without judging.

    A derived score is computed from other scores, such as the final score after a rule has capped the level.
    """

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        context: EvaluationContext,
    ) -> Sequence[Outcome]:
        """Return the derived scores, computed from stored scores.

        Args:
            outcomes: Stored scores and failures that this judge gave the response with its present settings
                (the signature of its overall level). Derived scores are not among them.
            sample: Prompt with its references.
            response: Judged response.
            context: Earlier responses to the same sample.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """Sends requests to a model and returns its replies."""

    @property
    def signature(self) -> str:
        """Text with provider, model and sampling parameters."""
        ...

    @property
    def endpoint(self) -> str:
        """Address of the server without API key and user name; a part of the key that identifies a call."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Send a request once, without retries; raise BackendError if there is no usable reply."""
        ...

    async def close(self) -> None:
        """Close open connections."""
        ...


@runtime_checkable
class ParsingBackend(Protocol):
    """Optional backend method: parse a reply before the call is recorded.

    The engine wraps each backend of a plan in a backend that has the method ``complete_parsed``. If a reply
    cannot be parsed, the call is recorded with the status of the parse error, and its reply is never reused.
    """

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return a reply together with its parsed value; each reply is parsed only once.

        Args:
            request: Request to send; it is not sent if the reply to it is already stored.
            parse: Function that parses a reply; raises JudgeError if the reply is unusable.
        """
        ...


EvaluationKey = tuple[str, str | None, int | None, str, str]
"""(task, sample_id, repeat, signature, item_hash): identifies the results of one scorer or judge for one
answer."""


class CompletedIndex(Protocol):
    """Index of completed evaluations: it maps an evaluation key to the run that has the results."""

    def get(self, key: EvaluationKey, /) -> str | None:
        """Return the id of the run that has the results of an evaluation; None if it is not completed."""
        ...

    def __len__(self) -> int:
        """Return the number of completed evaluations."""
        ...


class Ledger(Protocol):
    """Storage of the engine. Committed records survive a crash, and a stored reply is not paid for again."""

    def begin(self, run: Run) -> None:
        """Store a run, or its new status."""
        ...

    def done(self, run: Run) -> CompletedIndex:
        """Return the evaluations that are completed in this run or in earlier runs of the same checkpoint."""
        ...

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Copy the stored results of an evaluation from an earlier run into this run."""
        ...

    def read(self, run_id: str, key: EvaluationKey) -> Sequence[Outcome]:
        """Return the scores and failures that a run has for an evaluation."""
        ...

    def find_call(self, call_key: str, cache_scope: str) -> Attempt | None:
        """Return the stored successful attempt of a call, or None if no attempt has succeeded."""
        ...

    def next_attempt_no(self, call_key: str, cache_scope: str) -> int:
        """Return the number of the next attempt of a call, from 1."""
        ...

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Record a response and its sample."""
        ...

    def record_attempt(self, attempt: Attempt) -> None:
        """Record an attempt; if it succeeded, ``find_call`` returns it from then on."""
        ...

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record scores and failures (rows). A row replaces the earlier row with the same ``Row.key``."""
        ...

    def commit(self) -> None:
        """Commit all records, so that they survive a crash."""
        ...

    def commit_attempts(self) -> None:
        """Commit only the attempts (calls with replies); everything else can be recomputed from them."""
        ...
