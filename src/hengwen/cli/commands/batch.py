"""``hengwen batch submit|export|import|cancel PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.commands.run import PlanPath, evaluate_plan
from hengwen.cli.follow_up import FollowUp
from hengwen.cli.ui import options
from hengwen.cli.ui.messages import print_info
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.output import Face
from hengwen.cli.ui.usage import Commands, Without
from hengwen.errors import ConfigError

app = Commands(help="Send the calls of a plan in files to a batch endpoint, at a lower price.")
ONLINE = ("concurrency", "fresh")
"""Options without an effect on batches."""
FileCalls = Annotated[Calls, Without(*ONLINE, "time_limit", "dry_run", "wait")]


@app.command("submit")
def submit(
    context: typer.Context,
    plan: PlanPath,
    poll: Annotated[
        float,
        typer.Option(
            "--poll",
            min=0,
            envvar="HENGWEN_POLL",
            help="Seconds between two questions for the state of the batches.",
        ),
    ] = 60.0,
    online_below: Annotated[
        int,
        typer.Option(
            "--online-below",
            min=0,
            envvar="HENGWEN_ONLINE_BELOW",
            help="Send a round of fewer calls than this one by one, at the full price.",
        ),
    ] = 0,
    strict: options.Strict = False,
    *,
    calls: Annotated[Calls, Without(*ONLINE)],
    face: Face,
) -> None:
    """Evaluate the checkpoints of a plan in batches; the same command resumes an interrupted run."""
    from hengwen.runs.options import BatchOptions

    report = None if face.is_silent else print_info
    batch = BatchOptions(poll_seconds=poll, online_below=online_below, report=report)
    evaluate_plan(plan, calls, face, strict=strict, follow_up=FollowUp(context, plan, batch))


@app.command("export")
def export(
    context: typer.Context,
    plan: PlanPath,
    folder: Annotated[Path, typer.Argument(help="Folder for the files of requests.")],
    strict: options.Strict = False,
    *,
    calls: FileCalls,
    face: Annotated[Face, Without("output", "lang")],
) -> None:
    """Write the calls to files for another program, such as vllm run-batch; no call is made."""
    from hengwen.runs.options import BatchOptions

    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder; hengwen batch export writes files into a folder")
    batch = BatchOptions(action="export", folder=folder)
    evaluate_plan(plan, calls, face, strict=strict, follow_up=FollowUp(context, plan, batch))


@app.command("import")
def import_(
    context: typer.Context,
    plan: PlanPath,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files with replies.")],
    strict: options.Strict = False,
    *,
    calls: FileCalls,
    face: Face,
) -> None:
    """Read the replies to exported calls, and score them; exits with 4 while calls have no reply."""
    from hengwen.runs.options import BatchOptions

    missing = next((path for path in files if not path.is_file()), None)
    if missing is not None:
        raise ConfigError(f"{missing}: no such file")
    batch = BatchOptions(action="import", files=tuple(files))
    evaluate_plan(plan, calls, face, strict=strict, follow_up=FollowUp(context, plan, batch))


@app.command("cancel")
def cancel(
    context: typer.Context,
    plan: PlanPath,
    *,
    calls: Annotated[Calls, Without(*ONLINE, "time_limit", "dry_run", "wait", "budget", "price")],
    face: Annotated[Face, Without("output", "lang")],
) -> None:
    """Cancel the open batches of a plan, and keep the replies that are ready."""
    from hengwen.runs.options import BatchOptions

    evaluate_plan(plan, calls, face, follow_up=FollowUp(context, plan, BatchOptions(action="cancel")))
