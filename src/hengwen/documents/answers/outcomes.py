"""What is said of answers: their scores and reasons, the parts of scores, faults, and how many changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hengwen.documents.answers.blocks import AnswerOutcome
from hengwen.objective.detectors import MARK_WORDS
from hengwen.records import Score, digest
from hengwen.text.language import MIDDLE_DOT, Bilingual, bilingual, localized, say
from hengwen.text.numbers import count, decimals_for, minus, number, plural, signed
from hengwen.text.safety import shorten, strip_controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.documents.answers.sources import SourceKey
    from hengwen.documents.blocks import Text
    from hengwen.objective.lyrics.side_by_side import SectionPair
    from hengwen.records import Outcome
    from hengwen.results.answers_to_read import PromptChange
    from hengwen.score_id import ScoreId

TEXT_LIMIT = 8000
"""Maximum number of characters of an answer that are shown."""
INPUT_LIMIT = 2000
"""Maximum number of characters of a prompt that are shown."""
REASON_LIMIT = 600
"""Maximum number of characters of a reason that are shown."""
_LYRIC_PARTS: Mapping[str, Bilingual | None] = {
    "phase1": say("whole text"),
    "phase2_1": say("sections"),
    "phase2_2": say("line counts"),
    "phase3": say("line lengths"),
    "phase4": say("rhymes"),
    "bonus": say("rhyme bonus"),
    "base": None,
}
"""Parts of a lyric score that add up to its total; the base is the sum of the phases."""
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


def part_name(score: ScoreId) -> Text | None:
    """Return the name of a part of a score; None if the part is itself a sum of parts."""
    return _LYRIC_PARTS.get(score.part, score.part) if score.source == "lyric" else score.part


def summary_text(
    changes: Sequence[PromptChange], parts: Sequence[tuple[Text, float]], decimals: int
) -> Bilingual:
    """Return how many prompts fell and rose, and which parts lost most in the mean over all of them."""
    worse = sum(item.merit < 0 for item in changes)
    better = sum(item.merit > 0 for item in changes)
    mean = minus(signed(sum(item.change for item in changes) / len(changes), decimals))
    text = say(
        "On the same prompt: {worse} got worse, {better} got better, {mean} in the mean.",
        worse=count(worse),
        better=count(better),
        mean=mean,
    )
    lost = [
        say("{} lost {}").format(name, number(-merit, decimals))
        for name, merit in parts
        if -merit >= 0.5 * 10.0**-decimals
    ]
    if not (worse and lost and sum(item.merit for item in changes) < 0):
        return text
    losses = say(" and ").join(lost[:2])
    return say("{} Most of it: {}.").format(text, losses)


def lyric_faults(sections: Sequence[SectionPair], side: int) -> Bilingual:
    """Return how many lines of a lyric have a wrong length, miss their rhyme, are missing or too many."""
    lines = [(row, row.lines[side]) for section in sections for row in section.lines]
    due = [line for row, line in lines if row.length is not None]
    rhymes = sum(row.wants_rhyme for row, _ in lines)
    wrong = sum(1 for line in due if line is not None and line.surplus)
    unrhymed = sum(1 for line in due if line is not None and line.misses_rhyme)
    missing = sum(1 for line in due if line is None)
    extra = sum(1 for row, line in lines if row.length is None and line is not None)
    faults = [
        say("{wrong} of {due} lines of wrong length", wrong=wrong, due=len(due)),
        say("{unrhymed} of {rhymes} rhymes missing", unrhymed=unrhymed, rhymes=rhymes),
    ]
    if missing:
        faults.append(say("{lines} missing", lines=plural(missing, "line"), missing=missing))
    if extra:
        faults.append(say("{lines} too many", lines=plural(extra, "line"), extra=extra))
    return MIDDLE_DOT.join(faults)
