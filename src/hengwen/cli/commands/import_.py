"""``hengwen import scores``, ``import verdicts``, ``import muchin`` and ``import muice``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import print_info, print_line, print_warning
from hengwen.cli.ui.usage import Commands
from hengwen.text.numbers import plural

if TYPE_CHECKING:
    from hengwen.importers.muice.markdown_source import ImportNote
    from hengwen.runs.imported.record import ImportedRuns


@dataclass(frozen=True, slots=True)
class ImportNames:
    """Options that say under which names imported rows are stored."""

    judge_name: Annotated[
        str, typer.Option("--judge-name", help="Name of the judge that gave the scores.")
    ] = ""
    judge_version: Annotated[
        str,
        typer.Option(
            "--judge-version",
            help="Version of the judge or scorer; scores of one version can be compared across imports.",
        ),
    ] = ""
    task: Annotated[str, typer.Option("--task", help="Task of rows without one.")] = "scores"
    checkpoints: Annotated[
        str, typer.Option("--checkpoints", help="Comma-separated checkpoint names in training order.")
    ] = ""
    plan: Annotated[
        str,
        typer.Option("--plan", help="Name under which the runs are stored; default: name of the file."),
    ] = ""

    def arguments(self) -> dict[str, Any]:
        """Return the names as arguments of an import."""
        checkpoints = [name.strip() for name in self.checkpoints.split(",") if name.strip()]
        return {
            "judge": self.judge_name,
            "version": self.judge_version,
            "task": self.task,
            "checkpoints": checkpoints,
            "plan": self.plan,
        }


app = Commands(
    help="Import scores, verdicts and logs of other tools into a store, or files of other projects as plans."
)


@app.command("scores")
def scores(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Scores, .csv, .jsonl, .parquet or .json, or other tools' logs.",
        ),
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
    scorer: Annotated[str, typer.Option("--scorer", help="Name of the scorer that gave the scores.")] = "",
    scale: Annotated[
        str, typer.Option("--scale", help="1-10 (a range), 1,2,3 (levels) or A=3,B=2,C=1 (names of levels).")
    ] = "",
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Lower scores are better.")
    ] = False,
    checkpoint: Annotated[
        str, typer.Option("--checkpoint", help="Checkpoint of rows without one; default: name of the file.")
    ] = "",
    store: options.Store = options.DEFAULT_STORE,
    quiet: options.Quiet = False,
    *,
    names: ImportNames,
) -> None:
    """Record scores of another tool as runs, which report, compare, drift, gate and calibrate read.

    Cells that are empty, no number or off the scale, and rows with an error, are failures, never scores.
    """
    from hengwen.runs.imported.record import import_scores

    result = import_scores(
        files,
        store,
        columns=options.parse_columns(columns),
        scorer=scorer,
        checkpoint=checkpoint,
        scale=scale,
        lower_is_better=lower_is_better,
        **names.arguments(),
    )
    _show(result, store, quiet=quiet)


@app.command("verdicts")
def verdicts(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Verdicts on pairs, .csv, .jsonl, .parquet or .json; also of FastChat and AlpacaEval.",
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            help="FIELD=COLUMN,... such as winner=human_winner; default: by the names of columns. Fields: "
            "winner, model_a, model_b, question, judge, rater, turn, first, preference, length_a, length_b, "
            "prompt, answer_a, answer_b.",
        ),
    ] = None,
    winners: Annotated[
        str, typer.Option("--winners", help="What the winners mean, such as 1=a,2=b,0=tie.")
    ] = "",
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            help="Model with which all others are compared; default: the one in every verdict.",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    quiet: options.Quiet = False,
    *,
    names: ImportNames,
) -> None:
    """Record verdicts on pairs of answers as runs, whose score is the share of wins.

    Whatever names no winner is a failure, never a verdict. peer-review ranks the models of the store or file.
    """
    from hengwen.runs.imported.record import import_verdicts

    result = import_verdicts(
        files,
        store,
        columns=options.parse_columns(columns),
        winners=dict(options.parse_pairs("--winners", winners.split(",") if winners else None)),
        baseline=baseline,
        **names.arguments(),
    )
    _show(result, store, quiet=quiet)


def _show(result: ImportedRuns, store: str, *, quiet: bool) -> None:
    if not quiet:
        if result.columns:
            print_info(f"columns: {', '.join(result.columns)}")
        if result.unused:
            print_info(f"not read: {', '.join(result.unused)}")
        for note in result.notes:
            print_info(note)
        for failure in result.failed:
            print_info(failure)
        if result.unlisted:
            print_info(f"{result.unlisted} more; all of them: hengwen export {store} -o FILE.csv")
    failures = ", ".join(f"{number} {status}" for status, number in result.failures.items())
    failed = sum(result.failures.values())
    numbers = {"run": len(result.runs), "score": result.scores, "failure": failed}
    counts = ", ".join(plural(number, word) for word, number in numbers.items())
    known = "; known already, nothing recorded" if result.is_known else ""
    print_line(f"{store}: {counts}{f' ({failures})' if failures else ''}{known}")


@app.command("muchin")
def muchin(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL or CSV with the columns id, checkpoint, repeat, theme, template, lyric; "
            "or a pid_NNN_all.json of MuChin, or a folder of them."
        ),
    ],
    folder: Annotated[Path, typer.Option("-o", "--output", help="Output folder; created if missing.")],
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
    from hengwen.importers.muchin import import_muchin

    order = [name.strip() for name in checkpoints.split(",")] if checkpoints else None
    result = import_muchin(file, folder, order=order, force=force)
    if order is None and not result.has_steps:
        source = "names of folders" if file.is_dir() else "file"
        print_warning(
            f"training order taken from the {source}: {', '.join(result.checkpoints)}; "
            "correct it in the plan if it is wrong"
        )
    numbers = {"prompt": result.prompts, "lyric": result.answers, "checkpoint": len(result.checkpoints)}
    counts = ", ".join(plural(number, word) for word, number in numbers.items())
    print_line(f"{result.plan}: {counts}")


@app.command("muice")
def muice(
    file: Annotated[Path, typer.Argument(help="The Muice evaluation document, Markdown, as published.")],
    folder: Annotated[Path, typer.Option("-o", "--output", help="Output folder; created if missing.")],
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
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="What the document leaves open, NAME=VALUE; repeatable: topics=code (six) or legacy5, "
            "subchoice=one or one_of_each, pick=早上 (a greeting or holiday), seed=0 (that draws it), "
            "preset=muice-llmtuner, muicebot or provider-default, exempt_duplicates=true.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Convert the Muice evaluation document into a plan with samples, prompts and rubrics, DIR/plan.yaml."""
    from hengwen.importers.muice.importer import REPAIRS, MuiceOptions, import_muice
    from hengwen.registry import construct

    chosen = construct("--set", MuiceOptions, options.parse_settings(option))
    result = import_muice(file, folder, test_split=test_split, corpus=corpus, options=chosen, force=force)
    for note in result.notes:
        _print_note(file, note)
    document = result.document
    counts = {task: count for task, count in result.samples.items() if count}
    tasks = ", ".join(f"{task} {count}" for task, count in counts.items())
    repairs, warnings = result.count("repair"), result.count("warning")
    print_line(
        f"{result.plan}: {len(counts)} tasks with {sum(counts.values())} prompts ({tasks}), "
        f"{len(document.scorings)} rubrics with {result.examples} examples; {repairs} repaired, "
        f"{warnings} warnings: {folder / REPAIRS}"
    )


def _print_note(file: Path, note: ImportNote) -> None:

    location = f"{file}:{note.line}: " if note.line else ""
    if note.kind == "warning":
        print_warning(f"{location}{note.message}")
    else:
        print_info(f"{location}{note.kind}: {note.message}")
