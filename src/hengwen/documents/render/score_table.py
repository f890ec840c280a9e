"""The table of scores as a plain table, for the faces that draw no bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Column, Table
from hengwen.documents.render.words import COMPARED, DIFFERENCE, PROMPTS, SCORE, VERDICT
from hengwen.documents.score_names import without_interval
from hengwen.text.language import COLON, LIST_COMMA, SEMICOLON, Bilingual, both, in_language, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.documents.blocks import ScoreLine, Scores, Tone, Value


def plain_table(scores: Scores) -> Table:
    """Return a table with a row and a record for each score."""
    columns = (
        (Column(key="score", head=SCORE), "address"),
        (Column(key="compared", head=scores.compared or COMPARED, align="right"), "compared"),
        (Column(key="difference", head=DIFFERENCE, align="right"), "difference"),
        (Column(key="p", head="p", align="right"), "p"),
        (Column(key="chosen", head=f"{scores.chosen} [95%]", align="right"), "chosen"),
        (Column(key="prompts", head=PROMPTS, align="right"), "prompts"),
        (Column(key="verdict", head=VERDICT), "word"),
    )
    rows = [dict(_texts(line)) for line in scores.lines]
    kept = [(column, key) for column, key in columns if any(any(row[key]) for row in rows)]
    tones = [line.tone for line in scores.lines]
    return Table(
        key=scores.key,
        title=scores.title,
        columns=tuple(column for column, _ in kept),
        rows=tuple(
            tuple(Cell(text=row[key], tone=tone if key == "word" else "plain") for _, key in kept)
            for row, tone in zip(rows, tones, strict=True)
        ),
        notes=(*families(scores), *scores.legend),
        records=tuple(map(_record, scores.lines)),
    )


def short_table(scores: Scores) -> Table:
    """Return a table with a row for each score: two values, their change without interval, the verdict."""
    columns = (
        Column(key="score", head=SCORE),
        Column(key="compared", head=say("from → to"), align="right"),
        Column(key="difference", head=say("change"), align="right"),
        Column(key="p", head="p", align="right"),
        Column(key="verdict", head=VERDICT, is_whole=True),
    )
    rows = []
    for line in scores.lines:
        ends = [both(end) for end in (line.before, line.after) if end]
        change = Bilingual(*map(without_interval, both(line.difference)))
        texts = (line.name, both(" → ").join(ends), change, dict(_texts(line))["p"], line.word)
        tones: tuple[Tone, ...] = ("plain", "plain", "plain", "plain", line.tone)
        rows.append(tuple(Cell(text=text, tone=tone) for text, tone in zip(texts, tones, strict=True)))
    return Table(
        key=scores.key, title=scores.title, columns=columns, rows=tuple(rows), notes=tuple(families(scores))
    )


def families(scores: Scores) -> Iterator[Bilingual]:
    """Yield for which tests the p-values are corrected: the commonest first, and the scores with others."""
    names: dict[Bilingual, list[Bilingual]] = {}
    for line in scores.lines:
        if line.p and line.family:
            names.setdefault(both(line.family), []).append(both(line.name))
    ordered = sorted(names, key=lambda family: -len(names[family]))
    for first in ordered[:1]:
        others = [COLON.join([LIST_COMMA.join(names[family]), family]) for family in ordered[1:]]
        yield COLON.join(["p", SEMICOLON.join([first, *others])])


def _texts(line: ScoreLine) -> Iterator[tuple[str, Bilingual]]:
    """Yield the texts of the cells of a line."""
    yield "address", both(line.address)
    yield "compared", Bilingual(*(_compared(line, in_zh) for in_zh in (True, False)))
    yield "p", Bilingual(*(p.removeprefix("p = ").removeprefix("p ") for p in both(line.p)))
    yield "chosen", both(line.chosen)
    yield from (("difference", both(line.difference)), ("prompts", both(line.prompts)))
    yield "word", both(line.word)


def _compared(line: ScoreLine, in_zh: bool) -> str:
    before, after = (in_language(text, "zh" if in_zh else "en") for text in (line.before, line.after))
    ends = (f"{before} {line.before_name}".rstrip(), f"{after} {line.after_name}".rstrip())
    return " → ".join(end for end in ends if end)


def _record(line: ScoreLine) -> dict[str, Value]:
    values = dict(line.values)
    if line.bar is not None:
        low, high = line.bar.interval or (None, None)
        values |= {"difference": line.bar.value, "difference_low": low, "difference_high": high}
    names = {"before_name": line.before_name or None, "after_name": line.after_name or None}
    return {"score": line.address, **names, **values}
