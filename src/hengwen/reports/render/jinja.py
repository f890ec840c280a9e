"""The Jinja2 environment of all report formats: filters, number formatting and wording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from hengwen.relevance_metrics.inference.sequence_metrics import MAIN_METRICS
from hengwen.reports.view.cells import counts, counts_in_words
from hengwen.reports.view.comparison_note import comparison_note
from hengwen.reports.view.failures import failure_rows
from hengwen.reports.wording import (
    GUIDE,
    KIND_WORDS,
    STATUS_WORDS,
    group_adjacent,
    versions_text,
)
from hengwen.text import numbers
from hengwen.text.language import Bilingual
from hengwen.text.numbers import failure_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.reports.view.models import View


def report_variables(view: View) -> dict[str, Any]:
    """The template variables: report data (the view), language, and ``t(zh, en)``, which picks a text."""

    def text(zh: str, en: str) -> str:
        return Bilingual(zh, en).in_language(view.language)

    return {"view": view, "language": view.language, "t": text}


def report_environment(*, autoescape: bool, finalize: Callable[[Any], Any]) -> Environment:
    """Return a template environment."""
    environment = Environment(
        loader=PackageLoader("hengwen.reports.render"),
        autoescape=autoescape,  # noqa: S701 - the Markdown report escapes in its finalizer
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["group_adjacent"] = group_adjacent
    environment.globals.update(
        number=numbers.number,
        signed_difference=numbers.signed_difference,
        percent=numbers.percent,
        count=numbers.count,
        scale_text=numbers.scale_text,
        NOTHING=numbers.NOTHING,
        sequence_metrics=MAIN_METRICS,
        comparison_note=comparison_note,
        counts=counts,
        counts_in_words=counts_in_words,
        failure_text=failure_text,
        failure_rows=failure_rows,
        versions_text=versions_text,
        format_timestamp=numbers.format_timestamp,
        GUIDE=GUIDE,
        KIND_WORDS=KIND_WORDS,
        STATUS_WORDS=STATUS_WORDS,
    )
    return environment
