"""Render a document as one self-contained HTML file: one script, no network access, every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from hengwen.documents.render import answers, words
from hengwen.documents.render.cell_svg import draw_bar, draw_course, draw_interval
from hengwen.documents.render.svg import draw_chart
from hengwen.text.language import Bilingual
from hengwen.text.numbers import signed
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from hengwen.documents import blocks
    from hengwen.documents.blocks import Document
    from hengwen.text.language import Language

_NAME = re.compile(r"\w+(?:[.-]\w+)+", re.ASCII)
"""A name as ``ckpt-3000``, which a browser would break after its hyphens."""
_UNBROKEN = Markup('<span class="nowrap">{}</span>')
MOST_UNBROKEN = 30
"""Characters of a name that fits in a line of a telephone."""


def to_html(document: Document, language: Language) -> str:
    """Return a document as an HTML page."""
    template = environment().get_template("document.html.j2")
    return template.render(document=document, **phrases(language), **assets())


def phrases(language: Language) -> dict[str, object]:
    """Return what templates need to write texts in a language."""

    def text(value: blocks.Text, english: str | None = None) -> str:
        """Return a text in the language, which a template may give in Chinese and in English."""
        return words.printed(value if english is None else Bilingual(str(value), english), language)

    def lang(value: str) -> Markup:
        """Return the attribute of a Chinese text in an English page, so that it has the right glyphs."""
        return Markup(' lang="zh-Hans"') if language == "en" and answers.HAN.search(value) else Markup("")

    return {"language": language, "t": text, "lang": lang}


@lru_cache
def assets(*more: tuple[str, str]) -> dict[str, Markup | str]:
    """Return style and script of a page with the hashes that permit them; more files by package and path."""
    own = ((__package__, f"templates/{name}") for name in ("style.css", "answers.css", "page.js"))
    parts = [files(package) / path for package, path in (*own, *more)]
    packaged: dict[str, Markup | str] = {}
    for key, suffix in (("style", ".css"), ("script", ".js")):
        text = "".join(part.read_text(encoding="utf-8") for part in parts if part.name.endswith(suffix))
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        packaged[key] = Markup(text)  # noqa: S704 - files of packages
        packaged[f"{key}_hash"] = f"sha256-{digest}"
    return packaged


@lru_cache
def environment(*packages: str) -> Environment:
    """Return the templates of documents, after those of other packages."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "hengwen.documents.render")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["unbroken"] = _unbroken
    environment.globals.update(words=words, a=answers, signed=signed, draw_chart=draw_chart)
    environment.globals.update(draw_course=draw_course, draw_bar=draw_bar, draw_interval=draw_interval)
    return environment


def _unbroken(text: str) -> Markup:
    """Return an escaped text whose names with hyphens stay on one line; long ones may break."""
    text = strip_controls(text)
    parts: list[Markup] = []
    end = 0
    for name in _NAME.finditer(text):
        if "-" in name[0] and len(name[0]) <= MOST_UNBROKEN:
            parts += escape(text[end : name.start()]), _UNBROKEN.format(name[0])
            end = name.end()
    return Markup("").join([*parts, escape(text[end:])])


def _finalize(value: object) -> object:
    """Remove control characters from a value before it is escaped; markup stays unchanged."""
    return strip_controls(value) if isinstance(value, str) and not isinstance(value, Markup) else value
