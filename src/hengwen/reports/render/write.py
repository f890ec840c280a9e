"""Render a report as text in one format, or write it to a file whose suffix names the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.atomic_write import atomic_write

if TYPE_CHECKING:
    from hengwen.reports.view.models import View

FORMATS = ("html", "md", "json")


def render(view: View, format: str) -> str:  # noqa: A002 - the name that callers expect
    """Return the report as ``html``, ``md`` or ``json`` text."""
    if format == "html":
        from hengwen.reports.render.html_report import to_html

        return to_html(view)
    if format == "md":
        from hengwen.reports.render.markdown_report import to_markdown

        return to_markdown(view)
    if format == "json":
        from hengwen.reports.render.json_report import to_json_text

        return to_json_text(view)
    raise ConfigError(f"unknown report format {format!r}{did_you_mean(format, FORMATS)}")


def format_of(path: Path) -> str:
    """Return the format that a file suffix names."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        suffixes = ", ".join(f".{name}" for name in FORMATS)
        raise ConfigError(f"unknown format of report {str(path)!r}; use one of {suffixes}")
    return suffix


def write_report(view: View, path: str | Path) -> Path:
    """Write a report and return its path. The file is replaced atomically.

    Args:
        view: Data that the report shows (the view).
        path: File name that ends with ``.html``, ``.md`` or ``.json``; its folder must exist.

    Raises:
        ConfigError: The suffix is unknown, or the file cannot be written.
    """
    path = Path(path)
    text = render(view, format_of(path))
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
