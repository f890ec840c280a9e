"""What the scores of an answer say, cut to what a document shows; reasons of rules in both languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hengwen.documents.answers.blocks import AnswerOutcome
from hengwen.objective.detectors import MARK_WORDS
from hengwen.records import Score, digest
from hengwen.text.catalogue import bilingual, localized
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, number
from hengwen.text.safety import shorten, strip_controls

if TYPE_CHECKING:
    from hengwen.documents.answers.sources import SourceKey
    from hengwen.records import Outcome
    from hengwen.score_id import ScoreId

TEXT_LIMIT = 8000
"""Maximum number of characters of an answer that are shown."""
INPUT_LIMIT = 2000
"""Maximum number of characters of a prompt that are shown."""
REASON_LIMIT = 600
"""Maximum number of characters of a reason that are shown."""
_HEADS = (
    (r"baseline by rules, not a language model", "规则基线，并非语言模型"),
    (r"(-?[\d.e+-]+) becomes (-?[\d.e+-]+)", r"由 \1 降为 \2"),
    (r"at most (-?[\d.e+-]+), which (-?[\d.e+-]+) is not above", r"至多 \1，原分 \2 未超出"),
)
_RULE = r"[a-z_]+ \("
_RULES = re.compile(
    rf"(?P<head>{'|'.join(head for head, _ in _HEADS)}): (?P<causes>{_RULE}.*\)|no rule is broken)", re.DOTALL
)
_CAUSE = re.compile(rf"([a-z_]+) \((.*?)\)(?:; (?={_RULE})|$)", re.DOTALL)
_FLAGS = re.compile(r" \[[a-z_, ]+\]$")


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


def reason_of(outcome: Outcome) -> Bilingual:
    """Return the reason of a score, or the message of a failure."""
    if not isinstance(outcome, Score):
        return bilingual(outcome.message)
    reason = outcome.reason
    by_rules = _RULES.fullmatch(reason)
    if by_rules:
        return Bilingual(_rules_in_chinese(by_rules["head"], by_rules["causes"]), reason)
    if outcome.kind != "scorer":
        return Bilingual(reason, reason)
    flags = _FLAGS.search(reason)
    end = flags.start() if flags else len(reason)
    return Bilingual(_in_chinese(reason[:end]) + reason[end:], reason)


def _rules_in_chinese(head: str, causes: str) -> str:
    for english, chinese in _HEADS:
        head = re.sub(rf"^{english}$", chinese, head)
    parts = [f"{name}（{_in_chinese(text)}）" for name, text in _CAUSE.findall(causes)]
    return f"{head}：{'；'.join(parts) or '没有违反任何规则'}"


def _in_chinese(text: str) -> str:
    head, mark, kinds = text.partition("not plain text: ")
    if mark and not head:
        return f"不是纯文字：有{'、'.join(MARK_WORDS.get(kind, kind) for kind in kinds.split(', '))}"
    return "；".join(localized(part, "zh") for part in text.split("; "))
