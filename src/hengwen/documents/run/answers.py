"""Select the answers that a report shows: the lowest and highest scores of each task and checkpoint.

A report first streams all answers to rank them, and then loads the few that it shows. All other answers are
only counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hengwen.documents.blocks import Answer, AnswerOutcome, Answers
from hengwen.records import Outcome, Score
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, number
from hengwen.text.safety import one_line, shorten, strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hengwen.documents.blocks import Text
    from hengwen.records import Kind
    from hengwen.score_id import ScoreId

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

LOWEST, HIGHEST = Bilingual("低", "low"), Bilingual("高", "high")
FAILED = Bilingual("未得分", "failed")
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
    outcomes: Mapping[ScoreId, Outcome]


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
    scores: Mapping[ScoreId, ScoreValue]
    """Values by score; failures are left out."""


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
                score: ScoreValue(outcome.value, outcome.kind, outcome.signature)
                for score, outcome in record.outcomes.items()
                if isinstance(outcome, Score)
            }
            yield StreamedAnswer(index, record.task, record.checkpoint, record.sample_id, record.text, scores)

    def load(self, keys: Sequence[SourceKey]) -> Mapping[SourceKey, AnswerRecord]:
        """Return the answers that have these keys."""
        return {key: self._records[key] for key in keys}


@dataclass(slots=True)
class Ranking:
    """Rank the answers of one task and checkpoint by one score, and keep those that may be shown."""

    ranked_by: ScoreId | None
    total: int = 0
    scored: list[tuple[float, int, SourceKey]] = field(default_factory=list)
    """Each answer that may be shown, as (value, index in the stream, key)."""
    unscored: list[SourceKey] = field(default_factory=list)

    def add(self, answer: StreamedAnswer) -> None:
        """Count an answer, and keep its key if it may be shown."""
        self.total += 1
        score = None if self.ranked_by is None else answer.scores.get(self.ranked_by)
        if score is not None:
            self.scored.append((score.value, self.total, answer.key))
            if len(self.scored) > MAX_CANDIDATES:
                self.scored.sort(key=_value_and_index)
                del self.scored[ANSWERS_PER_END:-ANSWERS_PER_END]
        elif len(self.unscored) < MAX_SHOWN:
            self.unscored.append(answer.key)

    def picks(self) -> list[tuple[SourceKey, Text]]:
        """Return the answers to show: first the lowest, then the highest; equal values keep their order."""
        keys = [key for _, _, key in sorted(self.scored, key=_value_and_index)]
        picks: list[tuple[SourceKey, Text]]
        if len(keys) > MAX_SHOWN:
            picks = [(key, LOWEST) for key in keys[:ANSWERS_PER_END]]
            picks += [(key, HIGHEST) for key in keys[-ANSWERS_PER_END:]]
        else:
            picks = [(key, "") for key in keys]
        return picks + [
            (key, FAILED if self.ranked_by else "") for key in self.unscored[: MAX_SHOWN - len(picks)]
        ]


def _value_and_index(candidate: tuple[float, int, SourceKey]) -> tuple[float, int]:
    return candidate[:2]


class AnswerPicker:
    """Rank streamed answers, separately for each task and checkpoint."""

    def __init__(self, headlines: Mapping[str, ScoreId | None]) -> None:
        self._headlines = headlines
        self._rankings: dict[tuple[str, str], Ranking] = {}

    def add(self, answer: StreamedAnswer) -> None:
        """Add an answer to the ranking of its task and checkpoint."""
        key = (answer.task, answer.checkpoint)
        if key not in self._rankings:
            self._rankings[key] = Ranking(self._headlines.get(answer.task))
        self._rankings[key].add(answer)

    def answers(
        self, source: AnswerSource, tasks: Sequence[str] = (), checkpoints: Sequence[str] = ()
    ) -> tuple[Answers, ...]:
        """Load the answers to show and return them by task and checkpoint."""
        task_order = _positions([*tasks, *(task for task, _ in self._rankings)])
        checkpoint_order = _positions([*checkpoints, *(name for _, name in self._rankings)])
        keys = sorted(self._rankings, key=lambda key: (task_order[key[0]], checkpoint_order[key[1]]))
        return tuple(_answers(*key, self._rankings[key], source) for key in keys)


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _answers(task: str, checkpoint: str, ranking: Ranking, source: AnswerSource) -> Answers:
    picks = ranking.picks()
    records = source.load([key for key, _ in picks])
    return Answers(
        title=" · ".join([task, checkpoint, *([ranking.ranked_by.name] if ranking.ranked_by else [])]),
        rows=tuple(_answer(records[key], ranking.ranked_by, rank) for key, rank in picks),
        omitted=ranking.total - len(picks),
    )


def _answer(record: AnswerRecord, ranked_by: ScoreId | None, rank: Text) -> Answer:
    outcomes = {score: _outcome(score, outcome) for score, outcome in record.outcomes.items()}
    ranking = None if ranked_by is None else outcomes.get(ranked_by)
    return Answer(
        task=record.task,
        checkpoint=record.checkpoint,
        sample_id=record.sample_id,
        repeat=record.repeat,
        prompt=shorten(strip_controls(record.input), INPUT_LIMIT),
        text=shorten(strip_controls(record.text), TEXT_LIMIT),
        rank=rank,
        headline="" if ranking is None else ranking.text or ranking.status,
        excerpt=one_line(record.text[:400]),
        outcomes=tuple(outcomes.values()),
    )


def _outcome(score: ScoreId, outcome: Outcome) -> AnswerOutcome:
    if isinstance(outcome, Score):
        text = number(outcome.value, decimals_for(outcome.scale, [outcome.value]))
        status, reason = "ok", outcome.reason
    else:
        text, status, reason = "", outcome.status, outcome.message
    return AnswerOutcome(
        name=score.name,
        kind=outcome.kind,
        text=text,
        status=status,
        reason=shorten(strip_controls(reason), REASON_LIMIT),
    )
