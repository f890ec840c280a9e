"""Where a document reads answers: all of them one at a time with their values, or a few with all facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hengwen.records import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hengwen.objective.lyrics.rules import LyricOptions
    from hengwen.records import Kind, Outcome
    from hengwen.score_id import ScoreId


class SourceKey(NamedTuple):
    """Identifies an answer among those of several runs."""

    run_id: str
    task: str
    sample_id: str
    repeat: int


class LyricReading(NamedTuple):
    """The template that a lyric should follow, and the rules by which it is read."""

    template: str
    options: LyricOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One answer with its prompt and all its outcomes (scores and failures)."""

    run_id: str
    task: str
    checkpoint: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: Mapping[ScoreId, Outcome]
    references: tuple[str, ...] = ()
    lyric: LyricReading | None = None
    """How the answer is read as a lyric, if it was scored as one."""

    @property
    def key(self) -> SourceKey:
        """Key of the answer."""
        return SourceKey(self.run_id, self.task, self.sample_id, self.repeat)


class ScoreValue(NamedTuple):
    """The value of one score of one answer, with its kind (``scorer``, ``judge`` or ``human``)."""

    value: float
    kind: Kind
    signature: str


@dataclass(frozen=True, slots=True)
class StreamedAnswer:
    """One answer of a stream, with the values of its scores."""

    key: SourceKey
    checkpoint: str
    text: str
    scores: Mapping[ScoreId, ScoreValue]
    """Values by score; failures are left out."""
    failures: Mapping[ScoreId, str] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.key.task

    @property
    def sample_id(self) -> str:
        """Id of the prompt."""
        return self.key.sample_id


class AnswerSource(Protocol):
    """Interface of the object from which a document reads answers."""

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time."""
        ...

    def load(self, keys: Sequence[SourceKey], *, explained: bool = False) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that have these keys; those that are not there are left out.

        Args:
            keys: Keys of the answers, at most a few hundred.
            explained: Whether reasons that are not stored are computed again.
        """
        ...


class AnswerList:
    """Answer source (see ``AnswerSource``) that has all answers in memory.

    Args:
        records: All answers; answers with equal scores are shown in this order.
    """

    def __init__(self, records: Iterable[AnswerRecord] = ()) -> None:
        self._records = {record.key: record for record in records}

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time."""
        for key, record in self._records.items():
            scores = {
                score: ScoreValue(outcome.value, outcome.kind, outcome.signature)
                for score, outcome in record.outcomes.items()
                if isinstance(outcome, Score)
            }
            failures = {
                score: outcome.status
                for score, outcome in record.outcomes.items()
                if not isinstance(outcome, Score)
            }
            yield StreamedAnswer(key, record.checkpoint, record.text, scores, failures)

    def load(self, keys: Sequence[SourceKey], *, explained: bool = False) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that have these keys; those that are not there are left out."""
        del explained
        return {key: self._records[key] for key in keys if key in self._records}
