"""What a plug-in must match. Nothing to inherit from; raise freely, the engine makes the ``Failure``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hengwen.records import Attempt, Outcome, Reply, Request, Response, Row, Run, Sample, Verdict


@runtime_checkable
class Scorer(Protocol):
    """Scores one answer; plain and synchronous."""

    @property
    def signature(self) -> str:
        """Everything that can move a number of it."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The scores it gives, the headline first: when it raises, each of them becomes a Failure."""
        ...

    def score(self, sample: Sample, response: Response) -> Sequence[Outcome]:
        """Return a score for each name; raise where there is none, or return why it is not applicable."""
        ...


@runtime_checkable
class HistoryScorer(Protocol):
    """What a scorer may have besides: a score that also depends on the answers before this one."""

    def score_after(
        self, sample: Sample, response: Response, earlier: Sequence[Response]
    ) -> Sequence[Outcome]:
        """Return an outcome for each name; asked in the place of ``score``.

        Args:
            sample: What was asked.
            response: The answer.
            earlier: The answers of the same checkpoint to the same sample with a lower ``repeat``.
        """
        ...


@runtime_checkable
class SampleValidator(Protocol):
    """What a scorer may have besides: a look at each sample before anything is paid for."""

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Yield warnings; raise ValueError where the sample can never be scored."""
        ...


@runtime_checkable
class DatasetConfigurable(Protocol):
    """What a scorer may have besides: settings that are chosen once, for all samples of a task."""

    def for_samples(self, samples: Collection[Sample]) -> Scorer | GroupScorer:
        """Return the scorer with its choice made; the signature says which."""
        ...


@runtime_checkable
class GroupScorer(Protocol):
    """Scores several answers at once: the repeats of a sample, or all answers of a checkpoint to a task."""

    scope: Literal["repeats", "checkpoint"]

    @property
    def signature(self) -> str:
        """Everything that can move a number of it."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The values that it gives of a set, the headline first."""
        ...

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> Sequence[Outcome]:
        """One outcome for each name: a value of the whole set."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Gives a verdict on one answer."""

    @property
    def signature(self) -> str:
        """Everything that can move a number of it."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The outcomes of a verdict, the level first."""
        ...

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        """Judge an answer.

        Args:
            sample: What was asked.
            response: The answer.
            earlier: The answers of the same checkpoint to the same sample with a lower ``repeat``.
        """
        ...


@runtime_checkable
class AcceptsEvidence(Protocol):
    """What a judge may be besides: shown facts about the answer that rules found."""

    reads_facts: bool

    async def judge(
        self,
        sample: Sample,
        response: Response,
        *,
        earlier: Sequence[Response] = (),
        facts: Sequence[str] = (),
    ) -> Verdict:
        """Judge an answer, as ``Judge`` does.

        Args:
            sample: What was asked.
            response: The answer.
            earlier: The answers before it.
            facts: Sentences of ours about the answer; they never quote it.
        """
        ...


@runtime_checkable
class MultiSignature(Protocol):
    """What a judge may have besides: outcomes under several signatures."""

    @property
    def signatures(self) -> Mapping[str, str]:
        """The signature of the outcome of each of its names."""
        ...


@runtime_checkable
class Rederivable(Protocol):
    """What a compound judge may have besides: what it derives can be derived again, without a new verdict."""

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        earlier: Sequence[Response] = (),
    ) -> Sequence[Outcome]:
        """Return what follows from outcomes of before.

        Args:
            outcomes: Those under the signature of its first name.
            sample: What was asked.
            response: The answer.
            earlier: The answers before it.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """Answers a prompt."""

    @property
    def signature(self) -> str:
        """Provider, model and sampling parameters."""
        ...

    @property
    def endpoint(self) -> str:
        """Where it asks; part of the call key. No key, no user name."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer a request, once; raise BackendError where there is no usable reply."""
        ...

    async def close(self) -> None:
        """Close what is open."""
        ...


EvaluationKey = tuple[str, str | None, int | None, str, str]
"""(task, sample_id, repeat, signature, item_hash): one scorer's or judge's outcomes for one item."""


class CompletedIndex(Protocol):
    """What needs no second try."""

    def get(self, key: EvaluationKey, /) -> str | None:
        """Return the run that holds its outcomes, or None."""
        ...

    def __len__(self) -> int:
        """How many keys there are."""
        ...


class Ledger(Protocol):
    """Where the engine writes. Nothing is lost that was committed; nothing is bought twice that is found."""

    def begin(self, run: Run) -> None:
        """Store the run, or its new status."""
        ...

    def done(self, run: Run) -> CompletedIndex:
        """What needs no second try, with the run that holds it: this one, or an earlier one of the series."""
        ...

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Copy the rows behind a key from an earlier run into this one."""
        ...

    def read(self, run_id: str, key: EvaluationKey) -> Sequence[Outcome]:
        """The outcomes behind a key that a run holds."""
        ...

    def find_call(self, call_key: str, scope: str) -> Attempt | None:
        """The good attempt at this call, if there is one."""
        ...

    def next_number(self, call_key: str, scope: str) -> int:
        """The number of the next attempt at this call, from 1."""
        ...

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Keep an answer with the sample that it answers."""
        ...

    def record_attempt(self, attempt: Attempt) -> None:
        """Keep an attempt; it can be found at once."""
        ...

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Later rows replace earlier ones at the same place."""
        ...

    def commit(self) -> None:
        """Make all that was recorded durable."""
        ...

    def commit_attempts(self) -> None:
        """Make the attempts durable, which were paid for; of them the rest can be made again."""
        ...
