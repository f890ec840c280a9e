"""Serve the pages on a port until the command is interrupted."""

from __future__ import annotations

import socket
import webbrowser
from secrets import token_urlsafe
from typing import TYPE_CHECKING

import uvicorn

from hengwen.errors import ConfigError
from hengwen.view.app import LOOPBACK, create_app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hengwen.labels.desk import LabelDesk
    from hengwen.text.language import Language

MIN_TOKEN = 32
"""Characters of the token of a file, so that nobody guesses it."""


def serve(
    location: str,
    *,
    host: str,
    port: int,
    token_file: Path | None,
    desk: LabelDesk | None,
    language: Language,
    announce: Callable[[str], None],
    is_opened: bool,
) -> None:
    """Print the address of the pages, open it, and answer until interrupted."""
    if host not in LOOPBACK and token_file is None:
        raise ConfigError(
            f"--host {host} lets other machines in: write a token of {MIN_TOKEN} characters or more "
            "into a file, and name it with --token-file"
        )
    token = token_urlsafe(32) if token_file is None else _read_token(token_file)
    app = create_app(
        location,
        token=token,
        is_reusable=token_file is not None,
        desk=desk,
        language=language,
        hosts=(*LOOPBACK, host, socket.gethostname()) if host not in LOOPBACK else LOOPBACK,
    )
    with socket.create_server((host, port)) as listening:
        address = f"http://{host}:{listening.getsockname()[1]}/"
        url = f"{address}?token={token}"
        announce(url if token_file is None else f"{address}?token=…  ({token_file})")
        if is_opened:
            webbrowser.open(url)
        config = uvicorn.Config(
            app,
            access_log=False,  # the first address has the token
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=1,  # pages that wait for news keep their connection
        )
        uvicorn.Server(config).run(sockets=[listening])


def _read_token(path: Path) -> str:
    token = path.read_text("utf-8").strip()
    if len(token) < MIN_TOKEN:
        raise ConfigError(f"{path}: the token has {len(token)} characters; it needs {MIN_TOKEN} or more")
    return token
