"""What the scores of an answer say, cut to what a document shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.answers.blocks import AnswerOutcome
from hengwen.documents.answers.reasons import reason_of
from hengwen.records import Score, digest
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, number
from hengwen.text.safety import shorten, strip_controls

if TYPE_CHECKING:
    from hengwen.documents.answers.source import SourceKey
    from hengwen.records import Outcome
    from hengwen.score_id import ScoreId

TEXT_LIMIT = 8000
"""Maximum number of characters of an answer that are shown."""
INPUT_LIMIT = 2000
"""Maximum number of characters of a prompt that are shown."""
REASON_LIMIT = 600
"""Maximum number of characters of a reason that are shown."""


def answer_key(key: SourceKey) -> str:
    """Return the key under which documents show and link an answer, the same in every document."""
    return f"a-{digest(*key)[:12]}"


def shown_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return a text as a document shows it: without control characters, and cut if it is long."""
    if len(text) <= limit:
        return strip_controls(text)
    return f"{strip_controls(text[:limit])}\n… ({len(text) - limit:,} more characters)"


def outcome_of(score: ScoreId, outcome: Outcome) -> AnswerOutcome:
    """Return a score or failure as a document shows it."""
    text, status = "", "ok"
    if isinstance(outcome, Score):
        text = number(outcome.value, decimals_for(outcome.scale, [outcome.value]))
    else:
        status = outcome.status
    return AnswerOutcome(
        name=score.name,
        kind=outcome.kind,
        text=text,
        status=status,
        reason=Bilingual(*map(_cut, reason_of(outcome))),
    )


def _cut(reason: str) -> str:
    return shorten(strip_controls(reason), REASON_LIMIT)
