"""``hengwen score FILE -o OUT``, and ``hengwen score --refs REF HYP``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options


def score(
    file: Annotated[
        Path,
        typer.Argument(
            help=".jsonl or .csv with output (and template); with --refs a text file, one text per line."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Output file for the scores, .jsonl or .csv.")
    ] = None,
    refs: Annotated[
        list[Path] | None,
        typer.Option("--refs", help="Reference file, one text per line; repeatable for several references."),
    ] = None,
    metrics: Annotated[
        str, typer.Option("--metrics", help="Metrics for --refs, comma-separated.")
    ] = "bleu,chrf,rougeL",
    scorer: Annotated[
        str, typer.Option("--scorer", help="Name of the scorer; see: hengwen doctor.")
    ] = "lyric",
    option: Annotated[
        list[str] | None,
        typer.Option("--set", help="Option of the scorer, NAME=VALUE; repeatable."),
    ] = None,
    column: options.Columns = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Number of processes.")] = 1,
    strict: options.Strict = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Score the answers in a file; a row that cannot be scored contains the reason instead.

    With --refs, print corpus BLEU, chrF, TER and ROUGE of a text file against reference files.
    """
    if refs:
        from hengwen.cli.ui.corpus_table import show_corpus_scores

        show_corpus_scores(file, refs, [name.strip() for name in metrics.split(",")], as_json=as_json)
        return
    if output is None:
        raise typer.BadParameter("missing output file: -o OUT.jsonl or OUT.csv (or compare with --refs)")
    from hengwen.cli.ui.messages import print_error, print_info, print_warning
    from hengwen.cli.ui.progress import count_bar
    from hengwen.runs.score_file import score_file

    with count_bar("rows", quiet=quiet) as progress:
        result = score_file(
            file,
            output,
            scorer=scorer,
            options={name: _parse_value(text) for name, text in options.parse_pairs("--set", option)},
            columns=dict(options.parse_pairs("--column", column)),
            workers=workers,
            progress=progress,
        )
    if not quiet:
        print_info(f"{output}: scored {result.rows - result.failed} of {result.rows} rows")
    if result.failed == result.rows:
        print_error(f"no row could be scored, first failure: {result.first_failure}")
        raise typer.Exit(1)
    if result.failed:
        print_warning(f"{result.failed} rows failed, first failure: {result.first_failure}")
        raise typer.Exit(1 if strict else 0)


def _parse_value(text: str) -> object:
    """Parse a value as YAML, as in a plan."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
