"""Reasons in both languages: those of fixed rules are put into words, those of models and people are kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hengwen.objective.detectors import MARK_WORDS
from hengwen.records import Score
from hengwen.text.catalogue import bilingual, localized
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from hengwen.records import Outcome

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
