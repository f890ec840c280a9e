"""``hengwen init [DIR]``, and ``hengwen init [DIR] --persona [FILE.yaml]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where; made where it is not. Default: here.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE.yaml]", help="With --persona: the character; default: the packaged example."
        ),
    ] = None,
    persona: Annotated[
        bool,
        typer.Option(
            "--persona", help="A suite of the four persona tasks: the packaged example, or for FILE.yaml."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write a small plan that runs at once, to start your own from."""
    if persona:
        _persona(*_sorted(folder, file), force=force)
        return
    if file is not None:
        raise typer.BadParameter(f"{str(file)!r}: a character's file goes with --persona")
    _starter(folder or Path(), force=force)


def _sorted(*paths: Path | None) -> tuple[Path, Path | None]:
    """Tell the folder from the character's file, which ends in .yaml, in whatever order they came."""
    given = [path for path in paths if path is not None]
    yamls = [path for path in given if path.suffix.lower() in (".yaml", ".yml")]
    folders = [path for path in given if path not in yamls]
    if len(yamls) > 1 or len(folders) > 1:
        raise typer.BadParameter("--persona takes one folder and one character's file (.yaml)")
    return (folders[0] if folders else Path()), (yamls[0] if yamls else None)


def _persona(folder: Path, file: Path | None, *, force: bool) -> None:
    from hengwen.personas.folder import write_folder
    from hengwen.personas.persona import load_persona
    from hengwen.personas.suites import example_suite, starter_suite

    if file is None:
        files = example_suite()
    else:
        files = starter_suite(load_persona(file))
        if file.resolve() != (folder / "persona.yaml").resolve():
            files["persona.yaml"] = file.read_bytes()
    write_folder(folder, files, force=force)
    plan = folder / "plan.yaml"
    if file is None:
        typer.echo(f"wrote {len(files)} files; next: hengwen run {plan} -o report.html")
        return
    typer.echo(
        f"wrote {', '.join(sorted(files))}; next: put your own prompts and references into the "
        f".jsonl files, say in {plan} where the model answers, then: hengwen validate {plan}"
    )


def _starter(folder: Path, *, force: bool) -> None:
    from importlib.resources import files

    from hengwen.personas.folder import write_folder

    starter = files("hengwen.demo") / "starter"
    found = {item.name: item.read_bytes() for item in starter.iterdir() if item.is_file()}
    write_folder(folder, found, force=force)
    typer.echo(f"wrote {', '.join(sorted(found))}; next: hengwen run {folder / 'plan.yaml'} -o report.html")
