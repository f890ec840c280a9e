"""``hengwen runs list|show|pin|rm`` and ``hengwen export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_existing_store, print_line
from hengwen.cli.ui.usage import Commands

app = Commands(help="List, show, pin and remove the runs of a store.")
RunName = Annotated[
    str, typer.Argument(help="A run id, a prefix of one, or a checkpoint name (its newest run).")
]


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
    """Show the details of a run: versions, calls, and the number of scored answers for each score."""
    with open_existing_store(store) as opened:
        stored = opened.find(run)
        table = opened.table([stored])
        usage = opened.usage([stored])
    for name in ("id", "plan", "checkpoint", "step", "status", "started", "plan_hash", "seed"):
        value = getattr(stored, name)
        if value is not None:
            print_line(f"{name}: {value}")
    if stored.versions:
        print_line("versions: " + ", ".join(f"{name} {text}" for name, text in stored.versions.items()))
    for role, role_usage in usage.items():
        tokens = f"{role_usage.input_tokens} tokens in, {role_usage.output_tokens} out"
        print_line(f"calls of the {role}: {role_usage.calls} ({tokens})")
    for key, column in table.series.items():
        scored = column.status_counts["ok"]
        print_line(f"{key.address}: {scored}/{len(column)}  {', '.join(sorted(column.signatures))}")


@app.command("pin")
def pin(run: RunName, store: options.Store = options.DEFAULT_STORE) -> None:
    """Make a run the baseline of its plan."""
    from datetime import UTC, datetime

    with open_existing_store(store) as opened:
        stored = opened.find(run)
        opened.pin(stored, datetime.now(UTC).isoformat(timespec="seconds"))
    print_line(f"{stored.id} ({stored.checkpoint}) is now the baseline of {stored.plan}")


@app.command("rm")
def remove(
    run: RunName,
    store: options.Store = options.DEFAULT_STORE,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Remove without asking.")] = False,
) -> None:
    """Remove a run with its answers and scores; paid replies stay in the store and can be reused."""
    with open_existing_store(store) as opened:
        stored = opened.find(run)
        if not yes:
            typer.confirm(f"remove {stored.id} ({stored.plan}, {stored.checkpoint})?", abort=True, err=True)
        opened.remove(stored)
    print_line(f"removed {stored.id}")


def export(
    target: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="File of the rows; the suffix .parquet, .csv or .jsonl selects the format."
        ),
    ],
    location: options.StoreArgument = options.DEFAULT_STORE,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            help="Run id, prefix of one, or checkpoint; repeatable; default: each checkpoint's newest run.",
        ),
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", help="Name of the plan; default: that of the newest run.")
    ] = None,
) -> None:
    """Write every answer with every score: one row for each score or failure."""
    from hengwen.store.export import check_target, rows

    check_target(target, location)
    with open_existing_store(location) as opened:
        count = rows(opened, run or (), plan=plan).write(target)
    print_line(f"{target}: {count} rows")
