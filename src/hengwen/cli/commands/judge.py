"""``hengwen judge FILE -o OUT``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_or_create_store
from hengwen.cli.ui.messages import print_error, print_info
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.output import Face, exit_code
from hengwen.cli.ui.usage import Without


def judge(
    file: Annotated[
        Path, typer.Argument(help=".jsonl or .csv with id and output, optionally input and references.")
    ],
    target: Annotated[
        Path, typer.Option("-o", "--output", help="Output file for the verdicts, .jsonl or .csv.")
    ],
    rubric: Annotated[str, typer.Option("--rubric", help="A packaged rubric, or the path of one.")],
    column: options.Columns = None,
    prompt_lang: options.PromptLang = "zh",
    strict: options.Strict = False,
    *,
    calls: Annotated[Calls, Without("budget", "time_limit", "dry_run", "fresh", "trust")],
    face: Annotated[Face, Without("output", "lang", "as_json", "verbose")],
) -> None:
    """Judge stored answers by a rubric.

    Without --judge, only the rules of the rubric are applied, as a baseline without a language model.
    """
    from hengwen._internal.gc_tuning import relaxed_gc
    from hengwen.cli.ui.progress import progress_bar
    from hengwen.runs.judge_file import judge_file

    prompt_language = options.parse_language(prompt_lang, "--prompt-lang")
    with (
        open_or_create_store(calls.store) as opened,
        relaxed_gc(),
        progress_bar(quiet=face.quiet) as progress,
    ):
        result = judge_file(
            file,
            target,
            rubric=rubric,
            store=opened,
            judge=calls.judge,
            base_url=calls.base_url,
            columns=dict(options.parse_pairs("--column", column)),
            language=prompt_language,
            options=calls.run_options(progress=progress),
        )
    if not face.quiet:
        print_info(f"{target}: written; hengwen report --plan {result.plan} shows the means")
    face.show_bill(result.bill, face.language())
    code = exit_code(result, strict=strict)
    if code == 0 and not result.judged:
        print_error(f"none of {result.answers} answers has a level, first reason: {result.first_reason}")
        code = 1
    raise typer.Exit(code)
