"""``hengwen import muchin FILE -o DIR`` and ``hengwen import muice FILE.md -o DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui.usage import Commands

if TYPE_CHECKING:
    from hengwen.importers.notes import ImportNote

app = Commands(help="Convert files of other projects into plans.")


@app.command("muchin")
def muchin(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL or CSV with the columns id, checkpoint, repeat, theme, template, lyric; "
            "or a pid_NNN_all.json of MuChin, or a folder of them."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Output folder; created if missing.")],
    checkpoints: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated checkpoint names in training order; default: the order in the file, "
            "or of the folder names."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing plan.")] = False,
) -> None:
    """Convert lyrics that checkpoints wrote for MuChin templates into a plan, DIR/plan.yaml."""
    from hengwen.cli.ui.messages import print_warning
    from hengwen.importers.muchin import import_muchin

    order = [name.strip() for name in checkpoints.split(",")] if checkpoints else None
    result = import_muchin(file, output, order=order, force=force)
    if order is None:
        source = "names of folders" if file.is_dir() else "file"
        print_warning(
            f"training order taken from the {source}: {', '.join(result.checkpoints)}; "
            "correct it in the plan if it is wrong"
        )
    counts = f"{result.prompts} prompts, {result.answers} lyrics, {len(result.checkpoints)} checkpoints"
    typer.echo(f"{result.plan}: {counts}")


@app.command("muice")
def muice(
    file: Annotated[Path, typer.Argument(help="The Muice evaluation document, Markdown, as published.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Output folder; created if missing.")],
    test_split: Annotated[
        Path | None,
        typer.Option(
            help="Test split of the comprehensive task: ShareGPT, alpaca or prompt/label; JSON, JSONL or CSV."
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Training data: answers copied from it are capped, and the test split is checked for leaks."
        ),
    ] = None,
    topics: Annotated[str, typer.Option(help="Post topics to request: code (six) or legacy5.")] = "code",
    subchoice: Annotated[
        str, typer.Option(help="Prompts for greetings and holidays: one, or one_of_each.")
    ] = "one",
    pick: Annotated[
        str | None, typer.Option(help="Name of that prompt, such as 早上; default: drawn by the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(envvar="HENGWEN_SEED", help="Seed that draws the prompt.")] = 0,
    preset: Annotated[
        str, typer.Option(help="Sampling parameters: muice-llmtuner, muicebot or provider-default.")
    ] = "muice-llmtuner",
    exempt_duplicates: Annotated[
        bool,
        typer.Option(
            "--exempt-duplicates", help="Allow equal answers to items with a single correct number."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Convert the Muice evaluation document into a plan with samples, prompts and rubrics, DIR/plan.yaml."""
    from hengwen.importers.muice.importer import REPAIRS, import_muice
    from hengwen.importers.muice.options import MuiceOptions

    options = MuiceOptions(
        topics=topics,
        subchoice=subchoice,
        pick=pick,
        seed=seed,
        preset=preset,
        exempt_duplicates=exempt_duplicates,
    )
    result = import_muice(file, output, test_split=test_split, corpus=corpus, options=options, force=force)
    for note in result.notes:
        _print_note(file, note)
    document = result.document
    tasks = ", ".join(task.name for task in document.tasks)
    typer.echo(
        f"{result.plan}: {len(document.tasks)} tasks ({tasks}), {len(document.scorings)} rubrics, "
        f"{result.items} items, {result.examples} examples; {result.count('repair')} repaired, "
        f"{result.count('warning')} warnings: {output / REPAIRS}"
    )


def _print_note(file: Path, note: ImportNote) -> None:
    from hengwen.cli.ui.messages import print_info, print_warning

    location = f"{file}:{note.line}: " if note.line else ""
    if note.kind == "warning":
        print_warning(f"{location}{note.message}")
    else:
        print_info(f"{location}{note.kind}: {note.message}")
