"""``hengwen import muchin FILE -o DIR`` and ``hengwen import muice FILE.md -o DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hengwen.importers.notes import ImportNote

app = typer.Typer(help="Turn files of other projects into plans.", no_args_is_help=True)


@app.command("muchin")
def muchin(
    file: Annotated[
        Path, typer.Argument(help="JSONL or CSV with id, checkpoint, repeat, theme, template, lyric.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder to write; made where it is not.")
    ],
    checkpoints: Annotated[
        str | None,
        typer.Option(help="Names in the order of training, by commas; default: the order of the file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a plan that is there.")] = False,
) -> None:
    """Turn lyrics that checkpoints wrote for MuChin templates into a plan: DIR/plan.yaml."""
    from hengwen.cli.ui.messages import print_warning
    from hengwen.importers.muchin import import_muchin

    order = [name.strip() for name in checkpoints.split(",")] if checkpoints else None
    found = import_muchin(file, output, order=order, force=force)
    if order is None:
        print_warning(
            f"the order of training is taken from the file: {', '.join(found.checkpoints)}; "
            "change it in the plan where it is wrong"
        )
    typer.echo(
        f"{found.plan}: {found.prompts} prompts, {found.answers} lyrics, {len(found.checkpoints)} checkpoints"
    )


@app.command("muice")
def muice(
    file: Annotated[Path, typer.Argument(help="The Muice evaluation document, Markdown, as published.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder to write; made where it is not.")
    ],
    test_split: Annotated[
        Path | None,
        typer.Option(
            help="Rows of the comprehensive task: ShareGPT, alpaca or prompt/label; JSON, JSONL, CSV."
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Training data: answers that stand in it are capped; the test split is searched in it."
        ),
    ] = None,
    topics: Annotated[str, typer.Option(help="Posts to ask for: code (six) or legacy5.")] = "code",
    subchoice: Annotated[
        str, typer.Option(help="Of greetings and holiday: one prompt, or one_of_each.")
    ] = "one",
    pick: Annotated[
        str | None, typer.Option(help="That prompt by name, such as 早上; default: by the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(envvar="HENGWEN_SEED", help="Chooses that prompt.")] = 0,
    preset: Annotated[
        str, typer.Option(help="Sampling parameters: muice-llmtuner, muicebot or provider-default.")
    ] = "muice-llmtuner",
    exempt_duplicates: Annotated[
        bool,
        typer.Option("--exempt-duplicates", help="Items with one right number may be answered alike."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Turn the Muice evaluation document into a plan with samples, prompts and rubrics: DIR/plan.yaml."""
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
    found = import_muice(file, output, test_split=test_split, corpus=corpus, options=options, force=force)
    for finding in found.notes:
        _say(file, finding)
    tasks = ", ".join(task.name for task in found.document.tasks)
    typer.echo(
        f"{found.plan}: {len(found.document.tasks)} tasks ({tasks}), {len(found.document.scorings)} rubrics, "
        f"{found.items} items, {found.examples} examples; {found.count('repair')} repaired, "
        f"{found.count('warning')} warnings: {output / REPAIRS}"
    )


def _say(file: Path, finding: ImportNote) -> None:
    from hengwen.cli.ui.messages import print_info, print_warning

    place = f"{file}:{finding.line}: " if finding.line else ""
    if finding.kind == "warning":
        print_warning(f"{place}{finding.message}")
    else:
        print_info(f"{place}{finding.kind}: {finding.message}")
