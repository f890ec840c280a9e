"""Draw a page of ``hengwen view``."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from secrets import compare_digest, token_bytes, token_urlsafe
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from hengwen.documents.blocks import Document, Text
from hengwen.documents.render.write import assets, environment, phrases
from hengwen.errors import HengwenError
from hengwen.labels.desk import LabelDesk
from hengwen.records import Run
from hengwen.store import Store
from hengwen.text.language import Bilingual, Language, in_language
from hengwen.view import words
from hengwen.view.data import StoreData
from hengwen.view.words import BAD_TOKEN, CROSS_SITE, NO_COOKIE, READ_ONLY, TOO_LONG

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


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


READING = ("GET", "HEAD")
MAX_FORM = 64 << 10
"""Largest form in bytes: a label with its remark."""


class Guard:
    """Answer only requests with the cookie that the token bought; no other site may send a form."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        is_reusable: bool,
        label: bool,
        language: Language,
        policy: str,
    ) -> None:
        self._app = app
        self._token: str | None = token
        self._is_reusable = is_reusable
        self._label = label
        self._language = language
        self._headers = {
            "Content-Security-Policy": policy,
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        self._secret = token_bytes(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        answer = self._answer(Request(scope))
        await (answer or self._app)(scope, receive, send_with_headers)

    def _answer(self, request: Request) -> Response | None:
        """Return the refusal of a request, or the cookie for the token; None for a request to pass on."""
        name = f"hengwen-{request.url.port or 80}"  # browsers send the cookies of one host to all its ports
        if "token" in request.query_params and request.method in READING:
            return self._welcome(request.query_params["token"], name)
        if not self._is_signed(request.cookies.get(name, "")):
            return self._refusal(NO_COOKIE)
        if request.method in READING:
            return None
        if not self._label:
            return self._refusal(READ_ONLY)
        return None if _is_same_origin(request) else self._refusal(CROSS_SITE)

    def _welcome(self, token: str, name: str) -> Response:
        if self._token is None or not compare_digest(token.encode(), self._token.encode()):
            return self._refusal(BAD_TOKEN)
        if not self._is_reusable:
            self._token = None
        response = RedirectResponse("/", status_code=303)
        nonce = token_urlsafe(16)
        response.set_cookie(name, f"{nonce}.{self._signature(nonce)}", httponly=True, samesite="strict")
        return response

    def _signature(self, nonce: str) -> str:
        return hmac.new(self._secret, nonce.encode(), "sha256").hexdigest()

    def _is_signed(self, cookie: str) -> bool:
        nonce, _, signature = cookie.partition(".")
        return compare_digest(signature.encode(), self._signature(nonce).encode())

    def _refusal(self, reason: Bilingual) -> Response:
        return PlainTextResponse(in_language(reason, self._language) + "\n", status_code=403)


def _is_same_origin(request: Request) -> bool:
    """Return whether a form comes from a page of this server."""
    # Browsers set `Sec-Fetch-Site`, which no page can forge; the origin of a form is `null` where pages send
    # no referrer.
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin", "")
    if origin not in ("", "null"):
        return site in (None, "same-origin") and urlsplit(origin).netloc == request.headers["host"]
    return site == "same-origin"


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a field that comes twice, the last value."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            raise ValueError(TOO_LONG.en)
    return dict(parse_qsl(bytes(body).decode(), keep_blank_values=True))
