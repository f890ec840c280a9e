"""The HTTP layer that backends share: endpoint settings, transport, conversion of errors."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from httpx2 import AsyncByteStream

from hengwen.errors import BackendError, ConfigError
from hengwen.io.untrusted_json import parse_json
from hengwen.text.numbers import short_repr

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from httpx2 import Response


NO_KEY = "no-key"
"""Key that is sent to local endpoints, which need no key."""
MIN_SECRET_LENGTH = 8
"""Minimum length of a secret that is hidden in messages; shorter ones are placeholders such as 'EMPTY'."""


class Endpoint:
    """URL, key and proxy of an endpoint, read once. Printing an Endpoint shows none of its secrets."""

    __slots__ = ("headers", "key", "proxy", "query", "secrets", "url")

    def __init__(self, base_url: str, api_key_env: str) -> None:
        parts = urlsplit(base_url)
        self.key = api_key_from(api_key_env)
        self.url = urlunsplit((parts.scheme, _host(parts.netloc), parts.path, "", ""))
        self.query = dict(parse_qsl(parts.query))
        basic = _basic_auth(parts.username, parts.password)
        self.headers = {"Authorization": basic} if basic else {}
        self.proxy = proxy_for(self.url)
        candidates = [
            self.key,
            *_passwords(base_url),
            *self.query.values(),
            *_passwords(self.proxy or ""),
            *(_credentials(url) for url in (base_url, self.proxy or "")),
        ]
        self.secrets = tuple(
            secret for secret in dict.fromkeys(candidates) if len(secret) >= MIN_SECRET_LENGTH
        )


def api_key_from(variable: str) -> str:
    """Return the key from an environment variable; "" if it is not set."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no key has; set it again")
    return key


def validate_url(url: str) -> str:
    """Return a valid URL unchanged."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError("base_url must be an address such as http://localhost:8080/v1")
    return url


def without_secrets(url: str) -> str:
    """Return a URL without user, password and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, _host(parts.netloc), parts.path.rstrip("/"), "", ""))


def is_local(url: str) -> bool:
    """Return whether a URL names this machine."""
    try:
        return _is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def proxy_for(url: str) -> str | None:
    """Return the proxy for a URL from ``http_proxy``, ``https_proxy``, ``all_proxy`` and ``no_proxy``."""
    parts = urlsplit(url)
    if _is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        is_valid = urlsplit(proxy).scheme in ("http", "https") and bool(urlsplit(proxy).hostname)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError(
            "the proxy of the environment must be an address such as http://localhost:7890; "
            f"set {parts.scheme}_proxy to one, or no_proxy to the host of the endpoint"
        )
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _passwords(url: str) -> tuple[str, str]:
    """Return the password in a URL in two forms: decoded, and as written."""
    written = urlsplit(url).password or ""
    return unquote(written), written


def _credentials(url: str) -> str:
    """Return user and password of a URL as the header ``Authorization`` spells them; "" if it has none."""
    parts = urlsplit(url)
    return _basic_auth(parts.username, parts.password).removeprefix("Basic ").rstrip("=")


def _host(netloc: str) -> str:
    return netloc.rpartition("@")[2]


def _basic_auth(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    credentials = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"


MAX_RAW = 20_000
"""Maximum number of characters that are kept of the body of a failed call."""
TEMPORARY_REFUSALS = (408, 409, 425, 429)
"""HTTP status codes 4xx after which the same request may succeed later."""
MAX_MESSAGE = 300
"""Maximum number of characters of a server's message in an error."""


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace each secret in a text by ``[hidden]``, also where JSON or a URL escapes its characters."""
    for secret in secrets:
        if "\\" in text or "%" in text:
            text = _escaped(secret).sub("[hidden]", text)
        else:
            text = text.replace(secret, "[hidden]")
    return text


@cache
def _escaped(secret: str) -> re.Pattern[str]:
    r"""Return a pattern of a secret whose characters may be escaped, as in ``\u0073k``; linear in time."""
    return re.compile(r"(?<!\\)" + "".join(_spellings(char) for char in secret))


def _spellings(char: str) -> str:
    code = ord(char)
    return rf"\\*+(?:{re.escape(char)}|u(?i:{code:04x})|%(?i:{code:02x}))" if char != "\\" else BACKSLASH


BACKSLASH = r"(?:\\++(?:u(?i:005c))?|%(?i:5c))"
"""Pattern of a backslash of a secret; those before the next character belong to it."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, from ``retry-after-ms`` or ``retry-after``."""
    milliseconds = _parse_number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _parse_number(value)
    if seconds is not None:
        return seconds
    # the clock of this machine may be wrong, so a date is compared with that of the reply
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    date = _date(value)
    return None if date is None else max(0.0, (date - now).total_seconds())


def _parse_number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def status_error(
    status: int, headers: Mapping[str, str], body: str, *, secrets: Iterable[str], api_key_env: str
) -> BackendError:
    """Return the error for an HTTP status other than success."""
    secrets = tuple(secrets)
    body = redact(body, secrets)
    words, code = _server_message(body)
    message = f"the endpoint answered {status}: {words or 'no message'}"
    kind, retryable = "transport_error", status >= 500 or status in TEMPORARY_REFUSALS
    if status == 429:
        kind, retryable = "rate_limited", code != "insufficient_quota"
    elif status == 408:
        kind = "timeout"
    elif 400 <= status < 500 and not retryable:
        kind = "rejected"
        message += f"; check the key in {api_key_env}" if api_key_env and status in (401, 403) else ""
    elif status < 400:
        location = redact(headers.get("location", "elsewhere"), secrets).partition("?")[0]
        message = (
            f"the endpoint answered {status}: it redirects to {location}; put that address into base_url"
        )
    return BackendError(
        message,
        status=kind,
        raw=body[:MAX_RAW],
        retryable=retryable,
        retry_after=retry_after(headers) if retryable else None,
    )


def _server_message(body: str) -> tuple[str, str]:
    """Return (message, code) from the body of an error, which is JSON of any structure or plain text."""
    try:
        value = parse_json(body)
    except ValueError:
        return short_message(body), ""
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        words = error.get("message") or error.get("detail") or value.get("detail") or error
        return short_message(words), str(error.get("code") or error.get("type") or "")
    return short_message(error), ""


def message_of_error_body(body: object) -> str:
    """Return the message of an error that came with a success status; "" if the body is no error."""
    if not isinstance(body, dict) or not body.get("error"):
        return ""
    return _server_message(json.dumps({"error": body["error"]}, default=str))[0]


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of that, and so on."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def no_answer_in_time(endpoint: str, timeout: float) -> BackendError:
    """Return the error of a call that took too long."""
    return BackendError(f"no answer from {endpoint} within {timeout:g} s", status="timeout", retryable=True)


def short_message(words: object) -> str:
    """Return a message as one line of at most ``MAX_MESSAGE`` characters."""
    text = " ".join((words if isinstance(words, str) else json.dumps(words, default=str)).split())
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 3]}..."


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
