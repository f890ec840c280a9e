"""The table of all answers: collected while answers are streamed, so that only what is shown is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappush, heappushpop
from itertools import islice

from hengwen.documents.answers.sources import AnswerRecord, AnswerSource, SourceKey, StreamedAnswer
from hengwen.documents.blocks import EMPTY, AnswerOutcome, AnswerRow, AnswerTable, ScoreColumn, Size, Text
from hengwen.objective.detectors import MARK_WORDS
from hengwen.objective.lyrics.scorer import SectionPair
from hengwen.records import Outcome, Score, digest
from hengwen.results.answers_to_read import PromptChange
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.score_id import ScoreId
from hengwen.text.language import MIDDLE_DOT, Bilingual, bilingual, localized, say
from hengwen.text.numbers import (
    count,
    decimals_for,
    minus,
    number,
    one_line,
    plural,
    shorten,
    signed,
    strip_controls,
)

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


MAX_ROWS = 10_000
"""Maximum number of answers in one document; of more, those with the lowest scores are kept."""
MAX_COLUMNS = 8
"""Maximum number of columns of scores in the table."""
FULL_LIMIT = 600_000
"""Number of characters of all answers up to which a document holds them whole unless a size is asked for."""
EXCERPT = 120
"""Number of characters of an excerpt."""
BATCH = 300
"""Number of answers that are read at once."""


@dataclass(order=True, slots=True)
class _Kept:
    """One kept answer; the least one, which is dropped first, has the highest score."""

    worth: float
    age: int
    row: AnswerRow = field(compare=False)
    key: SourceKey = field(compare=False)


class AnswerCollector:
    """Collect the rows of the table of all answers, shared among ``groups``: each task times each run."""

    def __init__(self, scores: Sequence[ScoreSummaries], groups: int, size: Size | None = None) -> None:
        columns: dict[str, dict[str, ScoreSummaries]] = {}
        for score in scores:
            columns.setdefault(score.name, {}).setdefault(score.task, score)
        self._columns = dict(islice(columns.items(), MAX_COLUMNS))
        self._quota = max(1, MAX_ROWS // max(groups, 1))
        self._size = size
        self._groups: dict[tuple[str, str], list[_Kept]] = {}
        self._total = 0
        self._characters = 0

    def add(self, answer: StreamedAnswer) -> None:
        """Keep an answer if it is among the lowest of its task and checkpoint."""
        self._total += 1
        self._characters += len(answer.text)
        score = next((tasks[answer.task] for tasks in self._columns.values() if answer.task in tasks), None)
        value = answer.scores.get(score.id) if score else None
        worth = float("inf") if value is None else -value.value
        if score and value and not score.higher_is_better:
            worth = value.value
        kept = self._groups.setdefault((answer.task, answer.key.run_id), [])
        if len(kept) == self._quota and worth <= kept[0].worth:
            return
        item = _Kept(worth, -self._total, self._row(answer), answer.key)
        if len(kept) < self._quota:
            heappush(kept, item)
        else:
            heappushpop(kept, item)

    def _row(self, answer: StreamedAnswer) -> AnswerRow:
        of_task = [tasks.get(answer.task) for tasks in self._columns.values()]
        values = [answer.scores.get(score.id) if score else None for score in of_task]
        unfailed = "ok" if answer.text.strip() else EMPTY
        status = next((status for status in answer.failures.values() if status != "not_applicable"), unfailed)
        is_excerpt = self._size != "numbers"
        return AnswerRow(
            key=answer_key(answer.key),
            checkpoint=answer.checkpoint,
            task=answer.task,
            sample_id=answer.sample_id,
            repeat=answer.key.repeat,
            status=status,
            values=tuple(value.value if value else None for value in values),
            length=len(answer.text),
            excerpt=one_line(answer.text[: 4 * EXCERPT], EXCERPT) if is_excerpt else "",
        )

    def table(self, source: AnswerSource, command: str) -> AnswerTable:
        """Return the table; whole answers are read again, and ``command`` writes them."""
        kept = sorted((item for group in self._groups.values() for item in group), reverse=True)
        tasks = list(dict.fromkeys(task for task, _ in self._groups))
        kept.sort(key=lambda item: tasks.index(item.row.task))
        size = self._size or ("full" if self._characters <= FULL_LIMIT else "excerpts")
        rows = list(_whole(kept, source)) if size == "full" else [item.row for item in kept]
        omitted = self._total - len(rows)
        return AnswerTable(
            key="answers",
            columns=tuple(
                ScoreColumn(head=name, decimals=max(score.decimals for score in tasks.values()))
                for name, tasks in self._columns.items()
            ),
            rows=tuple(rows),
            size=size,
            omitted=omitted,
            command=command if omitted or size != "full" else "",
        )


def _whole(kept: Sequence[_Kept], source: AnswerSource) -> Iterator[AnswerRow]:
    for start in range(0, len(kept), BATCH):
        items = kept[start : start + BATCH]
        records = source.load([item.key for item in items])
        for item in items:
            record = records.get(item.key)
            yield _with_text(item.row, record) if record else item.row


def _with_text(row: AnswerRow, record: AnswerRecord) -> AnswerRow:
    return replace(
        row,
        text=shown_text(record.text),
        prompt=shown_text(record.input, INPUT_LIMIT),
        outcomes=tuple(outcome_of(score, outcome) for score, outcome in record.outcomes.items()),
    )
