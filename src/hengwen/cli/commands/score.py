"""``hengwen score FILE -o OUT``, and ``hengwen score --refs REF HYP``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options


def score(
    file: Annotated[
        Path, typer.Argument(help=".jsonl or .csv with output (and template); with --refs a text by line.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The scores, .jsonl or .csv by extension.")
    ] = None,
    refs: Annotated[
        list[Path] | None, typer.Option("--refs", help="References, line by line; repeatable: several sets.")
    ] = None,
    metrics: Annotated[str, typer.Option("--metrics", help="With --refs, by commas.")] = "bleu,chrf,rougeL",
    scorer: Annotated[str, typer.Option("--scorer", help="Which scorer; see: hengwen doctor.")] = "lyric",
    option: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE: an option of the scorer; repeatable."),
    ] = None,
    column: options.Columns = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes.")] = 1,
    strict: options.Strict = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Score stored answers in one file; a row that cannot be scored is a row that says why.

    With --refs: corpus BLEU, chrF, TER and ROUGE of a text file against reference files, printed.
    """
    if refs:
        from hengwen.cli.ui.corpus_table import show_corpus

        show_corpus(file, refs, [name.strip() for name in metrics.split(",")], as_json=as_json)
        return
    if output is None:
        raise typer.BadParameter("say where to write: -o OUT.jsonl or OUT.csv (or compare with --refs)")
    from hengwen.cli.ui.messages import print_error, print_info, print_warning
    from hengwen.cli.ui.progress import count_bar
    from hengwen.runs.score_file import score_file

    with count_bar("rows", quiet=quiet) as progress:
        done = score_file(
            file,
            output,
            scorer=scorer,
            options={name: _value(text) for name, text in options.pairs("--set", option)},
            columns=dict(options.pairs("--column", column)),
            workers=workers,
            progress=progress,
        )
    if not quiet:
        print_info(f"{output}: scored {done.rows - done.failed} of {done.rows} rows")
    if done.failed == done.rows:
        print_error(f"not one row could be scored, first: {done.first_failure}")
        raise typer.Exit(1)
    if done.failed:
        print_warning(f"{done.failed} rows failed, first: {done.first_failure}")
        raise typer.Exit(1 if strict else 0)


def _value(text: str) -> object:
    """Read a value as a plan would."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
