"""Who may ask ``hengwen view`` for a page: one token, one cookie, one host, one origin."""

from __future__ import annotations

import hmac
from secrets import compare_digest, token_bytes, token_urlsafe
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

from hengwen.text.language import in_language
from hengwen.view.words import BAD_TOKEN, CROSS_SITE, NO_COOKIE, READ_ONLY, TOO_LONG

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from hengwen.text.language import Bilingual, Language

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
