"""Signatures, sampling parameters and response formats of backends, the same for every provider."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from hengwen.errors import BackendError, ConfigError, did_you_mean
from hengwen.protocols import Backend, Parsed, ParsingBackend
from hengwen.records import Reply, Request

RESERVED_PARAMS = ("messages", "model", "response_format", "stream")
"""Parameters that the backend sets; a plan may not set them."""
SCHEMA_NAME = "verdict"
"""Name that requests give to the JSON schema or to the tool."""

# Parameters are encoded by the json module, because orjson (used for messages) turns NaN into null.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

_SHORT_NAMES = {"temperature": "temp"}


def backend_signature(
    provider: str, model: str, params: Mapping[str, Any], structured: str | None = None
) -> str:
    """Return the signature of a backend: its provider, model, parameters and required response format."""
    parts = [f"{provider}/{model}"]
    parts += [f"{_SHORT_NAMES.get(name, name)}:{_format_value(params[name])}" for name in sorted(params)]
    parts += [f"structured:{structured}"] if structured else []
    return "|".join(parts)


def _format_value(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def call_params(params: Mapping[str, Any], request: Request, logprobs: int | None) -> dict[str, Any]:
    """Return the parameters of one request: its own, the seed of its repeat, and log-probabilities."""
    own = checked_params(request.params)
    seed = own.get("seed", params.get("seed"))
    if request.repeat > 1 and isinstance(seed, int) and not isinstance(seed, bool):
        own["seed"] = seed + request.repeat - 1
    if logprobs is not None:
        own |= {"logprobs": True, "top_logprobs": logprobs}
    return own


def checked_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of valid sampling parameters."""
    for name, value in params.items():
        if name in RESERVED_PARAMS:
            raise ConfigError(f"params may not set {name!r}: the backend does")
        try:
            encode(value)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"params: {name!r} cannot be sent: {error}") from None
    return dict(params)


def without_limits(schema: Any) -> Any:
    """Return a schema without ``maxLength``."""
    if isinstance(schema, dict):
        return {key: without_limits(value) for key, value in schema.items() if key != "maxLength"}
    return schema


SchemaMode = Literal["json_schema", "json_object", "tool", "text"]
"""Response format in which a schema is sent; the prompt describes it in words too, for the mode ``text``."""
SCHEMA_MODES: tuple[SchemaMode, ...] = get_args(SchemaMode)
"""All response formats, from the strictest to the loosest."""

UNSUPPORTED_STATUSES = (400, 404, 422, 501)
"""HTTP statuses with which endpoints refuse a parameter that they do not know."""

_PARAMETER_NAMES: dict[SchemaMode, re.Pattern[str]] = {
    "json_schema": re.compile(r"response[ _]?format|json[ _]?schema|structured[ _]?output", re.IGNORECASE),
    "json_object": re.compile(r"response[ _]?format|json[ _]?(?:object|mode)", re.IGNORECASE),
    "tool": re.compile(r"\btools?\b|tool_|function", re.IGNORECASE),
}


class SchemaModes:
    """Remembers which response formats one endpoint and model accepts."""

    def __init__(self, pinned: str | None = None) -> None:
        if pinned is not None and pinned not in SCHEMA_MODES:
            raise ConfigError(f"unknown structured {pinned!r}{did_you_mean(str(pinned), SCHEMA_MODES)}")
        self.pinned = pinned is not None
        self.current: SchemaMode = next((mode for mode in SCHEMA_MODES if mode == pinned), SCHEMA_MODES[0])
        self.takes_logprobs = True

    def of(self, request: Request) -> tuple[str, int | None]:
        """Return the response format of a request ("" without a schema), and its log-probabilities."""
        response_format = "" if request.schema is None else self.current
        return response_format, request.logprobs if self.takes_logprobs else None

    def downgrade_on(
        self, status: int | None, error: BackendError, response_format: str, logprobs: int | None
    ) -> bool:
        """Stop using a refused response format or log-probabilities."""
        if status not in UNSUPPORTED_STATUSES:
            return False
        words = str(error)
        if logprobs is not None and "logprob" in words.lower():
            self.takes_logprobs = False
            return True
        patterns = (pattern for mode, pattern in _PARAMETER_NAMES.items() if mode == response_format)
        pattern = next(patterns, None)
        return pattern is not None and pattern.search(words) is not None and self.downgrade(response_format)

    def downgrade(self, response_format: str) -> bool:
        """Stop using a format that does not work; return whether there is a looser format."""
        if self.pinned or response_format not in SCHEMA_MODES[:-1]:
            return False
        if self.current == response_format:
            self.current = SCHEMA_MODES[SCHEMA_MODES.index(self.current) + 1]
        return True

    def start_at(self, response_format: str) -> None:
        """Start at a format, because stricter formats are known not to work."""
        looser = SCHEMA_MODES[SCHEMA_MODES.index(self.current) :]
        if not self.pinned:
            self.current = next((mode for mode in looser if mode == response_format), self.current)


def parsing_backend(backend: Backend) -> ParsingBackend:
    """Return the backend itself if it can parse replies, else an adapter that parses its replies."""
    return backend if isinstance(backend, ParsingBackend) else _ParsingAdapter(backend)


class _ParsingAdapter:
    """Backend that adds ``complete_parsed`` to a backend that lacks it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return a reply together with the value that ``parse`` makes of it."""
        reply = await self._backend.complete(request)
        return reply, parse(reply)


class WrappedBackend:
    """Base of a backend that changes how another one is called; it has the signature of the other one."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def signature(self) -> str:
        """Signature of the wrapped backend."""
        return self._backend.signature

    @property
    def endpoint(self) -> str:
        """Endpoint of the wrapped backend."""
        return self._backend.endpoint

    async def close(self) -> None:
        """Close the wrapped backend."""
        await self._backend.close()
