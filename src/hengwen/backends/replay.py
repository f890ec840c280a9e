"""Recorded replies: for tests, and to read an old run again without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.endpoint import without_secrets
from hengwen.backends.openai.backend import signature
from hengwen.errors import BackendError, ConfigError
from hengwen.io.row_reader import DataRow, read_rows
from hengwen.records import Reply, Usage, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hengwen.records import Request

NAMES = ("key", "call_key", "identity", "messages")
"""By which a line says what it answers."""


class ReplayBackend:
    """Answers from a file of recorded replies, or from a list, and asks nobody.

    A line of the file names what it answers: ``key`` (see :func:`request_hash`), ``call_key`` (as stores keep
    it), ``identity`` or ``messages``; the reply is ``text`` (or ``raw``), with ``model``, ``finish``,
    ``latency``, ``form``, ``input_tokens`` and ``output_tokens`` where they are known. A ``status`` that is
    not ``ok`` is an error, unless another line answers the same. The same request always gets the same reply.

    Args:
        file: JSONL.
        replies: In the place of a file: given in the order of the calls; an exception in it is raised.
        model: As it was called when the replies were recorded.
        base_url: As it was; the ``endpoint`` of call keys.
        api_key_env: Not read.
        params: As they were.
        timeout: Not needed.
        recorded_from: The provider that was asked, so that signatures are those of the recorded run.

    Raises:
        ConfigError: There is neither a file nor a list, or both.
        DataError: A line of the file is wrong; the message names it.

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
        self.signature = signature(recorded_from, model or "recorded", params or {})
        self.endpoint = without_secrets(base_url) if base_url else "replay"
        self._known = _read(Path(file)) if file is not None else {}
        self._next = None if replies is None else iter(replies)

    def __repr__(self) -> str:
        return f"ReplayBackend({self.signature!r})"

    async def complete(self, request: Request) -> Reply:
        """Return the recorded reply.

        Args:
            request: Looked up by its call key, then by its hash.

        Raises:
            BackendError: None is recorded (the message names the request), or an error is.
        """
        if self._next is not None:
            found: str | Reply | Exception | None = next(self._next, None)
        else:
            found = self._known.get(request.key(self.endpoint)) or self._known.get(request_hash(request))
        if found is None:
            raise BackendError(_unknown(request, self.endpoint))
        if isinstance(found, Exception):
            raise found
        return Reply(text=found) if isinstance(found, str) else found

    async def close(self) -> None:
        """Nothing is open."""


def request_hash(request: Request) -> str:
    """Return what identifies a request in a file of replies: its identity, else its messages; and its repeat.

    Args:
        request: Of a judge: fences are not in its identity. Of a subject: its messages.
    """
    return _hash(request.identity or request.messages, request.repeat)


def recorded(request: Request, reply: Reply) -> dict[str, Any]:
    """Return the line that makes a replay of a reply.

    Args:
        request: What was asked.
        reply: What came back.
    """
    line: dict[str, Any] = {"key": request_hash(request), "text": reply.text, "model": reply.model}
    line |= {"finish": reply.finish, "latency": reply.latency, "form": reply.form}
    return line | {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}


def _hash(identity: object, repeat: int) -> str:
    return digest(identity, repeat)


def _read(path: Path) -> dict[str, Reply | BackendError]:
    known: dict[str, Reply | BackendError] = {}
    for line in read_rows(path):
        key, answer = _key(line), _answer(line)
        if isinstance(answer, Reply) or not isinstance(known.get(key), Reply):
            known[key] = answer
    return known


def _key(line: DataRow) -> str:
    named = [name for name in NAMES if line.values.get(name)]
    if len(named) != 1:
        line.fail(f"a recorded reply needs one of {', '.join(NAMES)}, got {', '.join(named) or 'none'}")
    (name,) = named
    value = line.values[name]
    if name == "messages":
        if not isinstance(value, list) or not all(
            isinstance(turn, list) and len(turn) == 2 for turn in value
        ):
            line.fail("messages must be a list of [role, content]")
        return _hash(value, line.positive_int("repeat", 1))
    return _hash(value, line.positive_int("repeat", 1)) if name == "identity" else line.required_text(name)


def _answer(line: DataRow) -> Reply | BackendError:
    raw = line.values.get("text", line.values.get("raw"))
    text = raw if isinstance(raw, str) else ""
    status = line.text("status", "ok")
    if status != "ok":
        message = line.text("message", f"this call failed when it was recorded: {status}")
        return BackendError(message, status=status, raw=text)
    if not isinstance(raw, str):
        line.fail("field 'text' is missing")
    tokens = [_count(line, name) for name in ("input_tokens", "output_tokens")]
    return Reply(
        text=text,
        model=line.text("model", ""),
        usage=Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1]),
        latency=_seconds(line),
        finish=line.text("finish", "stop"),
        form=line.text("form", ""),
    )


def _count(line: DataRow, name: str) -> int:
    value = line.values.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        line.fail(f"field {name!r} must be a count, got {value!r}")
    return value


def _seconds(line: DataRow) -> float:
    value = line.values.get("latency") or 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        line.fail(f"field 'latency' must be seconds, got {value!r}")
    return float(value)


def _unknown(request: Request, endpoint: str) -> str:
    _, last = request.messages[-1] if request.messages else ("", "")
    begins = " ".join(last.split())[:60]
    return (
        f"no reply is recorded for request {request_hash(request)[:16]} "
        f"(call key {request.key(endpoint)[:16]}, repeat {request.repeat}): {begins!r}"
    )
