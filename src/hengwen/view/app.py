"""The pages of ``hengwen view`` as a web application, and its server."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from hengwen.documents.render.write import environment
from hengwen.errors import ConfigError, HengwenError
from hengwen.labels.desk import LabelDesk
from hengwen.text.language import Language, localized
from hengwen.view import words
from hengwen.view.data import StoreData
from hengwen.view.page import POLICY, Guard, View, page_assets, respond, view_of
from hengwen.view.pages import answer, compare, grid, home, judges, label

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LOOPBACK = ("127.0.0.1", "localhost")
MIN_TOKEN = 32
"""Characters of the token of a file, so that nobody guesses it."""
PAGES = (home, grid, compare, answer, judges, label)


def create_app(
    location: str,
    *,
    token: str,
    is_reusable: bool = False,
    desk: LabelDesk | None = None,
    language: Language = "zh",
    hosts: Sequence[str] = LOOPBACK,
) -> Starlette:
    """Return the application."""
    data = StoreData(location)
    routes = [route for page in PAGES for route in page.routes]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        data.submit(_prepare)
        yield
        data.close()

    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
            Middleware(
                Guard,
                token=token,
                is_reusable=is_reusable,
                label=desk is not None,
                language=language,
                policy=POLICY.format(**page_assets()),
            ),
        ],
        exception_handlers={HengwenError: _problem, 404: _not_found},
        lifespan=lifespan,
    )
    app.state.view = View(data, language, desk, tuple(route.path for route in routes))
    return app


def _prepare() -> None:
    """Load what the first page of each kind would wait for."""
    import scipy.special  # noqa: F401

    templates = environment("hengwen.view")
    for name in templates.list_templates(extensions=["j2"]):
        templates.get_template(name)


def _problem(request: Request, error: Exception) -> Response:
    """Say what is wrong with the store, or with what the address names."""
    title = words.NOT_THERE if isinstance(error, ConfigError) else words.STORE_PROBLEM
    status = 404 if isinstance(error, ConfigError) else 503
    return respond(
        request,
        "problem.html.j2",
        title=title,
        status=status,
        message=localized(str(error), view_of(request).language),
    )


def _not_found(request: Request, _: Exception) -> Response:
    return respond(request, "problem.html.j2", title=words.NOT_THERE, status=404, message=request.url.path)


def serve(  # noqa: PLR0913 - options of a command
    location: str,
    *,
    host: str,
    port: int,
    token_file: Path | None,
    desk: LabelDesk | None,
    language: Language,
    announce: Callable[[str], None],
    is_opened: bool,
    path: str = "",
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
        url = f"{address}{path}?token={token}"
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
