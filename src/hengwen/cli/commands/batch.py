"""``hengwen batch export PLAN DIR`` and ``hengwen batch import PLAN FILE...``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.commands.run import PlanPath
from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_or_create_store, print_info, print_warning
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.usage import Commands, Without
from hengwen.errors import ConfigError, DataError

app = Commands(help="Answer the calls of a plan by a batch endpoint, at a lower price.")
PlanCalls = Annotated[
    Calls, Without("concurrency", "budget", "price", "time_limit", "dry_run", "fresh", "wait")
]


@app.command("export")
def export(
    plan: PlanPath,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the files of requests.")],
    as_json: options.Json = False,
    *,
    calls: PlanCalls,
) -> None:
    """Write the missing calls to files in the format of OpenAI's Batch API; no call is made."""
    from hengwen.plans.overrides import resolve_plan
    from hengwen.runs.batch import export_calls

    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder; hengwen batch export writes files into a folder")
    loaded = resolve_plan(calls.load(plan), judge=calls.judge, base_url=calls.base_url)
    with open_or_create_store(calls.store) as store:
        files, count, others = export_calls(loaded, store, calls.run_options(), folder)
    if others:
        print_warning(f"{others:,} calls are not exported: their backends have no batch endpoint")
    if as_json:
        typer.echo(json.dumps({"schema": 1, "exported": list(map(str, files)), "calls": count}))
        return
    for path in files:
        print_info(f"exported: {path}")
    done = f"{count:,} calls; when they are answered: hengwen batch import {plan} REPLIES"
    print_info(done if files else "no calls exported" if others else "no calls needed")


@app.command("import")
def import_(
    plan: PlanPath,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files with replies.")],
    as_json: options.Json = False,
    *,
    calls: PlanCalls,
) -> None:
    """Store the replies to exported calls for the next run; exits with 4 while calls have no reply."""
    from hengwen.plans.overrides import resolve_plan
    from hengwen.runs.batch import import_replies

    missing = next((path for path in files if not path.is_file()), None)
    if missing is not None:
        raise ConfigError(f"{missing}: no such file")
    loaded = resolve_plan(calls.load(plan), judge=calls.judge, base_url=calls.base_url)
    with open_or_create_store(calls.store) as store:
        counts, problems = import_replies(loaded, store, calls.run_options(), files)
    names = ("imported", "failed", "stored", "unknown", "missing")
    if as_json:
        typer.echo(json.dumps({"schema": 1, **{name: counts[name] for name in names}}))
    else:
        print_info(
            f"{counts['imported']:,} replies imported, {counts['stored']:,} already stored; "
            f"{counts['missing']:,} calls have no reply yet; next: hengwen run {plan}"
        )
    if counts["unknown"]:
        print_warning(f"{counts['unknown']:,} replies to calls that this plan does not make are left out")
    if problems:
        more = f", and {len(problems) - 1:,} more lines without a reply" if problems[1:] else ""
        raise DataError(f"{problems[0]}{more}; all other replies are in the store")
    if counts["missing"]:
        raise typer.Exit(4)
