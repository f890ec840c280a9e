"""``hengwen schema [KIND]``."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    kind: Annotated[
        str | None, typer.Argument(help="Kind of result, such as compare; default: list the kinds.")
    ] = None,
) -> None:
    """Print the JSON Schema of the JSON that a command writes."""
    from hengwen.documents.render.write import schema_kinds, schema_text

    typer.echo("\n".join(schema_kinds()) if kind is None else schema_text(kind).rstrip("\n"))
