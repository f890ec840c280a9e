"""``hengwen init [DIR]``, also with ``--persona [FILE.yaml]``, ``--rubric`` or ``--scorer``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui.inputs import print_line


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Output folder, created if missing; default: the current folder."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.yaml",
            help="With --persona: the file of the character; default: the packaged example.",
        ),
    ] = None,
    persona: Annotated[
        bool,
        typer.Option(
            "--persona",
            help="Write a suite of the four persona tasks: the packaged example, or one for FILE.yaml.",
        ),
    ] = False,
    rubric: Annotated[
        bool, typer.Option("--rubric", help="Write rubric.yaml, a commented rubric, as a start for your own.")
    ] = False,
    scorer: Annotated[
        bool, typer.Option("--scorer", help="Write scorer.py, a small scorer, as a start for your own.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write a small plan that runs immediately, as a start for your own."""
    if (rubric or scorer) and (persona or file):
        raise typer.BadParameter("--rubric and --scorer write one file each, without --persona")
    if rubric or scorer:
        _write_own(folder or Path(), rubric=rubric, scorer=scorer, force=force)
        return
    if persona:
        _write_persona_suite(*_split_paths(folder, file), force=force)
        return
    if file is not None:
        raise typer.BadParameter(f"{str(file)!r}: a character file needs --persona")
    _write_starter(folder or Path(), force=force)


def _split_paths(*paths: Path | None) -> tuple[Path, Path | None]:
    """Return the folder and the character file (.yaml) from arguments in any order."""
    arguments = [path for path in paths if path is not None]
    yamls = [path for path in arguments if path.suffix.lower() in (".yaml", ".yml")]
    folders = [path for path in arguments if path not in yamls]
    if len(yamls) > 1 or len(folders) > 1:
        raise typer.BadParameter("--persona takes one folder and one character file (.yaml)")
    return (folders[0] if folders else Path()), (yamls[0] if yamls else None)


def _write_persona_suite(folder: Path, file: Path | None, *, force: bool) -> None:
    from hengwen.personas.persona import load_persona, name_after, write_folder
    from hengwen.personas.suites import example_suite, starter_suite

    if file is None:
        files = example_suite()
    else:
        files = starter_suite(load_persona(file))
        if file.resolve() != (folder / "persona.yaml").resolve():
            files["persona.yaml"] = file.read_bytes()
    write_folder(folder, name_after(folder, files), force=force, inputs=[file] if file else [])
    plan = folder / "plan.yaml"
    if file is None:
        print_line(f"wrote {len(files)} files; next: hengwen run {plan} -o report.html")
        return
    print_line(
        f"wrote {', '.join(sorted(files))}; next: put your own prompts and references into the "
        f".jsonl files, set the model's backend in {plan}, then: hengwen validate {plan}"
    )


def _write_own(folder: Path, *, rubric: bool, scorer: bool, force: bool) -> None:
    from importlib.resources import files

    from hengwen.personas.persona import write_folder

    own = files("hengwen.demo") / "own"
    uses = {
        "rubric.yaml": "judges: [{rubric: rubric.yaml}]" if rubric else "",
        "scorer.py": 'scorers: [{"scorer.py:Ending": {}}]' if scorer else "",
    }
    sources = {"rubric.yaml": "rubric.yaml", "scorer.py": "scorer.py.txt"}
    names = [name for name, use in uses.items() if use]
    write_folder(folder, {name: (own / sources[name]).read_bytes() for name in names}, force=force)
    for name in names:
        print_line(f"wrote {folder / name}; to use it, write in a task of a plan: {uses[name]}")


def _write_starter(folder: Path, *, force: bool) -> None:
    from importlib.resources import files

    from hengwen.personas.persona import name_after, write_folder

    starter = files("hengwen.demo") / "starter"
    contents = {item.name: item.read_bytes() for item in starter.iterdir() if item.is_file()}
    write_folder(folder, name_after(folder, contents), force=force)
    print_line(
        f"wrote {', '.join(sorted(contents))}; next: hengwen run {folder / 'plan.yaml'} -o report.html"
    )
