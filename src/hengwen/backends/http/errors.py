"""What a failed call means: its status, whether another try may help, the server's words without keys."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from hengwen.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RAW_LIMIT = 20_000
"""Characters of a failed body that are kept."""


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return a text in which no secret stands.

    Examples:
        >>> redact("bad key sk-12345678", ["sk-12345678"])
        'bad key [hidden]'
    """
    for secret in secrets:
        text = text.replace(secret, "[hidden]")
    return text


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a server asks to wait, from ``retry-after-ms`` or ``retry-after``.

    Args:
        headers: By lower-case name, or case-insensitive.
        now: To count an HTTP date from; default: the clock.

    Returns:
        At least 0; None where nothing usable was said.

    Examples:
        >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after": "soon"})
        (2.5, None)
        >>> retry_after({"retry-after": "Wed, 01 Jan 2025 00:00:07 GMT"}, datetime(2025, 1, 1, tzinfo=UTC))
        7.0
    """
    said = headers.get("retry-after-ms")
    if said is not None and (milliseconds := _seconds(said)) is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    if said is None:
        return None
    seconds = _seconds(said)
    return _until(said, now or datetime.now(UTC)) if seconds is None else seconds


def _seconds(said: str) -> float | None:
    try:
        value = float(said)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(said: str, now: datetime) -> float | None:
    try:
        when = parsedate_to_datetime(said)
    except (ValueError, TypeError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())


def status_error(
    status: int, headers: Mapping[str, str], body: str, *, secrets: Iterable[str], api_key_env: str
) -> BackendError:
    """Return the error for an HTTP status that is no success.

    Args:
        status: 300 to 599.
        headers: Of the answer.
        body: Of the answer.
        secrets: What must not be shown.
        api_key_env: The variable that holds the key, to name where the endpoint refuses it.

    Examples:
        >>> error = status_error(429, {"retry-after": "3"}, "slow down", secrets=(), api_key_env="K")
        >>> error.status, error.retryable, error.retry_after, str(error)
        ('rate_limited', True, 3.0, 'the endpoint answered 429: slow down')
    """
    hidden = tuple(secrets)
    body = redact(body, hidden)
    words, code = _server_words(body)
    message = f"the endpoint answered {status}: {words or 'no message'}"
    kind, retryable = "transport_error", status >= 500
    if status == 429:
        kind, retryable = "rate_limited", code != "insufficient_quota"
    elif status == 408:
        kind, retryable = "timeout", True
    elif status in (401, 403):
        message += f"; check the key in {api_key_env}"
    elif status < 400:
        place = redact(headers.get("location", "elsewhere"), hidden).partition("?")[0]
        message = f"the endpoint answered {status}: it points to {place}; put that address into base_url"
    return BackendError(
        message,
        status=kind,
        raw=body[:RAW_LIMIT],
        retryable=retryable,
        retry_after=retry_after(headers) if retryable else None,
    )


def _server_words(body: str) -> tuple[str, str]:
    """Return (message, code) of an error body, whatever its shape."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return _short(body), ""
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict):
        words = error.get("message") or error.get("detail") or found.get("detail") or error
        return _short(words), str(error.get("code") or error.get("type") or "")
    return _short(error), ""


def error_words(body: object) -> str:
    """Return the message of an error that came with a success status, or "".

    Examples:
        >>> error_words({"error": {"message": "no such model"}}), error_words({"choices": []})
        ('no such model', '')
    """
    if not isinstance(body, dict) or not body.get("error"):
        return ""
    return _server_words(json.dumps({"error": body["error"]}, default=str))[0]


def _short(words: object) -> str:
    text = " ".join((words if isinstance(words, str) else json.dumps(words, default=str)).split())
    return text if len(text) <= 300 else f"{text[:297]}..."
