"""Interfaces of plug-ins and of the ledger. Nothing to inherit from: a class matches by its members.

A plug-in may raise anything; the engine turns the error into a ``Failure``.

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
"""The value that is read from a reply."""


@runtime_checkable
class Scorer(Protocol):
    """Scores one response; synchronous."""

    @property
    def signature(self) -> str:
        """Text with every setting that can change a score."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores, the headline first. If ``score`` raises, each of them gets a Failure."""
        ...

    def score(self, sample: Sample, response: Response) -> Sequence[Outcome]:
        """Return an outcome for each name: a Score, or a Failure of status ``not_applicable``; else raise."""
        ...


@runtime_checkable
class HistoryScorer(Protocol):
    """Optional scorer method: score a response together with the earlier responses to the same sample."""

    def score_after(
        self, sample: Sample, response: Response, earlier: Sequence[Response]
    ) -> Sequence[Outcome]:
        """Return an outcome for each name; called instead of ``score``.

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
        """Yield warnings; raise ValueError if the sample can never be scored."""
        ...


@runtime_checkable
class DatasetConfigurable(Protocol):
    """Optional scorer method: choose settings once, from all samples of a task."""

    def for_samples(self, samples: Collection[Sample]) -> Scorer | GroupScorer:
        """Return a scorer with the chosen settings in its signature."""
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
        """Names of the scores of a group, the headline first."""
        ...

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> Sequence[Outcome]:
        """Return one outcome for each name, computed from the whole group."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Gives a verdict on one response."""

    @property
    def signature(self) -> str:
        """Text with every setting that can change a verdict."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the outcomes of a verdict, the level first."""
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
    """Optional judge interface: ``judge`` takes the findings of rules as ``evidence``.

    The attribute says whether this judge, as configured, reads evidence; see :func:`evidence_judge`.
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
    """Return the judge itself if it reads evidence, else None. Call it once, when the judge is wrapped."""
    return judge if isinstance(judge, AcceptsEvidence) and judge.accepts_evidence else None


@runtime_checkable
class MultiSignature(Protocol):
    """Optional judge property: different signatures for different outcomes."""

    @property
    def signatures(self) -> Mapping[str, str]:
        """Signature of each outcome, by name."""
        ...


@runtime_checkable
class Rederivable(Protocol):
    """Optional judge method: recompute derived scores from stored outcomes, without a new verdict."""

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        earlier: Sequence[Response] = (),
    ) -> Sequence[Outcome]:
        """Return the scores derived from stored outcomes.

        Args:
            outcomes: Stored outcomes under the signature of the judge's first name.
            sample: Prompt with its references.
            response: Judged response.
            earlier: Earlier responses to the same sample.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """Answers requests with the replies of a model."""

    @property
    def signature(self) -> str:
        """Provider, model and sampling parameters."""
        ...

    @property
    def endpoint(self) -> str:
        """Address that is part of the call key; holds no key and no user name."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Send a request once; raise BackendError if there is no usable reply."""
        ...

    async def close(self) -> None:
        """Close open connections."""
        ...


@runtime_checkable
class ParsingBackend(Protocol):
    """Optional backend method: parse a reply before the attempt is recorded.

    The engine wraps the backends of a plan in one that has it. An attempt whose reply cannot be parsed is
    then recorded with the status of the parse error, and is not used again.
    """

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return a reply with the value that ``parse`` reads from it; each reply is parsed once.

        Args:
            request: Request to send, or to find in the ledger.
            parse: Function of the reply; raises JudgeError if the reply is unusable.
        """
        ...


EvaluationKey = tuple[str, str | None, int | None, str, str]
"""(task, sample_id, repeat, signature, item_hash): the outcomes of one scorer or judge for one item."""


class CompletedIndex(Protocol):
    """Index of completed evaluations."""

    def get(self, key: EvaluationKey, /) -> str | None:
        """Return the id of the run that holds the outcomes, or None."""
        ...

    def __len__(self) -> int:
        """Return the number of keys."""
        ...


class Ledger(Protocol):
    """Storage of the engine: committed records survive, and a stored reply is not paid for twice."""

    def begin(self, run: Run) -> None:
        """Store a run, or its new status."""
        ...

    def done(self, run: Run) -> CompletedIndex:
        """Return the evaluations completed in this run or in earlier runs of its series."""
        ...

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Copy the rows of a key from an earlier run into this one."""
        ...

    def read(self, run_id: str, key: EvaluationKey) -> Sequence[Outcome]:
        """Return the outcomes that a run holds for a key."""
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
        """Record an attempt; ``find_call`` returns it from then on."""
        ...

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record rows; a later row replaces an earlier one with the same task, sample, repeat and name."""
        ...

    def commit(self) -> None:
        """Make all records durable."""
        ...

    def commit_attempts(self) -> None:
        """Make the attempts durable; everything else can be recomputed from them."""
        ...
