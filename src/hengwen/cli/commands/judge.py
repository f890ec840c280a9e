"""``hengwen judge FILE -o OUT``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options


def judge(
    file: Annotated[
        Path, typer.Argument(help=".jsonl or .csv with id and output, optionally input and references.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Output file for the verdicts, .jsonl or .csv.")
    ],
    rubric: Annotated[str, typer.Option("--rubric", help="A packaged rubric, or the path of one.")],
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    column: options.Columns = None,
    prompt_lang: options.PromptLang = "zh",
    store: options.Store = options.DEFAULT_STORE,
    concurrency: options.Concurrency = options.DEFAULT_CONCURRENCY,
    limit: options.Limit = None,
    price: options.Price = None,
    wait: options.Wait = False,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
) -> None:
    """Judge stored answers by a rubric.

    Without --judge, only the rules of the rubric are applied, as a baseline without a language model.
    """
    from hengwen._internal.gc_tuning import relaxed_gc
    from hengwen.cli.ui.existing_store import open_or_create_store
    from hengwen.cli.ui.language import choose_language
    from hengwen.cli.ui.messages import print_error, print_info, print_waiting
    from hengwen.cli.ui.output import exit_code, show_bill
    from hengwen.cli.ui.progress import progress_bar
    from hengwen.runs.judge_file import judge_file
    from hengwen.runs.options import RunOptions

    prompt_language = options.parse_language(prompt_lang, "--prompt-lang")
    with open_or_create_store(store) as opened, relaxed_gc(), progress_bar(quiet=quiet) as progress:
        result = judge_file(
            file,
            output,
            rubric=rubric,
            store=opened,
            judge=judge,
            base_url=base_url,
            columns=dict(options.parse_pairs("--column", column)),
            language=prompt_language,
            options=RunOptions(
                concurrency=concurrency,
                limit=limit,
                price=options.parse_price(price),
                wait=print_waiting if wait else False,
                progress=progress,
            ),
        )
    if not quiet:
        print_info(f"{output}: written; hengwen report --plan {result.plan} shows the means")
    show_bill(result.bill, choose_language(None), quiet=quiet)
    code = exit_code(result, strict=strict)
    if code == 0 and not result.judged:
        print_error(f"none of {result.answers} answers has a level, first reason: {result.first_reason}")
        code = 1
    raise typer.Exit(code)
