"""Backend that returns recorded replies, for tests and to repeat an old run without calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hengwen.backends.http import without_secrets
from hengwen.backends.parameters import backend_signature
from hengwen.errors import BackendError, ConfigError
from hengwen.io.row_reader import DataRow, read_rows
from hengwen.records import Reply, Request, Usage, digest

KEY_FIELDS = ("key", "call_key", "identity", "messages")
"""Fields of a row in a file of replies; each row has exactly one of them, which identifies the request."""


class ReplayBackend:
    """Return replies from a file of recorded replies, or from a list, without calls.

    Each row of the file is the reply to one request. Exactly one of four fields identifies the request:
    ``key`` (see :func:`request_hash`), ``call_key`` (the key of the call in a store), ``identity`` (the
    prompt with a placeholder for random marks) or ``messages`` (the prompt). The field ``text`` (or ``raw``)
    is the reply. The fields ``model``, ``finish``, ``latency``, ``form``, ``input_tokens`` and
    ``output_tokens`` are optional. A row whose ``status`` is not ``ok`` makes its request fail, unless
    another row has a reply to this request. Equal requests get equal replies.

    Args:
        file: JSONL file of recorded replies.
        replies: Replies in the order of the calls, instead of a file. If an item of the list is an exception,
            it is raised.
        model: Name of the model when the replies were recorded.
        base_url: URL of the recorded endpoint. Rows with ``call_key`` need it, because the key depends on the
            URL.
        api_key_env: Not used.
        params: Parameters of the recorded backend.
        timeout: Not used.
        recorded_from: Provider of the recorded backend, such as ``openai``. Rows with ``call_key`` need it,
            because the key depends on the provider, the model and the parameters.

    Raises:
        ConfigError: Neither ``file`` nor ``replies`` is set, or both are set.
        DataError: A row of the file is invalid; the message names the row.

    Examples:
        >>> import asyncio
        >>> from hengwen.records import Request
        >>> backend = ReplayBackend(replies=["yes"])
        >>> asyncio.run(backend.complete(Request(messages=(("user", "Well?"),)))).text
        'yes'
    """

    def __init__(
        self,
        *,
        file: str | Path | None = None,
        replies: Iterable[str | Reply | Exception] | None = None,
        model: str = "",
        base_url: str | None = None,
        api_key_env: str = "",
        params: Mapping[str, Any] | None = None,
        timeout: float = 0.0,
        recorded_from: str = "replay",
    ) -> None:
        if (file is None) == (replies is None):
            raise ConfigError("replay needs either file (recorded replies as JSONL) or replies (a list)")
        self.signature = backend_signature(recorded_from, model or "recorded", params or {})
        self.endpoint = without_secrets(base_url) if base_url else "replay"
        self._by_key = _read(Path(file)) if file is not None else {}
        self._replies = None if replies is None else iter(replies)

    def __repr__(self) -> str:
        return f"ReplayBackend({self.signature!r})"

    async def complete(self, request: Request) -> Reply:
        """Return the recorded reply to a request; from a list of replies, return the next one.

        Args:
            request: Request. Its reply in the file is found by the call key (hash of prompt, ``repeat``,
                settings and endpoint), or else by :func:`request_hash` (hash of prompt and ``repeat``).

        Raises:
            BackendError: No reply is recorded (the message names the request), or the recorded reply is an
                error.
        """
        reply: str | Reply | Exception | None
        if self._replies is not None:
            reply = next(self._replies, None)
        else:
            reply = self._by_key.get(request.key(self.endpoint)) or self._by_key.get(request_hash(request))
        if reply is None:
            _, content = request.messages[-1] if request.messages else ("", "")
            beginning = " ".join(content.split())[:60]
            raise BackendError(
                f"no reply is recorded for request {request_hash(request)[:16]} "
                f"(call key {request.key(self.endpoint)[:16]}, repeat {request.repeat}): {beginning!r}"
            )
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply) if isinstance(reply, str) else reply

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def request_hash(request: Request) -> str:
    """The ``key`` of a request in a file of replies: a hash of its prompt and its ``repeat`` number."""
    return digest(request.identity or request.messages, request.repeat)


def _read(path: Path) -> dict[str, Reply | BackendError]:
    """Return the replies by request; an error stands only where no row has a reply."""
    by_key: dict[str, Reply | BackendError] = {}
    for row in read_rows(path):
        key, text, status = _key(row), row.values.get("text", row.values.get("raw")), row.text("status", "ok")
        if status != "ok":
            message = row.text("message", f"this call failed when it was recorded: {status}")
            raw = text if isinstance(text, str) else ""
            if not isinstance(by_key.get(key), Reply):
                by_key[key] = BackendError(message, status=status, raw=raw)
        elif not isinstance(text, str):
            row.fail("field 'text' is missing")
        else:
            tokens = [_amount(row, name) for name in ("input_tokens", "output_tokens")]
            by_key[key] = Reply(
                text=text,
                model=row.text("model"),
                usage=Usage(calls=1, input_tokens=int(tokens[0]), output_tokens=int(tokens[1])),
                latency=_amount(row, "latency"),
                finish=row.text("finish", "stop"),
                response_format=row.text("form"),
            )
    return by_key


def _key(row: DataRow) -> str:
    names = [name for name in KEY_FIELDS if row.values.get(name)]
    if len(names) != 1:
        row.fail(f"a recorded reply needs one of {', '.join(KEY_FIELDS)}, got {', '.join(names) or 'none'}")
    (name,) = names
    value = row.values[name]
    if name in ("key", "call_key"):
        return row.required_text(name)
    if name == "messages" and not (
        isinstance(value, list) and all(isinstance(turn, list) and len(turn) == 2 for turn in value)
    ):
        row.fail("messages must be a list of [role, content]")
    return digest(value, row.positive_int("repeat"))


def _amount(row: DataRow, name: str) -> float:
    value = row.values.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        row.fail(f"field {name!r} must be a number >= 0, got {value!r}")
    return value
