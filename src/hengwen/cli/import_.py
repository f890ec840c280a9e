"""``hengwen import muchin FILE -o DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Turn files of other projects into plans.", no_args_is_help=True)


@app.callback()
def _verbs() -> None:
    """Keep the sub-verbs, also while there is one."""


@app.command("muchin")
def muchin(
    file: Annotated[
        Path, typer.Argument(help="JSONL or CSV with id, checkpoint, repeat, theme, template, lyric.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder to write; made where it is not.")
    ],
    checkpoints: Annotated[
        str | None,
        typer.Option(help="Names in the order of training, by commas; default: the order of the file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a plan that is there.")] = False,
) -> None:
    """Turn lyrics that checkpoints wrote for MuChin templates into a plan: DIR/plan.yaml."""
    from hengwen.cli.say import warn
    from hengwen.importers.muchin import import_muchin

    order = [name.strip() for name in checkpoints.split(",")] if checkpoints else None
    found = import_muchin(file, output, order=order, force=force)
    if order is None:
        warn(
            f"the order of training is taken from the file: {', '.join(found.checkpoints)}; "
            "change it in the plan where it is wrong"
        )
    typer.echo(
        f"{found.plan}: {found.prompts} prompts, {found.answers} lyrics, {len(found.checkpoints)} checkpoints"
    )
