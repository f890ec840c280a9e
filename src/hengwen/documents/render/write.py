"""Write a document to a file whose suffix names the format, or as JSON text, which has a schema."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from hengwen.documents import blocks
from hengwen.documents.blocks import Document
from hengwen.documents.render import answers, words
from hengwen.documents.render.svg import draw_bar, draw_chart, draw_course, draw_interval
from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.output_files import atomic_write
from hengwen.text.language import Bilingual, Language
from hengwen.text.numbers import sanitize, signed, strip_controls

_SCHEMAS = files("hengwen.documents") / "schemas"
_KINDS_OF = {"report": "run", "demo": "run"}
"""Kind of the result of the commands that do not have its name."""
SUFFIXES = (".html", ".md", ".json", ".csv", ".parquet")


def check_format(path: Path) -> str:
    """Return the suffix of a file name if documents can be written in its format."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"unknown format of {str(path)!r}; use one of {', '.join(SUFFIXES)}"
            if not suffix
            else f"unknown format {suffix!r} of {str(path)!r}{did_you_mean(suffix, SUFFIXES)}"
        )
    if suffix == ".parquet":
        from hengwen.documents.render.words import check_parquet

        check_parquet()
    return suffix


def to_json(document: Document) -> str:
    """Return the record of a document as JSON text that is valid UTF-8 and ends with a line feed."""
    return json.dumps(sanitize(document.record), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def write_document(document: Document, path: str | Path, language: Language = "zh") -> Path:
    """Write a document and return its path. The file is replaced atomically.

    Args:
        document: The document of a result, such as that of ``report_document``.
        path: File name that ends with ``.html``, ``.md``, ``.json``, ``.csv`` or ``.parquet``; its folder
            must exist.
        language: Language of the words, ``zh`` or ``en``; a JSON file holds both.

    Raises:
        ConfigError: The suffix is unknown, or the file cannot be written.
        PluginError: A Parquet file needs pyarrow, which is not installed.

    Examples:
        >>> from hengwen import Document, write_document
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> document = Document(kind="note", title="a note", blocks=())
        >>> with TemporaryDirectory() as folder:
        ...     path = write_document(document, Path(folder) / "note.md", "en")
        ...     path.read_text(encoding="utf-8")
        '# a note\\n'
    """
    path = Path(path)
    suffix = check_format(path)
    try:
        content = _content(document, suffix, language)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    with atomic_write(path) as temporary:
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _content(document: Document, suffix: str, language: Language) -> str | bytes:
    if suffix == ".json":
        return to_json(document)
    if suffix == ".html":
        return to_html(document, language)
    if suffix == ".md":
        from hengwen.documents.render.markdown import to_markdown

        return to_markdown(document, language)
    from hengwen.documents.render.words import to_csv, to_parquet

    return to_csv(document, language) if suffix == ".csv" else to_parquet(document, language)


def schema_kinds() -> list[str]:
    """Return the kinds of document that have a JSON Schema."""
    return sorted(
        file.name.removesuffix(".json") for file in _SCHEMAS.iterdir() if file.name.endswith(".json")
    )


def schema_text(kind: str) -> str:
    """Return the JSON Schema of the records of one kind."""
    kinds = schema_kinds()
    if kind not in kinds:
        written = _KINDS_OF.get(kind)
        hint = f"; did you mean {written!r}?" if written else did_you_mean(kind, kinds)
        raise ConfigError(f"unknown kind of result {kind!r}{hint}")
    text = (_SCHEMAS / f"{kind}.json").read_text(encoding="utf-8")
    for part in sorted((_SCHEMAS / "parts").iterdir(), key=lambda file: file.name):
        if f'"#/$defs/{part.name.removesuffix(".json")}"' in text:
            schema = json.loads(text)
            schema.setdefault("$defs", {}).update(json.loads(part.read_text(encoding="utf-8")))
            text = json.dumps(schema, ensure_ascii=False, indent=2)
    return text


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
