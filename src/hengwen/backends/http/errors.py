"""Convert failed HTTP calls to errors: status, whether to retry, and the server's message without secrets."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache

from hengwen.errors import BackendError
from hengwen.io.untrusted_json import parse_json

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
