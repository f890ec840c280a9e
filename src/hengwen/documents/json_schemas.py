"""The JSON Schemas of the records of documents."""

from __future__ import annotations

from importlib.resources import files

from hengwen.errors import ConfigError, did_you_mean

_FOLDER = files("hengwen.documents") / "schemas"


def schema_kinds() -> list[str]:
    """Return the kinds of document that have a JSON Schema."""
    return sorted(
        file.name.removesuffix(".json") for file in _FOLDER.iterdir() if file.name.endswith(".json")
    )


def schema_text(kind: str) -> str:
    """Return the JSON Schema of the records of one kind."""
    kinds = schema_kinds()
    if kind not in kinds:
        raise ConfigError(f"unknown kind of result {kind!r}{did_you_mean(kind, kinds)}")
    return (_FOLDER / f"{kind}.json").read_text(encoding="utf-8")
