"""Answers in faces: the change of a prompt as a small chart, lyrics line by line, rows of all answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from hengwen.documents.blocks import AnswerPair, AnswerPairs, AnswerRow, AnswerTable
from hengwen.documents.render.words import EMPTY_ANSWER
from hengwen.text.language import COLON, COMMA, SEMICOLON, Bilingual, Language, in_language, say
from hengwen.text.numbers import NOTHING, count, counted, number, one_line, strip_controls

if TYPE_CHECKING:
    from hengwen.objective.lyrics.scorer import SectionPair, SungLine

WIDTH, HEIGHT, MARGIN = 220, 28, 40
"""Size of the chart of one prompt; the margin holds the values."""
HUES = 6
"""Number of colours of rhymes; further rhymes take the colours again, and differ by their letters."""
SHOWN_ANSWERS = 6
"""Number of answers that Markdown shows."""
SHOWN_PROMPTS = 3
"""Number of prompts that a terminal and Markdown show."""
HAN = re.compile("[\u4e00-\u9fff]")
PROMPT = say("prompt")
CHANGE = say("change")
LOST_ON = {"worse": say("lost on"), "better": say("gained on")}
_LEFT_OUT = {
    "numbers": say("texts are left out"),
    "excerpts": say("only the first words of each answer are here"),
}
COLUMNS = {
    "checkpoint": say("checkpoint"),
    "prompt": say("prompt · answer"),
    "status": say("status"),
}


class LyricSection(NamedTuple):
    """One section of two lyrics as a page shows it."""

    number: int
    pair: SectionPair
    remark: Bilingual | None
    """What stands in the place of the lines, if an earlier section or the other lyric has the same."""


def lyric_sections(pair: AnswerPair) -> Iterator[LyricSection]:
    """Yield the sections of two lyrics; sections that say nothing new have a remark."""
    earlier: dict[object, int] = {}
    for i, section in enumerate(pair.sections, 1):
        sides = [[row.lines[side] for row in section.lines] for side in (0, 1)]
        texts = [[line.text if line else None for line in side] for side in sides]
        content = (section.lines, section.is_wanted)
        remark = None
        if texts[0] == texts[1] and any(text is not None for text in texts[0]):
            remark = say("the same in both, {texts} lines", texts=len(texts[0]))
        elif content in earlier:
            remark = say("both as in section {earlier}", earlier=earlier[content])
        earlier.setdefault(content, i)
        yield LyricSection(i, section, remark)


def rhyme_letter(line: SungLine) -> str:
    """Return the letter of a rhyme: a to z, then a2, b2 and so on."""
    if line.rhyme is None:
        return ""
    turn, letter = divmod(line.rhyme, 26)
    return f"{chr(ord('a') + letter)}{turn + 1 if turn else ''}"


def rhyme_class(line: SungLine) -> str:
    """Return the name of the colour of a rhyme."""
    return "" if line.rhyme is None else f"rhyme{line.rhyme % HUES}"


def draw_change(pair: AnswerPair, block: AnswerPairs) -> Markup:
    """Return both values of a prompt on the axis of all prompts, and a tick for each of several answers."""
    low, high = block.limits
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return round(MARGIN + (value - low) / span * (WIDTH - 2 * MARGIN), 1)

    before, after = map(x, pair.values)
    middle = HEIGHT / 2
    parts = [
        f'<path class="axis" d="M{MARGIN} {middle}H{WIDTH - MARGIN}"/>',
        f'<path class="span {block.tone}" d="M{before} {middle}H{after}"/>',
        *(
            f'<path class="tick" d="M{x(value)} {end}V{end + 4}"/>'
            for side, end in ((pair.before, 3), (pair.after, HEIGHT - 7))
            for value in (side.ticks if len(side.ticks) > 1 else ())
        ),
        f'<path class="before" d="M{before} {middle - 5}l4.5 5l-4.5 5l-4.5 -5Z"/>',
        f'<circle class="after {block.tone}" cx="{after}" cy="{middle}" r="4"/>',
    ]
    is_left = before < after
    for x_value, text, left in ((before, pair.before.value, is_left), (after, pair.after.value, not is_left)):
        anchor, offset = ("end", -8) if left else ("start", 8)
        parts.append(f'<text x="{x_value + offset}" y="{middle + 4}" class="{anchor}">{_text(text)}</text>')
    label = _text(f"{pair.before.value} → {pair.after.value}")
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return Markup(  # noqa: S704 - numbers, and texts that are escaped
        f'<svg class="move" {size} role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def answer_rows(table: AnswerTable, language: Language) -> Markup:
    """Return the rows of the table of all answers."""
    rows = [_answer_row(row, table, language) for row in table.rows]
    return Markup("\n").join(rows)


def _answer_row(row: AnswerRow, table: AnswerTable, language: Language) -> Markup:
    tail = f" · {row.repeat}" if row.repeat > 1 else ""
    values = "".join(
        f"<td>{'' if value is None else number(value, column.decimals)}</td>"
        for value, column in zip(row.values, table.columns, strict=True)
    )
    status = "" if row.status == "ok" else ' class="worse"'
    cells = (
        f"<td>{_text(row.checkpoint)}</td><td>{_text(row.sample_id)}{tail}</td>"
        f"<td{status}>{_text(row.status)}</td>{values}<td>{row.length}</td>"
    )
    task = f' data-task="{_text(row.task)}"'
    answer = _answer_cell(row, table, language)
    return Markup(f'<tr id="{row.key}"{task}>{cells}{answer}</tr>')  # noqa: S704 - texts are escaped


def _answer_cell(row: AnswerRow, table: AnswerTable, language: Language) -> str:
    if table.size == "numbers":
        return ""
    empty = in_language(EMPTY_ANSWER, language)
    excerpt = row.excerpt or empty
    lang = ' lang="zh-Hans"' if language == "en" and HAN.search(excerpt) else ""
    if not row.text and not row.outcomes:
        return f"<td{lang}>{_text(excerpt)}</td>"
    outcomes = "".join(
        f"<dt>{_text(item.name)} <b>{_text(item.text or item.status)}</b></dt>"
        + (f"<dd>{_text(reason)}</dd>" if (reason := in_language(item.reason, language)) else "")
        for item in row.outcomes
    )
    prompt = f"<h4>{in_language(PROMPT, language)}</h4><p>{_text(row.prompt)}</p>" if row.prompt else ""
    body = f"{prompt}<pre>{_text(row.text) or empty}</pre>" + (f"<dl>{outcomes}</dl>" if outcomes else "")
    return f"<td{lang}><details><summary>{_text(excerpt)}</summary>{body}</details></td>"


def _text(text: str) -> Markup:
    return escape(strip_controls(text))


def names(block: AnswerTable, key: str) -> list[str]:
    """Return the different values of a field of the rows, in order of appearance."""
    return list(dict.fromkeys(str(getattr(row, key)) for row in block.rows))


def omitted_answers(table: AnswerTable) -> Bilingual | None:
    """Return what a table of answers leaves out, and the command that shows it; None if nothing."""
    texts = []
    if table.omitted:
        n = count(table.omitted)
        texts.append(say("{n} answers with higher scores are left out", n=n))
    if table.size in _LEFT_OUT:
        texts.append(_LEFT_OUT[table.size])
    if not texts:
        return None
    return say("{}. All of it: ").format(SEMICOLON.join(texts))


def rest_words(block: AnswerPairs, rest: int) -> Bilingual:
    """Return how many more prompts changed than are shown, and where they are."""
    zh, en = ("变差", "got worse") if block.tone == "worse" else ("变好", "got better")
    text = Bilingual(f"另有 {count(rest)} 题{zh}", f"{counted(rest, 'more prompt')} {en}")
    return COLON.join([text, block.command or "-o FILE.html"])


def worst_words(block: AnswerPairs) -> Bilingual:
    """Return the title of the prompts that changed most."""
    tone = say("worst") if block.tone == "worse" else say("best")
    title = say("{1} prompts of {0}").format(block.score, tone)
    return COMMA.join([title, f"{block.before} → {block.after}"])


def rest_answers(rest: int) -> Bilingual:
    """Return how many more answers there are than are shown, and where they are."""
    return say("{answers}: -o FILE.html", answers=counted(rest, "more answer"), rest=count(rest))


def folded_words(block: AnswerPairs, first: int) -> Bilingual:
    """Return the title of the prompts that are folded away, from the one with this index on."""
    rest = block.pairs[first:]
    n, last = count(len(rest)), rest[-1].change
    return say("{n} more prompts, to {last}", n=n, last=last)


def prompt_line(pair: AnswerPair, language: Language) -> tuple[str, str, str]:
    """Return the prompt, the change with both values, and what it was lost on, each as one short line."""
    values = f"{pair.before.value} → {pair.after.value}"
    lost_on = in_language(pair.lost_on, language) or NOTHING
    return (
        one_line(pair.prompt or pair.sample_id, 60),
        one_line(f"{pair.change} ({values})"),
        one_line(lost_on, 120),
    )
