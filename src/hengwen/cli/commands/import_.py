"""``hengwen import scores FILE...``, ``import muchin FILE -o DIR`` and ``import muice FILE.md -o DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.usage import Commands

if TYPE_CHECKING:
    from hengwen.importers.notes import ImportNote

app = Commands(
    help="Import scores of other tools into a store, or convert files of other projects into plans."
)


@app.command("scores")
def scores(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Scores, .csv, .jsonl or .parquet, one row per score."),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            help="FIELD=COLUMN,... such as score=judge_score,checkpoint=model; default: by the names of "
            "columns. Fields: score, id, checkpoint, step, task, judge, name, rater, repeat, cluster, "
            "failure, reason, stderr, n, prompt, answer, version.",
        ),
    ] = None,
    judge_name: Annotated[
        str, typer.Option("--judge-name", help="Name of the judge that gave the scores.")
    ] = "",
    scorer: Annotated[str, typer.Option("--scorer", help="Name of the scorer that gave the scores.")] = "",
    judge_version: Annotated[
        str,
        typer.Option(
            "--judge-version",
            help="Version of the judge or scorer; scores of one version can be compared across imports.",
        ),
    ] = "",
    scale: Annotated[
        str, typer.Option("--scale", help="1-10 (a range), 1,2,3 (levels) or A=3,B=2,C=1 (names of levels).")
    ] = "",
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Lower scores are better.")
    ] = False,
    task: Annotated[str, typer.Option("--task", help="Task of rows without one.")] = "scores",
    checkpoint: Annotated[
        str, typer.Option("--checkpoint", help="Checkpoint of rows without one; default: name of the file.")
    ] = "",
    checkpoints: Annotated[
        str, typer.Option("--checkpoints", help="Comma-separated checkpoint names in training order.")
    ] = "",
    plan: Annotated[
        str, typer.Option("--plan", help="Name under which the runs are stored; default: name of the file.")
    ] = "",
    store: options.Store = options.DEFAULT_STORE,
    quiet: options.Quiet = False,
) -> None:
    """Record scores of another tool as runs, which report, compare, drift, gate and calibrate read.

    Cells that are empty, no number or off the scale, and rows with an error, are failures, never scores.
    """
    from hengwen.cli.ui.messages import print_info
    from hengwen.runs.imported.record import import_scores

    pairs = [pair for text in columns or () for pair in options.parse_pairs("--columns", text.split(","))]
    result = import_scores(
        files,
        store,
        columns=pairs,
        plan=plan,
        task=task,
        judge=judge_name,
        scorer=scorer,
        version=judge_version,
        checkpoint=checkpoint,
        checkpoints=[name.strip() for name in checkpoints.split(",") if name.strip()],
        scale=scale,
        lower_is_better=lower_is_better,
    )
    if not quiet:
        print_info(f"columns: {', '.join(result.columns)}")
        if result.unused:
            print_info(f"not read: {', '.join(result.unused)}")
        for note in result.notes:
            print_info(note)
    failures = ", ".join(f"{number} {status}" for status, number in result.failures.items())
    failed = sum(result.failures.values())
    numbers = {"run": len(result.runs), "score": result.scores, "failure": failed}
    counts = ", ".join(f"{number} {word}{'s' * (number != 1)}" for word, number in numbers.items())
    known = "; known already, nothing recorded" if result.is_known else ""
    typer.echo(f"{store}: {counts}{f' ({failures})' if failures else ''}{known}")


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
