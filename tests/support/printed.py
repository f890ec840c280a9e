"""A document as a terminal prints it."""

from __future__ import annotations

import io

from rich.console import Console

from hengwen.documents.blocks import Document
from hengwen.documents.render.terminal import to_terminal
from hengwen.text.language import Language


def printed(document: Document, language: Language = "en", width: int = 500) -> str:
    """Return the lines of a document with all its details, without the spaces at their ends."""
    file = io.StringIO()
    to_terminal(document, Console(width=width, file=file, highlight=False), language, verbose=True)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())
