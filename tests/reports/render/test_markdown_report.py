"""The Markdown report: untrusted text stays text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hengwen.reports import build_view, to_markdown
from hengwen.reports.render.markdown_report import escape

HOSTILE = (
    "a|b ||| <script>x</script> **b** _i_ `c` ~~s~~ [l](u) ![i](u) \\ \\| # h\n\n"
    "| x | y |\n|--|--|\n- item\n> q\n```\n"
)
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
INLINE = {"text", "text_special", "softbreak", "strong_open", "strong_close", "html_inline"}


def blocks(text):
    """The block structure, and the kinds of what stands inside the blocks."""
    tokens = PARSER.parse(text)
    inline = {child.type for token in tokens for child in token.children or ()}
    raw = {child.content for token in tokens for child in token.children or () if child.type == "html_inline"}
    return [token.type for token in tokens], inline, raw


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(HOSTILE, id="markdown"),
        pytest.param("</table><img src=x onerror=alert(1)>&lt;]]>", id="html"),
        pytest.param("\x1b[31mred\x00\u202e", id="controls"),
        pytest.param("x" * 5000, id="long-line"),
        pytest.param("\r| x |\u2028| y |\x0b", id="line-breaks"),
    ],
)
def test_hostile_text_changes_no_block_of_the_report(make, hostile):
    plain = blocks(to_markdown(build_view(make("!", text="!"))))
    text = to_markdown(build_view(make(hostile, text=hostile)))
    result = blocks(text)
    assert result[0] == plain[0]
    assert result[1] <= INLINE
    assert result[2] <= {"<br>"}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e]", text)


@given(st.text(st.sampled_from("|\\`*_[]()<>&~#!-+.1:/ \n\ta词@$"), min_size=1, max_size=40))
@settings(deadline=None, max_examples=100)
def test_escaped_text_is_one_cell_of_plain_text(text):
    kinds, inline, raw = blocks(f"| h | k |\n| --- | --- |\n| x{escape(text)} | y |\n")
    assert kinds.count("td_open") == 2
    assert inline <= INLINE - {"strong_open", "strong_close"}
    assert raw <= {"<br>"}


def test_links_are_not_made_of_bare_addresses():
    assert "://" not in escape("see https://example.org")


def test_every_table_row_has_as_many_cells_as_its_head(make):
    head = None
    for line in to_markdown(build_view(make(HOSTILE, text=HOSTILE))).splitlines():
        cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) if line.startswith("|") else None
        assert head is None or cells is None or cells == head
        head = cells


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({}, "There are no runs.", id="no-runs"),
        pytest.param({"a": []}, "There are no scores.", id="no-rows"),
        pytest.param({"a": [None, None]}, "▼ no answer has a score", id="all-failed"),
        pytest.param({"a": [1.0]}, "1 prompt · 1 answer", id="one-prompt"),
    ],
)
def test_a_poor_report_says_what_it_lacks(table_of, values, message):
    assert message in to_markdown(build_view(table_of(values)))


def test_anchors_and_humans_have_their_blocks(data):
    text = to_markdown(build_view(data))
    assert "### Anchors" in text
    human = text.split("### Judge versus humans")[1].split("###")[0]
    assert re.findall(r"^\| ([a-z]\S+)", human, re.MULTILINE) == [
        r"lyric\_craft.level",
        r"human.lyric\_craft.level",
    ]
