"""The JSON Schemas of the records of documents."""

from __future__ import annotations

import json
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
    text = (_FOLDER / f"{kind}.json").read_text(encoding="utf-8")
    for part in sorted((_FOLDER / "parts").iterdir(), key=lambda file: file.name):
        if f'"#/$defs/{part.name.removesuffix(".json")}"' in text:
            schema = json.loads(text)
            schema.setdefault("$defs", {}).update(json.loads(part.read_text(encoding="utf-8")))
            text = json.dumps(schema, ensure_ascii=False, indent=2)
    return text
