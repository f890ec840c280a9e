"""Write the files of a plan into its folder; all paths are checked before the first file is written."""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.io.output_files import atomic_write, is_same_file
from hengwen.personas.plan_text import yaml_flow
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


MAX_NAME = 100
"""Maximum number of characters of a plan's name."""


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON lines; lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    return "".join(replace_surrogates(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def name_after(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """Return the files of a plan after setting the plan's name to the name of its folder."""
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-._")[:MAX_NAME]
    plan = files["plan.yaml"]
    text = plan.decode() if isinstance(plan, bytes) else plan
    if name:
        text = re.sub(r"(?m)^name: .*$", lambda _: f"name: {yaml_flow(name)}", text, count=1)
    return {**files, "plan.yaml": text}


def write_folder(
    folder: Path, files: Mapping[str, str | bytes], *, force: bool = False, inputs: Sequence[Path] = ()
) -> None:
    """Write files into a folder, which is created if needed; ``plan.yaml`` is written last."""
    targets = {name: _target(folder, name) for name in sorted(files)}
    for target in targets.values():
        for path in inputs:
            if is_same_file(target, path):
                raise ConfigError(f"{target}: the import would replace the input {path}; name another folder")
        if os.path.lexists(target) and not force:
            raise ConfigError(f"{target} exists; name another folder or use --force")
    try:
        for target in targets.values():
            target.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as writes:
            plan_first = sorted(files, key=lambda name: name != "plan.yaml")
            for name in plan_first:  # ExitStack completes the files in reverse order
                text = files[name]
                temporary = writes.enter_context(atomic_write(targets[name]))
                temporary.write_bytes(text.encode() if isinstance(text, str) else text)
    except FileExistsError:
        raise ConfigError(f"{folder}: is a file; name a folder") from None
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None


def _target(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder."""
    relative = Path(name)
    if relative.is_absolute() or relative.drive or ".." in relative.parts:
        raise ConfigError(f"file name {name!r} leads out of the folder {folder}")
    target = folder
    for part in relative.parts:
        target = target / part
        if target.is_symlink():
            raise ConfigError(
                f"{target}: is a link to {os.readlink(target)}, and nothing is written through a link; "
                "remove it, or name another folder"
            )
    return target
