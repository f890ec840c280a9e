"""Render a report as GitHub-flavoured Markdown; all text is escaped, also for table cells."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hengwen.reports.render.jinja import report_environment
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from jinja2 import Environment


_SPECIAL = re.compile(r"([\\`*_\[\]|~$#!])")


class Markdown(str):
    """Text that is already Markdown and must not be escaped again."""

    __slots__ = ()


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


@lru_cache(maxsize=1)
def markdown_environment() -> Environment:
    """Return the template environment of Markdown pages, which escapes every text."""
    return report_environment(
        autoescape=False,  # the function ``finalize`` escapes for Markdown, so no HTML escaping
        finalize=lambda value: escape(value) if isinstance(value, str) else value,
    )
