"""HTTP connections to one URL: post an encoded body; get status, headers and body of the answer."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from ssl import SSLContext
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from httpx2 import AsyncByteStream

from hengwen.errors import BackendError
from hengwen.text.safety import short_repr

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from httpx2 import Response


MAX_BODY = 16 << 20
"""Maximum number of bytes of a decompressed reply."""
MAX_FILE = 4 << 30
"""Maximum number of bytes of a decompressed file of replies, which is written to the disk."""
ENCODINGS = "gzip, deflate"
"""Value of the header ``Accept-Encoding``; a reply that is compressed otherwise is refused."""
MAX_BRACKETS = 100_000
"""Maximum number of ``[`` and ``{`` of a reply, because the client builds a model of each list and object."""
PART = 1 << 16
"""Number of bytes that are decompressed, or collected from smaller parts, at once."""


async def limit_body(response: Response) -> None:
    """Decompress a reply here, part by part, and fail where it gets too long."""
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", *ENCODINGS.split(", ")):
        raise BackendError(f"the reply is compressed as {short_repr(encoding)}, not as {ENCODINGS}")
    is_file = response.request.url.path.endswith("/content")
    assert isinstance(response.stream, AsyncByteStream)
    response.stream = _LimitedStream(response.stream, encoding, MAX_FILE if is_file else MAX_BODY)


class _LimitedStream(AsyncByteStream):
    """The decompressed bytes of a stream in parts of ``PART`` bytes, up to a limit."""

    def __init__(self, stream: AsyncByteStream, encoding: str, limit: int) -> None:
        self._stream = stream
        self._encoding = encoding
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decoded = self._stream if self._encoding == "identity" else self._decompressed()
        buffer = bytearray()
        size = brackets = 0
        async for part in decoded:
            size += len(part)
            brackets += part.count(b"[") + part.count(b"{")
            if size > self._limit:
                raise BackendError(too_long(self._limit))
            if brackets > MAX_BRACKETS and self._limit == MAX_BODY:
                raise BackendError(f"the reply has more than {MAX_BRACKETS:,} lists and objects")
            buffer += part
            if len(buffer) >= PART:
                yield bytes(buffer)
                buffer.clear()
        yield bytes(buffer)

    async def _decompressed(self) -> AsyncIterable[bytes]:
        decompressor = None
        try:
            async for part in self._stream:
                if not part:
                    continue
                decompressor = decompressor or zlib.decompressobj(_window_bits(self._encoding, part))
                while part and not decompressor.eof:
                    yield decompressor.decompress(part, PART)
                    part = decompressor.unconsumed_tail
        except zlib.error:
            raise BackendError(f"the reply is not valid {self._encoding}", retryable=True) from None

    async def aclose(self) -> None:
        await self._stream.aclose()


def _window_bits(encoding: str, start: bytes) -> int:
    """Return the argument of zlib; some servers send ``deflate`` without the header of zlib."""
    if encoding == "gzip":
        return 16 + zlib.MAX_WBITS
    has_header = start[0] & 0x0F == zlib.DEFLATED
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS


def too_long(limit: int) -> str:
    """Return the message about a reply that exceeds a limit."""
    return f"the reply is longer than {limit >> 20:,} MiB"


class HttpTransport:
    """Post JSON to one URL, in the event loop that created it; no redirects are followed, no cookies kept."""

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
