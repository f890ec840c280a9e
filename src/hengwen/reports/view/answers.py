"""Which answers a report shows: the lowest and highest of each task and checkpoint; the rest are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hengwen.io.text_safety import strip_controls
from hengwen.records import Outcome, Score
from hengwen.reports.text.numbers import decimals_for, number
from hengwen.reports.text.sanitize import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ENDS = 3
"""Answers shown at each end."""
TEXT_LIMIT = 8000
INPUT_LIMIT = 2000
REASON_LIMIT = 600

Rank = Literal["lowest", "highest", "failed", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One answer with what was asked and all its outcomes."""

    task: str
    checkpoint: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeLine:
    """One outcome of a shown answer."""

    name: str
    kind: str
    value: str
    """The number as printed; empty where there is none."""
    status: str
    """``ok`` or the failure status."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """One answer as shown."""

    sample_id: str
    repeat: int
    input: str
    text: str
    rank: Rank
    headline: str
    """The headline value as printed, or the status of its failure."""
    excerpt: str
    """The start of the text on one line."""
    outcomes: tuple[OutcomeLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerGroup:
    """The shown answers of one task and checkpoint."""

    task: str
    checkpoint: str
    by: str
    """The score that ranked them."""
    shown: tuple[AnswerView, ...]
    total: int

    @property
    def hidden(self) -> int:
        """Answers that the report does not show."""
        return self.total - len(self.shown)


def group_answers(
    answers: Iterable[AnswerRecord],
    headlines: Mapping[str, str],
    tasks: Sequence[str] = (),
    checkpoints: Sequence[str] = (),
) -> tuple[AnswerGroup, ...]:
    """Return the answers to show, by task and checkpoint.

    Args:
        answers: All answers.
        headlines: Task -> name of the score that ranks its answers.
        tasks: The order of tasks; others follow as they come.
        checkpoints: The order of checkpoints; others follow as they come.
    """
    groups: dict[tuple[str, str], list[AnswerRecord]] = {}
    for answer in answers:
        groups.setdefault((answer.task, answer.checkpoint), []).append(answer)
    order = {name: i for i, name in enumerate(dict.fromkeys([*tasks, *(task for task, _ in groups)]))}
    places = {name: i for i, name in enumerate(dict.fromkeys([*checkpoints, *(name for _, name in groups)]))}
    return tuple(
        pick_answers(groups[key], headlines.get(key[0], ""))
        for key in sorted(groups, key=lambda key: (order[key[0]], places[key[1]]))
    )


def pick_answers(answers: Sequence[AnswerRecord], by: str) -> AnswerGroup:
    """Return the lowest and highest answers of one task and checkpoint by one score, the lowest first.

    Answers that the score failed on are shown where fewer than ``2 * ENDS`` have it; ties keep their order.
    """
    scored = [(value, i) for i, answer in enumerate(answers) if (value := _value(answer, by)) is not None]
    ranked = [i for _, i in sorted(scored)]
    picked: list[tuple[int, Rank]]
    if len(ranked) > 2 * ENDS:
        picked = [(i, "lowest") for i in ranked[:ENDS]] + [(i, "highest") for i in ranked[-ENDS:]]
    else:
        picked = [(i, "") for i in ranked]
    unscored = [i for i in range(len(answers)) if i not in set(ranked)]
    picked += [(i, "failed" if by else "") for i in unscored[: 2 * ENDS - len(picked)]]
    return AnswerGroup(
        task=answers[0].task,
        checkpoint=answers[0].checkpoint,
        by=by,
        shown=tuple(_view(answers[i], by, rank) for i, rank in picked),
        total=len(answers),
    )


def _value(answer: AnswerRecord, name: str) -> float | None:
    return next((o.value for o in answer.outcomes if isinstance(o, Score) and o.name == name), None)


def _view(answer: AnswerRecord, by: str, rank: Rank) -> AnswerView:
    lines = tuple(_line(outcome) for outcome in answer.outcomes)
    head = next((line.value or line.status for line in lines if line.name == by), "")
    return AnswerView(
        sample_id=answer.sample_id,
        repeat=answer.repeat,
        input=shorten(strip_controls(answer.input), INPUT_LIMIT),
        text=shorten(strip_controls(answer.text), TEXT_LIMIT),
        rank=rank,
        headline=head,
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
