"""HTTP connections to one URL: post an encoded body; get status, headers and body of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from hengwen.backends.http.body_limit import MAX_BODY, too_long
from hengwen.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ssl import SSLContext

    from aiohttp import ClientResponse


class HttpTransport:
    """Post JSON to one URL. An instance must be created in the event loop that uses it.

    Redirects are not followed and cookies are not kept. Connections stay open for later calls.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        proxy: str | None,
        timeout: float,
    ) -> None:
        self._url = f"{url}?{urlencode(query)}" if query else url
        self._session = ClientSession(
            connector=TCPConnector(limit=0, ssl=_ssl_context(url, proxy or "")),
            cookie_jar=DummyCookieJar(),
            headers={**headers, "Content-Type": "application/json"},
            proxy=proxy,
            timeout=ClientTimeout(total=timeout),
        )

    async def post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Send a body; return status, case-insensitive headers and body of the answer."""
        async with self._session.post(self._url, data=body, allow_redirects=False) as answer:
            return answer.status, answer.headers, await _read(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


async def _read(answer: ClientResponse) -> bytes:
    """Return the decompressed body; stop reading when it gets too long."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY:
            raise BackendError(too_long(MAX_BODY))
    return bytes(body)


def _ssl_context(*urls: str) -> SSLContext | bool:
    """Return an SSL context like that of the ``openai`` package; True if no URL uses HTTPS."""
    if not any(url.startswith("https:") for url in urls):
        return True
    from httpx2 import create_ssl_context

    return create_ssl_context()
