"""Show the result of a command: as files, as JSON, or in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_info

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.documents.blocks import Document
    from hengwen.text.language import Language


def check_outputs(outputs: Sequence[Path] | None, inputs: Sequence[Path] = ()) -> list[Path]:
    """Return the paths of ``--output``; raise an error unless a document can be written to each of them."""
    from hengwen.documents.render.write import check_format
    from hengwen.io.output_target import check_output

    paths = list(outputs or ())
    for path in paths:
        check_format(path)
        check_output(path, inputs)
    return paths


def show(
    document: Document,
    outputs: Sequence[Path],
    *,
    language: Language,
    as_json: bool,
    quiet: bool,
    verbose: bool = False,
) -> None:
    """Write a document to its files, then print its record as JSON, or the document itself."""
    from hengwen.documents.render.write import to_json, write_document

    for path in outputs:
        write_document(document, path, language)
        print_info(f"report: {path}")
    if as_json:
        typer.echo(to_json(document), nl=False)
    elif not quiet:
        from rich.console import Console

        from hengwen.documents.render.terminal import to_terminal

        to_terminal(document, Console(highlight=False), language, verbose=verbose)
