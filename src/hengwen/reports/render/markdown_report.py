"""Render a report as GitHub-flavoured Markdown; all text is escaped, also for table cells."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hengwen.reports.render.jinja import report_environment, report_variables
from hengwen.reports.view.cells import counts
from hengwen.reports.wording import MARKS
from hengwen.text import numbers
from hengwen.text.language import Bilingual
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from jinja2 import Environment

    from hengwen.reports.view.models import ScoreView, View
    from hengwen.results.aggregate import Summary
    from hengwen.text.language import Language

_SPECIAL = re.compile(r"([\\`*_\[\]|~$#!])")


class Markdown(str):
    """Text that is already Markdown and must not be escaped again."""

    __slots__ = ()


def to_markdown(view: View) -> str:
    """Return the report as Markdown."""
    text = markdown_environment().get_template("report.md.j2").render(**report_variables(view))
    return without_gaps(text)


def without_gaps(text: str) -> str:
    """Return a page with at most one blank line in a row, and a line feed at its end."""
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def escape(text: str) -> Markdown:
    """Escape text for Markdown, so that it is shown literally and on one line, also in a table cell."""
    if isinstance(text, Markdown):
        return text
    text = strip_controls(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text).replace("://", "&#58;//")
    return Markdown("<br>".join(" ".join(line.split()) for line in text.strip().split("\n")))


def cell_text(cell: Summary | None, score: ScoreView, language: Language) -> Markdown:
    """Return a table cell: mean, interval, numbers of prompts and answers, coverage and failures."""

    def text(zh: str, en: str) -> str:
        return Bilingual(zh, en).in_language(language)

    if cell is None:
        return Markdown(numbers.NOTHING)
    bounds = f" {numbers.interval(cell.interval, score.decimals)}" if cell.interval else ""
    parts = [
        f"**{numbers.number(cell.mean, score.decimals)}**{bounds}".replace("[", "\\[").replace("]", "\\]"),
        counts(cell, language),
    ]
    if cell.failed and score.group == "published":
        parts.append(text("不完整", "incomplete"))
    elif cell.failed:
        parts.append(f"{text('未得分', 'failed')} {numbers.count(cell.failed)}")
    if cell.not_applicable:
        parts.append(f"{text('不适用', 'not applicable')} {numbers.count(cell.not_applicable)}")
    if len(cell.signatures) > 1:
        parts.append(text("签名不一致", "mixed signatures"))
    return Markdown("<br>".join(parts))


@lru_cache(maxsize=1)
def markdown_environment() -> Environment:
    """Return the template environment of Markdown pages, which escapes every text."""
    environment = report_environment(
        autoescape=False,  # the function ``finalize`` escapes for Markdown, so no HTML escaping
        finalize=lambda value: escape(value) if isinstance(value, str) else value,
    )
    environment.globals.update(cell_text=cell_text, MARKS=MARKS)
    return environment
