"""``hengwen doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from hengwen.cli.ui import options

EXTRAS = {
    "web": "fastapi",
    "ray": "ray",
    "postgres": "psycopg",
    "parquet": "pyarrow",
    "fast": "rjieba",
    "text": "nltk",
}


def doctor(
    store: options.Store = options.DEFAULT_STORE,
    judge: Annotated[
        str | None,
        typer.Option("--judge", envvar="HENGWEN_JUDGE", help="PROVIDER/MODEL to examine, or rules."),
    ] = None,
    base_url: options.BaseUrl = None,
    rubric: Annotated[
        str, typer.Option("--rubric", help="What the judge judges by: a packaged rubric, or the path of one.")
    ] = "persona_generic",
    language: Annotated[str, typer.Option("--lang", help="Of its prompt: zh or en.")] = "zh",
    generator: Annotated[
        str | None,
        typer.Option("--generator", help="The model whose answers it will judge: of one family?"),
    ] = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Say what this installation has; with --judge, whether that judge can be trusted with a rubric.

    The card of a judge: does it find the levels of the rubric's examples, see a wrong persona and spoilt
    answers, say the same twice, and how often do packaged attacks fool it? Exit codes: 0 admitted,
    3 not admitted, 4 inconclusive, 1 no verdict at all.
    """
    if judge is not None:
        from hengwen.cli.ui.judge_card import print_judge_card

        print_judge_card(
            judge,
            base_url,
            rubric,
            language=options.parse_language(language),
            generator=generator,
            dry=dry_run,
            as_json=as_json,
        )
        return
    import os
    import platform
    from importlib.metadata import requires, version
    from importlib.util import find_spec

    from hengwen import registry
    from hengwen.runs.checkpoint_run import PACKAGES

    typer.echo(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    typer.echo(", ".join(f"{name} {version(name)}" for name in PACKAGES))
    typer.echo(
        f"core dependencies: {sum('extra ==' not in name for name in requires('hengwen') or ())} declared"
    )
    for extra, module in EXTRAS.items():
        there = "installed" if find_spec(module) else f"not installed (pip install 'hengwen[{extra}]')"
        typer.echo(f"extra {extra}: {there}")
    for group in registry.BUILTINS:
        typer.echo(f"{group}: {', '.join(registry.known(group))}")
    key = "set" if os.environ.get("OPENAI_API_KEY") else "not set"
    typer.echo(f"OPENAI_API_KEY: {key}; it is used only where a plan or --judge names a judge that needs it")
    typer.echo(_store_line(store))


def _store_line(where: str) -> str:
    from hengwen.cli.commands.runs import open_existing_store
    from hengwen.errors import HengwenError

    try:
        with open_existing_store(where) as opened:
            return f"store {opened.name}: {len(opened.runs())} runs"
    except HengwenError as error:
        return f"store: {error}"
