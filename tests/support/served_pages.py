"""Serve the pages of `hengwen view` to a real browser."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import uvicorn

from hengwen.labels.desk import LabelDesk
from hengwen.text.language import Language
from hengwen.view.app import create_app

TOKEN = "a token of thirty-two characters"


@contextmanager
def served(store: Path | str, desk: LabelDesk | None = None, language: Language = "en") -> Iterator[str]:
    """Yield the address that buys the cookie; the pages end with the block."""
    app = create_app(str(store), token=TOKEN, is_reusable=True, desk=desk, language=language)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/?token={TOKEN.replace(' ', '+')}"
        server.should_exit = True
        thread.join(10)
