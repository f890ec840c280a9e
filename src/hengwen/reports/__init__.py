"""One view of what was weighed, shown as HTML, Markdown or JSON. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.reports.answers import AnswerRecord
    from hengwen.reports.html_report import to_html
    from hengwen.reports.json_report import to_json
    from hengwen.reports.markdown_report import to_markdown
    from hengwen.reports.render import write_report
    from hengwen.reports.view import ReportData, View, build_view

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
