"""Hostile texts, and what shows that a face of a document only prints them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

Attributes = list[tuple[str, str | None]]

HOSTILE = [
    pytest.param("<script>alert(1)</script><img src=x onerror=alert(1)>", id="script"),
    pytest.param("</textarea></pre></td></title></style>'\"&amp;]]>--><!--{{7*7}}{% x %}", id="markup"),
    pytest.param('=HYPERLINK("http://a.example","b")', id="formula"),
    pytest.param("  ＝cmd|' /C calc'!A0", id="full-width-formula"),
    pytest.param("＋1+1", id="full-width-plus"),
    pytest.param("－1+1", id="full-width-minus"),
    pytest.param("＠SUM(1,1)", id="full-width-at"),
    pytest.param("\x00\x1b[31m=1+1", id="formula-behind-controls"),
    pytest.param("![x](http://a.example/x.png) [y](javascript:alert(1)) `z` www.a.example", id="markdown"),
    pytest.param("| a | b |\n| --- | --- |\n| \\| c |", id="table"),
    pytest.param("# a\n> b\n- c\n---\n===\n1. d\n    e", id="blocks"),
    pytest.param("\u202egnp.exe\u2066\u200f", id="right-to-left"),
    pytest.param("\x1b[31mred\x1b]0;title\x07\x1b]8;;http://a.example\x1b\\\x00\x9b2J\r\x08", id="terminal"),
    pytest.param("\ud800 lone \udfff\uffff", id="surrogate"),
    pytest.param("[bold red]:smile:[/]", id="rich"),
    pytest.param("x" * 5000, id="long-line"),
    pytest.param("@everyone see www.a.example, mail a@b.example", id="names"),
    pytest.param("\t-1+cmd|' /C calc'!A0", id="formula-behind-tab"),
]
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\uffff]"
)


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet would run a cell."""
    return cell.lstrip(" ").startswith(tuple("=+-@＝＋－＠\t\n"))


class Tags(HTMLParser):
    """The start tags of a page with the names of their attributes; what opens is closed."""

    VOID = frozenset({"meta", "br", "input", "line", "circle", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "wbr":  # an address may break after each slash
            return
        if attrs != [("class", "nowrap")]:  # a name with hyphens stays on one line
            self.tags.append((tag, sorted(name for name, _ in attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.tags.append((tag, sorted(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(page: str) -> list[tuple[str, list[str]]]:
    parser = Tags()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser.tags


def markdown_tokens(page: str) -> list[Token]:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    return [part for token in parser.parse(page) for part in (token, *(token.children or ()))]


def markdown_structure(page: str) -> list[str]:
    return [t.type for t in markdown_tokens(page) if t.type not in ("text", "text_special", "html_inline")]
