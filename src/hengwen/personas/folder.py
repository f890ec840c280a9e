"""Writing of a plan folder: all of its files or none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.personas.yaml_text import yaml_flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


MAX_NAME = 100
"""Characters of a plan's name."""


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON lines.

    Examples:
        >>> to_jsonl([{"id": "a"}, {"id": "⭐"}])
        '{"id": "a"}\\n{"id": "⭐"}\\n'
    """
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def name_after(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """Return the files with the plan named after its folder, so that two plans in one store differ in name.

    Args:
        folder: The folder of the plan.
        files: Contents by path, with a ``plan.yaml`` that has a ``name``.

    Examples:
        >>> from pathlib import Path
        >>> name_after(Path("my model (2)"), {"plan.yaml": "name: x\\ntasks: []\\n"})["plan.yaml"]
        'name: my-model-2\\ntasks: []\\n'
    """
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-._")[:MAX_NAME]
    plan = files["plan.yaml"]
    text = plan.decode() if isinstance(plan, bytes) else plan
    if name:
        text = re.sub(r"(?m)^name: .*$", lambda _: f"name: {yaml_flow(name)}", text, count=1)
    return {**files, "plan.yaml": text}


def write_folder(folder: Path, files: Mapping[str, str | bytes], *, force: bool = False) -> None:
    """Write files into a folder, which is created if needed; ``plan.yaml`` is written last.

    Args:
        folder: The folder.
        files: Contents by path below the folder.
        force: Overwrite existing files.

    Raises:
        ConfigError: A file exists already, or the folder cannot be written.
    """
    existing = [name for name in sorted(files) if (folder / name).exists()]
    if existing and not force:
        raise ConfigError(f"{folder / existing[0]} exists; name another folder or use --force")
    try:
        for name, text in sorted(files.items(), key=lambda item: item[0] == "plan.yaml"):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None
