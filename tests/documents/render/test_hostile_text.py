"""Text from outside is inert in every face: it is shown, and does nothing."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inert import CONTROLS, HOSTILE, is_formula, markdown_structure, markdown_tokens, tags
from rich.console import Console
from rows import each_row

from hengwen.documents.blocks import (
    AnswerOutcome,
    AnswerPair,
    AnswerPairs,
    AnswerRow,
    AnswerSide,
    AnswerTable,
    Bar,
    Cell,
    Chart,
    Column,
    Command,
    Decision,
    Details,
    Document,
    Marked,
    Point,
    ScoreColumn,
    ScoreLine,
    Scores,
    Sentence,
    Series,
    Table,
    Verdict,
)
from hengwen.documents.render.markdown import escape, to_markdown
from hengwen.documents.render.terminal import to_terminal
from hengwen.documents.render.words import to_csv, to_parquet
from hengwen.documents.render.write import to_html, to_json
from hengwen.objective.lyrics.scorer import SectionPair, SungLine, TemplateLine
from hengwen.text.language import Bilingual


def document(text: str) -> Document:
    """Return a document with a text everywhere where text from outside may stand."""
    cell = Cell(text=text, values={"": text, "number": 1.5})
    table = Table(
        key="t",
        title=text,
        columns=(Column(key=f"a{text}", head=text), Column(key="b", head=text)),
        rows=(
            (
                replace(cell, bar=Bar(value=1.0, interval=None, limits=(0.0, 2.0))),
                Cell(text=text, tone="worse"),
            ),
        ),
        notes=(text,),
    )
    points = tuple(
        Point(x=x, label=text, value=value, text=text, hint=text)
        for x, value in ((0, 1.0), (1, None), (2, 2.0))
    )
    side = AnswerSide(
        checkpoint=text,
        value=text,
        answers=(text, text),
        ticks=(1.0, 2.0),
        text=(Marked(text), Marked(text, "differs"), Marked(text, "reference")),
        faults=text,
        outcomes=(AnswerOutcome(name=text, kind="judge", text=text, reason=text),),
        links=("a-1", "a-1"),
    )
    sung = SungLine(text=f"{text}词", surplus=1, rhyme=0, rhyming=len(text), misses_rhyme=False)
    section = SectionPair(text, True, (TemplateLine(3, True, (sung, None)),))
    pairs = [
        AnswerPair(
            key=f"p/{i}",
            sample_id=text,
            prompt=text,
            change=text,
            values=(1.0, 2.0),
            lost_on=text,
            before=side,
            after=side,
            has_texts=i > 0,
            sections=(section,) * (i > 1),
            references=(text,),
        )
        for i in range(3)
    ]
    row = AnswerRow(
        key="a-1",
        checkpoint=text,
        task=text,
        sample_id=text,
        repeat=2,
        status=text,
        values=(1.0,),
        length=1,
        excerpt=text,
        text=text,
        prompt=text,
        outcomes=side.outcomes,
    )
    other = replace(row, checkpoint="other", task="other", status="ok", text="", outcomes=())
    answers = AnswerTable(
        key="answers", columns=(ScoreColumn(head=text, decimals=1),), rows=(row, other), size="full"
    )
    verdict = Verdict(tone="worse", subject=text, sentence=text, evidence=(text,))
    bar = Bar(value=1.0, interval=(0.5, 2.0), limits=(-2.0, 2.0))
    line = ScoreLine(
        key="line",
        name=text,
        address=text,
        scale=text,
        course=Series(name=text, points=points),
        before=text,
        after=text,
        before_name=text,
        after_name=text,
        bar=bar,
        difference=text,
        p=text,
        prompts=text,
        tone="worse",
        word=text,
        values={"verdict": text},
        details=(text,),
    )
    scores = Scores(key="s", title=text, compared=text, lines=(line, line), legend=(text,))
    blocks = (
        Decision(
            title=text, bullets=(verdict,), scores=scores, judges=(verdict,), details=(Sentence(text=text),)
        ),
        verdict,
        Sentence(text=text),
        Sentence(text=text, is_note=True),
        Command(line=text, purpose=text),
        table,
        Chart(key="c", title=text, description=text, series=(Series(name=text, points=points),)),
        AnswerPairs(
            key="p",
            score=Bilingual(text, text),
            tone="worse",
            before=text,
            after=text,
            pairs=tuple(pairs),
            limits=(1.0, 2.0),
            omitted=1,
            command=text,
        ),
        Details(title=text, blocks=(answers,)),
    )
    return Document(kind="k", title=text, notes=(text,), blocks=blocks, record={text: [text, (text,)]})


@pytest.mark.slow
@each_row("text", HOSTILE)
def test_a_page_has_the_same_tags_as_with_plain_text(text: str) -> None:
    page = to_html(document(text), "zh")
    assert tags(page) == tags(to_html(document("plain"), "zh"))
    assert not CONTROLS.search(page)
    page.encode()


def test_a_page_loads_nothing() -> None:
    page = to_html(document("plain"), "en")
    assert not re.search(r"https?://|url\(|@import|<link|<img|<iframe|\son\w+=|\sstyle=", page)


def test_a_page_may_use_its_own_style_and_script_and_nothing_else() -> None:
    page = to_html(document("<script>alert(1)</script>"), "en")
    packaged = [re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("style", "script")]
    hashes = [base64.b64encode(hashlib.sha256(texts[0].encode()).digest()).decode() for texts in packaged]
    assert [len(texts) for texts in packaged] == [1, 1]
    assert (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    ) in page


@pytest.mark.slow
@each_row("text", HOSTILE)
def test_markdown_has_the_same_structure_as_with_plain_text(text: str) -> None:
    page = to_markdown(document(text), "zh")
    assert markdown_structure(page) == markdown_structure(to_markdown(document("plain"), "zh"))
    assert {t.content for t in markdown_tokens(page) if t.type == "html_inline"} <= {"<br>"}
    assert not CONTROLS.search(page)
    assert not re.search(r"www\.|@\w", re.sub("`.*`", "", page))
    page.encode()


@pytest.mark.slow
@given(st.text(st.sampled_from("<>&'\"{}%#-+=/!|`~*_[]()\\ \n\t1.词:\x1b\u202e"), min_size=1, max_size=30))
@settings(deadline=None, max_examples=300)
def test_markdown_shows_any_text_literally(text: str) -> None:
    tokens = markdown_tokens(escape(text))
    shown = "".join(
        "\n" if t.type == "html_inline" else t.content
        for t in tokens
        if t.type not in ("inline", "html_block")
    )
    expected = "\n".join(" ".join(line.split()) for line in escape_free(text).split("\n"))
    assert shown == expected


def escape_free(text: str) -> str:
    from hengwen.text.numbers import strip_controls

    return strip_controls(text).strip()


@each_row("text", HOSTILE)
def test_no_cell_of_a_csv_file_is_a_formula(text: str) -> None:
    rows = list(csv.reader(io.StringIO(to_csv(document(text), "zh"), newline="")))
    assert len({len(row) for row in rows}) == 1
    assert len(rows) == 4
    assert [cell for row in rows for cell in row if is_formula(cell) or CONTROLS.search(cell)] == []


@each_row("text", HOSTILE)
def test_a_parquet_file_keeps_the_text_without_controls(text: str) -> None:
    from pyarrow import BufferReader, parquet

    rows = parquet.read_table(BufferReader(to_parquet(document(text), "zh"))).to_pylist()
    values = [value for row in rows for value in row.values()]
    assert not any(CONTROLS.search(value) for value in values if isinstance(value, str))
    assert 1.5 in values


@pytest.mark.slow
@each_row("width", [40, 80, 10_000])
@each_row("text", HOSTILE)
def test_a_terminal_gets_only_what_it_prints(text: str, width: int) -> None:
    file = io.StringIO()
    to_terminal(document(text), Console(file=file, width=width), "zh", verbose=True)
    assert not CONTROLS.search(file.getvalue())
    assert "[bold red]:smile:[/]" in file.getvalue() or "bold" not in text


@pytest.mark.slow
@each_row("width", [40, 80])
@each_row("text", HOSTILE)
def test_the_first_screen_of_a_terminal_keeps_its_25_lines_with_any_text(text: str, width: int) -> None:
    file = io.StringIO()
    to_terminal(document(text), Console(file=file, width=width), "zh")
    assert not CONTROLS.search(file.getvalue())
    assert len(file.getvalue().splitlines()) <= 25


@each_row("text", HOSTILE)
def test_json_can_be_encoded(text: str) -> None:
    to_json(document(text)).encode()
