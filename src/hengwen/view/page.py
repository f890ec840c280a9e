"""Draw a page of ``hengwen view``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from starlette.responses import HTMLResponse

from hengwen.documents.render.html import assets, environment, phrases
from hengwen.errors import HengwenError
from hengwen.view import words

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from hengwen.documents.blocks import Document, Text
    from hengwen.labels.desk import LabelDesk
    from hengwen.records import Run
    from hengwen.store import Store
    from hengwen.text.language import Language
    from hengwen.view.data import StoreData

POLICY = (
    "default-src 'none'; style-src '{style_hash}'; script-src '{script_hash}'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class View:
    """What all pages share."""

    data: StoreData
    language: Language
    desk: LabelDesk | None
    """The answers that may be labelled; None if nothing is written."""
    paths: tuple[str, ...]
    """The addresses that exist."""


def view_of(request: Request) -> View:
    """Return what the pages share."""
    return cast("View", request.app.state.view)


def page_assets() -> dict[str, Any]:
    """Return style and script of the pages, with their hashes."""
    names = ("view.css", "answers.css", "view.js", "label.js")
    return assets(*((__package__, f"static/{name}") for name in names))


def chosen_runs(request: Request) -> tuple[str, list[Run]]:
    """Return the plan that the address names, else the newest, and its checkpoints' newest runs."""
    store = view_of(request).data.store
    runs = store.latest(request.query_params.get("plan"))
    return (runs[0].plan if runs else ""), runs


def awaited_document(
    data: StoreData, name: Hashable, runs: Sequence[Run], compute: Callable[[Store, Sequence[Run]], Document]
) -> tuple[Document | None, str]:
    """Return a document about runs, or why there is none; neither while it is being computed."""
    try:
        return data.awaited(name, runs, compute), ""
    except HengwenError as error:
        return None, str(error)


def address(path: str, parameters: Mapping[str, object]) -> str:
    """Return the address of a page; a parameter that is None is left out."""
    return f"{path}?{urlencode({name: value for name, value in parameters.items() if value is not None})}"


def respond(
    request: Request,
    template: str,
    *,
    title: Text,
    plan: str = "",
    notes: Sequence[Text] = (),
    status: int = 200,
    refreshes: bool = False,
    **values: object,
) -> Response:
    """Return a page; one that ``refreshes`` is asked for again in a second."""
    view = view_of(request)
    pages = [(path, text) for path, text in words.PAGES.items() if path in view.paths]
    page = environment("hengwen.view").get_template(template)
    text = page.render(
        title=title,
        plan=plan,
        notes=notes,
        pages=[item for item in pages if view.desk or item[0] != "/label"],
        current=request.url.path,
        v=words,
        **phrases(view.language),
        **page_assets(),
        **values,
    )
    return HTMLResponse(text, status_code=status, headers={"Refresh": "1"} if refreshes else None)
