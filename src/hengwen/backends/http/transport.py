"""One address and the connections to it: a written body goes out; status, headers and bytes come back."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ssl import SSLContext


class HttpTransport:
    """Posts JSON to an address; made within the event loop that uses it.

    Redirects are not followed and cookies are not kept. Connections stay open for the calls that follow.

    Args:
        url: Where every body goes.
        headers: Of every call.
        query: Of every call, behind the address.
        proxy: Through which it is reached.
        timeout: Seconds for one call, all told.

    Examples:
        >>> import asyncio
        >>> async def ask() -> str:
        ...     line = HttpTransport("http://127.0.0.1:1/v1", headers={}, query={}, proxy=None, timeout=9)
        ...     try:
        ...         await line.post(b"{}")
        ...     except OSError as error:
        ...         return type(error).__name__
        ...     finally:
        ...         await line.close()
        >>> asyncio.run(ask())
        'ClientConnectorError'
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
            connector=TCPConnector(limit=0, ssl=_known_roots(url, proxy or "")),
            cookie_jar=DummyCookieJar(),
            headers={**headers, "Content-Type": "application/json"},
            proxy=proxy,
            timeout=ClientTimeout(total=timeout),
        )

    async def post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Send a body; return the status, the headers (in any case) and the body of the answer.

        Raises:
            ClientError: There is no answer, or not the whole of one.
            OSError: The same; a TimeoutError where it took too long.
        """
        async with self._session.post(self._url, data=body, allow_redirects=False) as answer:
            return answer.status, answer.headers, await answer.read()

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


def _known_roots(*urls: str) -> SSLContext | bool:
    """What certificates are checked by: as openai's client has it, with roots where the system has none."""
    if not any(url.startswith("https:") for url in urls):
        return True
    from httpx2 import create_ssl_context

    return create_ssl_context()
