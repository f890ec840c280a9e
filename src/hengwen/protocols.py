"""Interfaces of plug-ins and of the ledger, the storage that the engine writes to.

A plug-in inherits from no class: it implements an interface by having its members. It may raise any
exception; the engine turns it into a ``Failure``. Below, an outcome is a ``Score`` or a ``Failure``, and a
verdict holds a judge's outcomes for one response.

Required interfaces are ``Scorer``, ``GroupScorer``, ``Judge`` and ``Backend``. The others are optional:

=======================  ================================================================
``HistoryScorer``        a scorer that also reads the earlier responses to the sample
``SampleValidator``      a scorer that checks samples before any call is made
``DatasetConfigurable``  a scorer with settings chosen from all samples of a task
``AcceptsEvidence``      a judge that reads the findings of rules
``MultiSignature``       a judge whose outcomes have different signatures
``Rederivable``          a judge that recomputes derived scores from stored outcomes
``ParsingBackend``       a backend that parses a reply before it records the attempt
=======================  ================================================================

Support for an optional interface is determined by ``isinstance`` alone, once for each plug-in: when the plan
is loaded, when a judge that wraps others is built, or when a run starts. It is not checked for each response.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from hengwen.records import Attempt, Outcome, Reply, Request, Response, Row, Run, Sample, Verdict

Parsed = TypeVar("Parsed")
"""Type of the value that is parsed from a reply."""


@runtime_checkable
class Scorer(Protocol):
    """Scores one response. Its methods are plain functions, not coroutines."""

    @property
    def signature(self) -> str:
        """Text with every setting that can change a score."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores, the most important first. If ``score`` raises, each name gets a Failure."""
        ...

    def score(self, sample: Sample, response: Response) -> Sequence[Outcome]:
        """Return for each name a Score, or a Failure of status ``not_applicable``; else raise an error."""
        ...


@runtime_checkable
class HistoryScorer(Protocol):
    """Optional scorer method: score a response together with the earlier responses to the same sample."""

    def score_after(
        self, sample: Sample, response: Response, earlier: Sequence[Response]
    ) -> Sequence[Outcome]:
        """Return an outcome for each name. The engine calls this method instead of ``score``.

        Args:
            sample: Prompt with its references.
            response: Response to score.
            earlier: Responses of the same checkpoint to the same sample with a lower ``repeat``.
        """
        ...


@runtime_checkable
class SampleValidator(Protocol):
    """Optional scorer method: validate each sample before any call is made."""

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Yield warnings about a sample; raise ValueError if no response to it can be scored."""
        ...


@runtime_checkable
class DatasetConfigurable(Protocol):
    """Optional scorer method: choose settings from all samples of a task, once before scoring."""

    def for_samples(self, samples: Collection[Sample]) -> Scorer | GroupScorer:
        """Return a scorer that has the chosen settings and names them in its signature."""
        ...


@runtime_checkable
class GroupScorer(Protocol):
    """Scores several responses together: the repeats of a sample, or all responses of a task."""

    @property
    def scope(self) -> Literal["repeats", "checkpoint"]:
        """Which responses form a group."""
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
        """Return one outcome for each name, computed from the whole group."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Gives a verdict on one response: an outcome for the level and one for each criterion."""

    @property
    def signature(self) -> str:
        """Text with every setting that can change a verdict."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the outcomes of a verdict; the first is the name of the level."""
        ...

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        """Judge a response.

        Args:
            sample: Prompt with its references.
            response: Response to judge.
            earlier: Responses of the same checkpoint to the same sample with a lower ``repeat``.
        """
        ...


@runtime_checkable
class AcceptsEvidence(Protocol):
    """Optional judge interface: ``judge`` also takes ``evidence``, sentences of rules about the response.

    The attribute says whether this judge, with its present options, reads them; see :func:`evidence_judge`.
    """

    accepts_evidence: bool

    async def judge(
        self,
        sample: Sample,
        response: Response,
        *,
        earlier: Sequence[Response] = (),
        evidence: Sequence[str] = (),
    ) -> Verdict:
        """Judge a response, as ``Judge.judge`` does.

        Args:
            sample: Prompt with its references.
            response: Response to judge.
            earlier: Earlier responses to the same sample.
            evidence: Sentences about the response, written by rules; they never quote it.
        """
        ...


def evidence_judge(judge: Judge) -> AcceptsEvidence | None:
    """Return the judge itself if it reads evidence, else None. Call this once per judge, not per response."""
    return judge if isinstance(judge, AcceptsEvidence) and judge.accepts_evidence else None


@runtime_checkable
class MultiSignature(Protocol):
    """Optional judge property: outcomes of one verdict have different signatures."""

    @property
    def signatures(self) -> Mapping[str, str]:
        """Signature of each outcome, by name."""
        ...


@runtime_checkable
class Rederivable(Protocol):
    """Optional judge method: recompute derived scores from stored outcomes, without judging again.

    A derived score is computed from other outcomes, such as the final score after a rule capped the level.
    """

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        earlier: Sequence[Response] = (),
    ) -> Sequence[Outcome]:
        """Return the scores derived from stored outcomes.

        Args:
            outcomes: Stored outcomes that have the signature of the judge's first name.
            sample: Prompt with its references.
            response: Judged response.
            earlier: Earlier responses to the same sample.
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
        """Address of the server, a part of the call key; contains no API key and no user name."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Send a request once, without retries; raise BackendError if there is no usable reply."""
        ...

    async def close(self) -> None:
        """Close open connections."""
        ...


@runtime_checkable
class ParsingBackend(Protocol):
    """Optional backend method: parse a reply before the attempt (one try of a call) is recorded.

    The engine wraps each backend of a plan in a backend that has this method. If a reply cannot be parsed,
    the attempt is recorded with the status of the parse error, and its reply is not used again.
    """

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return a reply together with its parsed value; each reply is parsed only once.

        Args:
            request: Request to send, unless the ledger already has its reply.
            parse: Function that parses a reply; raises JudgeError if the reply is unusable.
        """
        ...


EvaluationKey = tuple[str, str | None, int | None, str, str]
"""(task, sample_id, repeat, signature, item_hash): key of one scorer's or judge's outcomes for an answer."""


class CompletedIndex(Protocol):
    """Index of completed evaluations: says for a key which run holds its outcomes."""

    def get(self, key: EvaluationKey, /) -> str | None:
        """Return the id of the run that holds the outcomes, or None."""
        ...

    def __len__(self) -> int:
        """Return the number of keys."""
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
        """Copy the rows of a key from an earlier run into this run."""
        ...

    def read(self, run_id: str, key: EvaluationKey) -> Sequence[Outcome]:
        """Return the outcomes that a run has for a key."""
        ...

    def find_call(self, call_key: str, cache_scope: str) -> Attempt | None:
        """Return the successful attempt of a call, or None."""
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
        """Record rows; a later row replaces an earlier one with the same task, sample, repeat and name."""
        ...

    def commit(self) -> None:
        """Commit all records, so that they survive a crash."""
        ...

    def commit_attempts(self) -> None:
        """Commit the attempts only; all other records can be recomputed from them."""
        ...
