"""Signatures and sampling parameters of backends, the same for every provider."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.records import Request

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
