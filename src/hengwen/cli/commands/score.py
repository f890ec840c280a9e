"""``hengwen score FILE``: score one file, or many (``--engine``); ``serve-reward PLAN`` over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_or_create_store
from hengwen.cli.ui.messages import print_error, print_info, print_warning
from hengwen.cli.ui.output import Face
from hengwen.cli.ui.usage import Without
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hengwen.integrations.rewards import OnFailure
    from hengwen.runs.score_file import FileScoreResult
    from hengwen.runs.shards.schedule import ShardPool
    from hengwen.store.store import Store

FOLDER_ONLY = ("ray_address", "shard_rows")


def score(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help=".jsonl or .csv with output (and template); with --engine any number of .jsonl and "
            ".parquet files or patterns.",
        ),
    ],
    target: Annotated[
        Path,
        typer.Option("-o", "--output", help="File for the scores, .jsonl or .csv; with --engine a folder."),
    ],
    scorer: Annotated[
        str, typer.Option("--scorer", help="Name of the scorer; see: hengwen doctor.")
    ] = "lyric",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Option of the scorer, NAME=VALUE; repeatable.",
        ),
    ] = None,
    column: options.Columns = None,
    workers: options.Workers = None,
    engine: Annotated[
        Literal["local", "ray"] | None,
        typer.Option(
            "--engine",
            help="Score many or large files into a folder, by processes of this machine or a Ray cluster.",
        ),
    ] = None,
    ray_address: options.RayAddress = None,
    shard_rows: Annotated[
        int, typer.Option("--shard-rows", min=1, help="With --engine: number of rows per output file.")
    ] = 5_000,
    strict: options.Strict = False,
    *,
    face: Annotated[Face, Without("output", "lang", "verbose")],
) -> None:
    """Score the answers in a file; a row that cannot be scored contains the reason instead."""
    from hengwen.cli.ui.progress import count_bar

    scoring: dict[str, Any] = {
        "scorer": scorer,
        "options": options.parse_settings(option),
        "columns": dict(options.parse_pairs("--column", column)),
    }
    if engine is None:
        from hengwen.runs.score_file import score_file

        options.refuse(context, dict.fromkeys(FOLDER_ONLY, "needs --engine"))
        if len(files) > 1:
            raise ConfigError(
                f"only --engine, with a folder for -o, scores several files, but {len(files)} files are named"
            )
        with count_bar("rows", quiet=face.quiet) as progress:
            result = score_file(files[0], target, **scoring, workers=workers, progress=progress)
        _report(target, result, face)
        _exit(result, strict=strict)
    else:
        from hengwen.runs.shards.score_folder import score_folder

        if engine == "local":
            options.refuse(context, {"ray_address": "needs --engine ray"})
        pool = _pool(engine, ray_address, workers)
        with count_bar("rows", quiet=face.quiet) as progress:
            folder = score_folder(files, target, pool, **scoring, shard_rows=shard_rows, progress=progress)
        if folder.reused and not face.is_silent:
            print_info(f"{target}: {folder.reused} of {folder.shards} shards were finished before")
        _report(target, folder, face)
        for error in folder.errors:
            print_error(f"not scored: {error}")
        if folder.errors:
            _warn_of_failed_rows(folder)
            raise typer.Exit(1)
        _exit(folder, strict=strict)


def _report(output: Path, result: FileScoreResult, face: Face) -> None:
    if face.as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps({"schema": 1, "output": str(output), **asdict(result)}, ensure_ascii=False))
    elif not face.quiet:
        print_info(f"{output}: scored {result.rows - result.failed} of {result.rows} rows")


def _exit(result: FileScoreResult, *, strict: bool) -> None:
    """Print how many rows failed; exit with 1 if all failed, or if some failed and ``strict`` is set."""
    if result.failed == result.rows:
        print_error(f"no row could be scored, first failure: {result.first_failure}")
        raise typer.Exit(1)
    _warn_of_failed_rows(result)
    if result.failed:
        raise typer.Exit(1 if strict else 0)


def _warn_of_failed_rows(result: FileScoreResult) -> None:
    if result.failed:
        print_warning(f"{result.failed} rows failed, first failure: {result.first_failure}")


def _pool(
    engine: Literal["local", "ray"], ray_address: str | None, workers: int | None
) -> AbstractContextManager[ShardPool]:
    """Return the workers of an engine, which start when they are needed."""
    if engine == "local":
        from hengwen.runs.shards.schedule import local_pool

        return local_pool(workers)
    from hengwen.runs.shards.ray_pool import import_ray, ray_pool

    import_ray(only_this_machine=ray_address is None)
    return ray_pool(ray_address, workers)


def serve_reward(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan; its rewards: name the score.")],
    reward: Annotated[
        str | None, typer.Option("--score", help="TASK/SCORE, if the plan names several rewards.")
    ] = None,
    on_failure: Annotated[
        str,
        typer.Option(
            "--on-failure",
            help="What an answer without a score gets: raise (HTTP 422), mean of the answers to the same "
            "prompt, or a number.",
        ),
    ] = "raise",
    answer_after: Annotated[
        str,
        typer.Option(
            "--answer-after",
            help="Text before the answer, if prompt and answer come as one text (LLaMA-Factory).",
        ),
    ] = "",
    answer_before: Annotated[str, typer.Option("--answer-before", help="Text after the answer.")] = "",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="HENGWEN_REWARD_TOKEN",
            help="Last part of the address, without which nobody gets a reward; default: a new one.",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    trust: options.Trust = False,
) -> None:
    """Serve a score of a plan as a reward over HTTP, on this machine only, until Ctrl-C."""
    import asyncio
    from secrets import token_urlsafe

    from hengwen.integrations.serve_reward import AnswerMarks, RewardServer, plan_reward, serving

    loaded = load_trusted(plan, trust=trust)
    policy, secret = _policy(on_failure), token or token_urlsafe(24)
    marks = AnswerMarks(answer_after, answer_before)

    async def serve(opened: Store) -> None:
        async with (
            plan_reward(loaded, opened, reward, trust=True) as scorer,
            serving(RewardServer(scorer, policy, secret, marks), port) as bound,
        ):
            typer.echo(f"http://127.0.0.1:{bound}/{secret}")
            await asyncio.Event().wait()

    with open_or_create_store(store) as opened:
        asyncio.run(serve(opened))


def _policy(text: str) -> OnFailure | float:
    policies: dict[str, OnFailure] = {"raise": "raise", "mean": "mean"}
    if text in policies:
        return policies[text]
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--on-failure is raise, mean or a number, got {text!r}") from None
