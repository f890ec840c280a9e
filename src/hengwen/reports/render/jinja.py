"""The Jinja2 environment of both formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from hengwen.text import numbers

if TYPE_CHECKING:
    from collections.abc import Callable


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
    environment.globals.update(
        number=numbers.number,
        signed_difference=numbers.signed_difference,
        percent=numbers.percent,
        count=numbers.count,
        scale_text=numbers.scale_text,
        NOTHING=numbers.NOTHING,
    )
    return environment
