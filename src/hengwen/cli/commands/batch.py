"""``hengwen batch submit|export|import|cancel PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.commands.run import PlanPath, evaluate_plan
from hengwen.cli.follow_up import FollowUp
from hengwen.cli.ui import language, options
from hengwen.cli.ui.messages import print_info, print_waiting
from hengwen.cli.ui.usage import Commands

app = Commands(help="Send the calls of a plan in files to a batch endpoint, at a lower price.")


@app.command("submit")
def submit(
    context: typer.Context,
    plan: PlanPath,
    output: options.Outputs = None,
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    limit: options.Limit = None,
    budget: options.Budget = None,
    price: options.Price = None,
    time_limit: options.TimeLimit = None,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
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
    lang: language.Lang = None,
    trust: options.Trust = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Evaluate the checkpoints of a plan in batches; the same command resumes an interrupted run."""
    from hengwen.runs.batch.options import BatchOptions
    from hengwen.runs.options import RunOptions

    batch = BatchOptions(
        poll_seconds=poll, online_below=online_below, report=None if quiet or as_json else print_info
    )
    run_options = RunOptions(
        limit=limit,
        budget=budget,
        price=options.parse_price(price),
        time_limit=time_limit,
        wait=print_waiting if wait else False,
        batch=batch,
    )
    evaluate_plan(
        plan,
        store,
        run_options,
        follow_up=FollowUp(context, plan, run_options),
        output=output,
        judge=judge,
        base_url=base_url,
        dry_run=dry_run,
        strict=strict,
        lang=lang,
        trust=trust,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


@app.command("export")
def export(
    context: typer.Context,
    plan: PlanPath,
    folder: Annotated[Path, typer.Argument(help="Folder for the files of requests.")],
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    limit: options.Limit = None,
    budget: options.Budget = None,
    price: options.Price = None,
    strict: options.Strict = False,
    trust: options.Trust = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write the calls to files for another program, such as vllm run-batch; no call is made."""
    from hengwen.errors import ConfigError
    from hengwen.runs.batch.options import BatchOptions
    from hengwen.runs.options import RunOptions

    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder; hengwen batch export writes files into a folder")
    run_options = RunOptions(
        limit=limit,
        budget=budget,
        price=options.parse_price(price),
        batch=BatchOptions(action="export", folder=folder),
    )
    evaluate_plan(
        plan,
        store,
        run_options,
        follow_up=FollowUp(context, plan, run_options),
        judge=judge,
        base_url=base_url,
        strict=strict,
        trust=trust,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


@app.command("import")
def import_(
    context: typer.Context,
    plan: PlanPath,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files with replies.")],
    output: options.Outputs = None,
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    limit: options.Limit = None,
    budget: options.Budget = None,
    price: options.Price = None,
    strict: options.Strict = False,
    lang: language.Lang = None,
    trust: options.Trust = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Read the replies to exported calls, and score them; exits with 4 while calls have no reply."""
    from hengwen.errors import ConfigError
    from hengwen.runs.batch.options import BatchOptions
    from hengwen.runs.options import RunOptions

    missing = next((path for path in files if not path.is_file()), None)
    if missing is not None:
        raise ConfigError(f"{missing}: no such file")
    batch = BatchOptions(action="import", files=tuple(files))
    run_options = RunOptions(limit=limit, budget=budget, price=options.parse_price(price), batch=batch)
    evaluate_plan(
        plan,
        store,
        run_options,
        follow_up=FollowUp(context, plan, run_options),
        output=output,
        judge=judge,
        base_url=base_url,
        strict=strict,
        lang=lang,
        trust=trust,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


@app.command("cancel")
def cancel(
    context: typer.Context,
    plan: PlanPath,
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    limit: options.Limit = None,
    trust: options.Trust = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Cancel the open batches of a plan, and keep the replies that are ready."""
    from hengwen.runs.batch.options import BatchOptions
    from hengwen.runs.options import RunOptions

    run_options = RunOptions(limit=limit, batch=BatchOptions(action="cancel"))
    evaluate_plan(
        plan,
        store,
        run_options,
        follow_up=FollowUp(context, plan, run_options),
        judge=judge,
        base_url=base_url,
        trust=trust,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )
