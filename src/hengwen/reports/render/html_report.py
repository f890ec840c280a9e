"""Render a report as one self-contained HTML file: no script, no network access, every text escaped."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from hengwen.reports.render.charts import score_chart
from hengwen.reports.render.jinja import report_environment, report_variables
from hengwen.text import numbers
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from jinja2 import Environment

    from hengwen.reports.view.models import View


def to_html(view: View) -> str:
    """Return the report as an HTML page."""
    return (
        html_environment()
        .get_template("report.html.j2")
        .render(charts=_charts(view), **report_variables(view))
    )


def _charts(view: View) -> dict[str, Markup]:
    """Return the chart of each headline (main) score; the key is the score's address (TASK/SCORE)."""
    headlines = (score for task in view.tasks for score in task.headlines)
    return {score.address: score_chart(score, view, f"c{i}") for i, score in enumerate(headlines)}


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
