"""Compute once what a report shows (the view), and render the view as HTML, Markdown or JSON.

The names of this package are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.reports.render.html_report import to_html
    from hengwen.reports.render.json_report import to_json
    from hengwen.reports.render.markdown_report import to_markdown
    from hengwen.reports.render.write import write_report
    from hengwen.reports.view.answers import AnswerList, AnswerRecord
    from hengwen.reports.view.build import build_view
    from hengwen.reports.view.models import ReportData, View

_EXPORTS = {
    "AnswerList": "view.answers",
    "AnswerRecord": "view.answers",
    "ReportData": "view.models",
    "View": "view.models",
    "build_view": "view.build",
    "to_html": "render.html_report",
    "to_json": "render.json_report",
    "to_markdown": "render.markdown_report",
    "write_report": "render.write",
}

__all__ = [
    "AnswerList",
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
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
