"""Select the answers that a report shows: the lowest and highest scores of each task and checkpoint.

A report first streams all answers to rank them, and then loads the few that it shows. All other answers are
only counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from hengwen.records import Outcome, Score
from hengwen.text.numbers import decimals_for, number
from hengwen.text.safety import one_line, shorten, strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hengwen.records import Kind

ANSWERS_PER_END = 3
"""Number of answers that are shown at each end of the ranking."""
MAX_SHOWN = 2 * ANSWERS_PER_END
"""Maximum number of answers that are shown for one task and checkpoint."""
MAX_CANDIDATES = 1024
"""Maximum number of scored answers that a ranking keeps in memory.

If there are more, only the ``ANSWERS_PER_END`` lowest and highest are kept.
"""
TEXT_LIMIT = 8000
"""Maximum number of characters of an answer that are shown."""
INPUT_LIMIT = 2000
"""Maximum number of characters of a prompt that are shown."""
REASON_LIMIT = 600
"""Maximum number of characters of a reason that are shown."""

Rank = Literal["lowest", "highest", "failed", ""]
SourceKey = Any
"""Hashable key by which an answer source finds an answer that it has streamed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One answer with its prompt and all its outcomes (scores and failures)."""

    task: str
    checkpoint: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: tuple[Outcome, ...]


class ScoreValue(NamedTuple):
    """The value of one score of one answer, with its kind (``scorer``, ``judge`` or ``human``)."""

    value: float
    kind: Kind
    signature: str


class StreamedAnswer(NamedTuple):
    """One answer of a stream, with the values of its scores."""

    key: SourceKey
    task: str
    checkpoint: str
    sample_id: str
    text: str
    scores: Mapping[str, ScoreValue]
    """Values by name of the score; failures are left out."""


class AnswerSource(Protocol):
    """Interface of the object from which a report reads answers."""

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time."""
        ...

    def load(self, keys: Sequence[SourceKey]) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that have these keys."""
        ...


class AnswerList:
    """Answer source (see ``AnswerSource``) that has all answers in memory.

    Args:
        records: All answers; answers with equal scores are shown in this order.
    """

    def __init__(self, records: Iterable[AnswerRecord] = ()) -> None:
        self._records = tuple(records)

    def stream(self) -> Iterator[StreamedAnswer]:
        """Yield all answers, one at a time."""
        for index, record in enumerate(self._records):
            scores = {
                outcome.name: ScoreValue(outcome.value, outcome.kind, outcome.signature)
                for outcome in record.outcomes
                if isinstance(outcome, Score)
            }
            yield StreamedAnswer(index, record.task, record.checkpoint, record.sample_id, record.text, scores)

    def load(self, keys: Sequence[SourceKey]) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that have these keys."""
        return {key: self._records[key] for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeLine:
    """One score or failure of an answer, as a report shows it."""

    name: str
    kind: str
    value: str
    """The value as it is printed; empty for a failure."""
    status: str
    """Status: ``ok`` for a score, otherwise the status of the failure."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """One answer, as a report shows it."""

    sample_id: str
    repeat: int
    input: str
    text: str
    rank: Rank
    headline: str
    """Printed value of the score that ranks the answers; if that score failed, the status of the failure."""
    excerpt: str
    """The beginning of the answer on one line."""
    outcomes: tuple[OutcomeLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerGroup:
    """The answers of one task and checkpoint that a report shows."""

    task: str
    checkpoint: str
    ranked_by: str
    """Name of the score that ranks the answers; empty if no score ranks them."""
    answers: tuple[AnswerView, ...]
    total: int

    @property
    def omitted(self) -> int:
        """Number of answers that the report does not show."""
        return self.total - len(self.answers)


@dataclass(slots=True)
class Ranking:
    """Rank the answers of one task and checkpoint by one score, and keep those that may be shown."""

    ranked_by: str
    total: int = 0
    scored: list[tuple[float, int, SourceKey]] = field(default_factory=list)
    """Each answer that may be shown, as (value, index in the stream, key)."""
    unscored: list[SourceKey] = field(default_factory=list)

    def add(self, answer: StreamedAnswer) -> None:
        """Count an answer, and keep its key if it may be shown."""
        self.total += 1
        score = answer.scores.get(self.ranked_by)
        if score is not None:
            self.scored.append((score.value, self.total, answer.key))
            if len(self.scored) > MAX_CANDIDATES:
                self.scored.sort(key=_value_and_index)
                del self.scored[ANSWERS_PER_END:-ANSWERS_PER_END]
        elif len(self.unscored) < MAX_SHOWN:
            self.unscored.append(answer.key)

    def picks(self) -> list[tuple[SourceKey, Rank]]:
        """Return the answers to show: first the lowest, then the highest; equal values keep their order."""
        keys = [key for _, _, key in sorted(self.scored, key=_value_and_index)]
        picks: list[tuple[SourceKey, Rank]]
        if len(keys) > MAX_SHOWN:
            picks = [(key, "lowest") for key in keys[:ANSWERS_PER_END]]
            picks += [(key, "highest") for key in keys[-ANSWERS_PER_END:]]
        else:
            picks = [(key, "") for key in keys]
        rank: Rank = "failed" if self.ranked_by else ""
        return picks + [(key, rank) for key in self.unscored[: MAX_SHOWN - len(picks)]]


def _value_and_index(candidate: tuple[float, int, SourceKey]) -> tuple[float, int]:
    return candidate[:2]


class AnswerPicker:
    """Rank streamed answers, separately for each task and checkpoint."""

    def __init__(self, headlines: Mapping[str, str]) -> None:
        self._headlines = headlines
        self._rankings: dict[tuple[str, str], Ranking] = {}

    def add(self, answer: StreamedAnswer) -> None:
        """Add an answer to the ranking of its task and checkpoint."""
        key = (answer.task, answer.checkpoint)
        if key not in self._rankings:
            self._rankings[key] = Ranking(self._headlines.get(answer.task, ""))
        self._rankings[key].add(answer)

    def groups(
        self, source: AnswerSource, tasks: Sequence[str] = (), checkpoints: Sequence[str] = ()
    ) -> tuple[AnswerGroup, ...]:
        """Load the answers to show and return them by task and checkpoint."""
        task_order = _positions([*tasks, *(task for task, _ in self._rankings)])
        checkpoint_order = _positions([*checkpoints, *(name for _, name in self._rankings)])
        keys = sorted(self._rankings, key=lambda key: (task_order[key[0]], checkpoint_order[key[1]]))
        return tuple(_group(*key, self._rankings[key], source) for key in keys)


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _group(task: str, checkpoint: str, ranking: Ranking, source: AnswerSource) -> AnswerGroup:
    picks = ranking.picks()
    records = source.load([key for key, _ in picks])
    return AnswerGroup(
        task=task,
        checkpoint=checkpoint,
        ranked_by=ranking.ranked_by,
        answers=tuple(_view(records[key], ranking.ranked_by, rank) for key, rank in picks),
        total=ranking.total,
    )


def _view(answer: AnswerRecord, ranked_by: str, rank: Rank) -> AnswerView:
    lines = tuple(_line(outcome) for outcome in answer.outcomes)
    return AnswerView(
        sample_id=answer.sample_id,
        repeat=answer.repeat,
        input=shorten(strip_controls(answer.input), INPUT_LIMIT),
        text=shorten(strip_controls(answer.text), TEXT_LIMIT),
        rank=rank,
        headline=next((line.value or line.status for line in lines if line.name == ranked_by), ""),
        excerpt=one_line(answer.text[:400]),
        outcomes=lines,
    )


def _line(outcome: Outcome) -> OutcomeLine:
    if isinstance(outcome, Score):
        decimals = decimals_for(outcome.scale, [outcome.value])
        value, status, reason = number(outcome.value, decimals), "ok", outcome.reason
    else:
        value, status, reason = "", outcome.status, outcome.message
    return OutcomeLine(
        name=outcome.name,
        kind=outcome.kind,
        value=value,
        status=status,
        reason=shorten(strip_controls(reason), REASON_LIMIT),
    )
