"""The first page: plans, their last runs, what to ship, and what runs now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from hengwen.documents.viewer import words
from hengwen.view.page import respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def show(request: Request) -> Response:
    """Show the runs of the store, newest first."""
    store = view_of(request).data.store
    return respond(request, "home.html.j2", title=words.PAGES["/"], runs=store.runs())


routes = [Route("/", show)]
