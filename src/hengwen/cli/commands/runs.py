"""``hengwen runs list|show|pin|rm``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options

if TYPE_CHECKING:
    from hengwen.store import Store

app = typer.Typer(help="List, show, pin and remove the runs of a store.", no_args_is_help=True)
RunName = Annotated[
    str, typer.Argument(help="A run id or a prefix of one, or a checkpoint name (its newest run).")
]


def open_existing_store(where: str) -> Store:
    """Open a store to read; a file that is not there is an error, not a new store."""
    from hengwen.errors import ConfigError
    from hengwen.store import open_store

    if "://" not in where and not Path(where).exists():
        raise ConfigError(f"{where}: no such store; name it with --store, or make one with: hengwen run")
    return open_store(where)


@app.command("list")
def list_(store: options.Store = options.DEFAULT_STORE) -> None:
    """List the runs, newest first; * marks the pinned baseline of a plan."""
    with open_existing_store(store) as opened:
        pinned = set(opened.baselines().values())
        for run in opened.runs():
            mark = "*" if run.id in pinned else " "
            step = "" if run.step is None else f" step {run.step}"
            typer.echo(f"{mark} {run.id}  {run.status:<11}  {run.plan}  {run.checkpoint}{step}")


@app.command("show")
def show(run: RunName, store: options.Store = options.DEFAULT_STORE) -> None:
    """Show what a run was made with."""
    with open_existing_store(store) as opened:
        found = opened.find(run)
        table = opened.table([found])
        usage = opened.usage([found])
    for name in ("id", "plan", "checkpoint", "step", "status", "started", "plan_hash", "seed"):
        typer.echo(f"{name}: {getattr(found, name)}")
    typer.echo("versions: " + ", ".join(f"{name} {version}" for name, version in found.versions.items()))
    for role, paid in usage.items():
        tokens = f"{paid.input_tokens} tokens in, {paid.output_tokens} out"
        typer.echo(f"calls of the {role}: {paid.calls} ({tokens})")
    for key, column in table.series.items():
        scored = sum(status == "ok" for status in column.statuses)
        typer.echo(
            f"{key.address}: {scored} of {len(column.statuses)}  {', '.join(sorted(column.signatures))}"
        )


@app.command("pin")
def pin(run: RunName, store: options.Store = options.DEFAULT_STORE) -> None:
    """Make a run the baseline of its plan."""
    from datetime import UTC, datetime

    with open_existing_store(store) as opened:
        found = opened.find(run)
        opened.pin(found, datetime.now(UTC).isoformat(timespec="seconds"))
    typer.echo(f"{found.id} ({found.checkpoint}) is the baseline of {found.plan}")


@app.command("rm")
def remove(
    run: RunName,
    store: options.Store = options.DEFAULT_STORE,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a run with its answers and scores. Replies that were paid for stay, and can be used again."""
    with open_existing_store(store) as opened:
        found = opened.find(run)
        if not yes:
            typer.confirm(f"remove {found.id} ({found.plan}, {found.checkpoint})?", abort=True, err=True)
        opened.remove(found)
    typer.echo(f"removed {found.id}")
