"""``hengwen view [STORE]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_existing_store
from hengwen.cli.ui.output import Face
from hengwen.cli.ui.usage import Without


def view(
    location: options.StoreArgument = options.DEFAULT_STORE,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on; another than this machine's needs --token-file."),
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="File with the token of the address, at least 32 characters; it works for several browsers.",
        ),
    ] = None,
    label: Annotated[
        Path | None,
        typer.Option("--label", help="Label the answers of this plan; without it nothing is written."),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address.")] = False,
    trust: options.Trust = False,
    *,
    face: Annotated[Face, Without("output", "as_json", "quiet", "verbose")],
) -> None:
    """Show the runs of a store in a browser, also while they run, until Ctrl-C."""
    from hengwen.labels.desk import open_desk
    from hengwen.view.app import serve

    with open_existing_store(location) as opened:
        page_language = face.report_language(opened.latest())
    desk = None
    if label is not None:
        loaded = load_trusted(label, trust=trust)
        desk = open_desk(loaded, label, location, trust=trust)
    serve(
        location,
        host=host,
        port=port,
        token_file=token_file,
        desk=desk,
        language=page_language,
        announce=typer.echo,
        is_opened=not no_open,
    )
