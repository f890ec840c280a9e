"""``hengwen doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from hengwen.cli import options

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
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    rubric: Annotated[str, typer.Option("--rubric", help="Of the canaries.")] = "persona_generic",
) -> None:
    """Say what this installation has; with --judge, how often packaged attacks fool that judge."""
    if judge is not None:
        from hengwen.cli.canaries import show_canaries

        show_canaries(judge, base_url, rubric)
        return
    import os
    import platform
    from importlib.metadata import requires, version
    from importlib.util import find_spec

    from hengwen import registry
    from hengwen.checkpoint_run import PACKAGES

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
    from hengwen.cli.runs import existing_store
    from hengwen.errors import HengwenError

    try:
        with existing_store(where) as opened:
            return f"store {opened.name}: {len(opened.runs())} runs"
    except HengwenError as error:
        return f"store: {error}"
