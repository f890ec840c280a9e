"""One view of what was weighed, shown as HTML, Markdown or JSON; names are imported on first use.

``render`` is not among them, for a module has that name: ``from hengwen.reports.render import render``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.reports.answers import AnswerRecord
    from hengwen.reports.html_report import to_html
    from hengwen.reports.json_report import to_json
    from hengwen.reports.markdown_report import to_markdown
    from hengwen.reports.render import write_report
    from hengwen.reports.view import ReportData, View, build_view

__all__ = [
    "AnswerRecord",
    "ReportData",
    "View",
    "build_view",
    "to_html",
    "to_json",
    "to_markdown",
    "write_report",
]

_HOMES = {
    "AnswerRecord": "answers",
    "ReportData": "view",
    "View": "view",
    "build_view": "view",
    "to_html": "html_report",
    "to_json": "json_report",
    "to_markdown": "markdown_report",
    "write_report": "render",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
