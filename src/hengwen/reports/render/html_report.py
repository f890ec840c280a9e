"""The template environment of HTML pages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from hengwen.reports.render.jinja import report_environment
from hengwen.text import numbers
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from jinja2 import Environment


def _finalize(value: object) -> object:
    """Remove control characters from a value before it is escaped; markup stays unchanged."""
    return strip_controls(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@lru_cache(maxsize=1)
def html_environment() -> Environment:
    """Return the template environment of HTML pages, which escapes every value."""
    environment = report_environment(autoescape=True, finalize=_finalize)
    environment.keep_trailing_newline = True
    environment.globals.update(interval=numbers.interval)
    return environment
