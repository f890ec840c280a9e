"""``hengwen init [DIR]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(help="Where; made where it is not.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write a small plan that runs at once, to start your own from."""
    from importlib.resources import files

    from hengwen.errors import ConfigError

    starter = files("hengwen.demo") / "starter"
    names = sorted(item.name for item in starter.iterdir() if item.is_file())
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise ConfigError(f"{folder / there[0]} exists; name another folder, or say --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).write_bytes((starter / name).read_bytes())
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None
    typer.echo(f"wrote {', '.join(names)}; next: hengwen run {folder / 'plan.yaml'} -o report.html")
