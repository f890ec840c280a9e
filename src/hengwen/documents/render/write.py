"""Write a document to a file whose suffix names the format, or as JSON text, which has a schema."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.output_files import atomic_write
from hengwen.text.safety import sanitize

if TYPE_CHECKING:
    from hengwen.documents.blocks import Document
    from hengwen.text.language import Language

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
        from hengwen.documents.render.rows import check_parquet

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
        from hengwen.documents.render.html import to_html

        return to_html(document, language)
    if suffix == ".md":
        from hengwen.documents.render.markdown import to_markdown

        return to_markdown(document, language)
    from hengwen.documents.render.rows import to_csv, to_parquet

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
