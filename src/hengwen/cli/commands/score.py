"""``hengwen score FILE`` by a scorer or a rubric; ``serve-reward PLAN`` over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_or_create_store, print_error, print_info, print_warning
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.output import Face, exit_code
from hengwen.cli.ui.usage import Without
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from hengwen.integrations.rewards import OnFailure
    from hengwen.runs.score_file import FileScoreResult
    from hengwen.store.store import Store

SCORERS_ONLY = ("scorer", "option", "workers", "engine")
JUDGES_ONLY = ("judge", "base_url", "store", "concurrency", "limit", "price", "wait", "prompt_lang")


def score(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help=".jsonl or .csv with output (and template), or id, output and input to judge."),
    ],
    target: Annotated[
        Path, typer.Option("-o", "--output", help="Output file for the scores, .jsonl or .csv.")
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
    rubric: Annotated[
        str | None,
        typer.Option(
            "--rubric",
            help="Judge by this rubric (name or path); without --judge, by its rules alone.",
        ),
    ] = None,
    column: options.Columns = None,
    workers: options.Workers = None,
    engine: options.Engine = "local",
    prompt_lang: options.PromptLang = "zh",
    strict: options.Strict = False,
    *,
    calls: Annotated[Calls, Without("budget", "time_limit", "dry_run", "fresh", "trust")],
    face: Annotated[Face, Without("output", "lang", "verbose")],
) -> None:
    """Score the answers in a file, or judge them by a rubric; a row without a score says why."""
    from hengwen.cli.ui.output import count_bar, progress_bar
    from hengwen.runs.score_file import judge_file, score_file

    columns = dict(options.parse_pairs("--column", column))
    if rubric is None:
        options.refuse(context, dict.fromkeys(JUDGES_ONLY, "needs --rubric"))
        with count_bar("rows", quiet=face.quiet) as count:
            result = score_file(
                file,
                target,
                scorer=scorer,
                options=options.parse_settings(option),
                columns=columns,
                workers=workers,
                engine=engine,
                progress=count,
            )
        _report(target, result, face)
        raise typer.Exit(_exit_code(result, strict=strict))
    options.refuse(context, dict.fromkeys(SCORERS_ONLY, "does not apply with --rubric"))
    language = options.parse_language(prompt_lang, "--prompt-lang")
    with open_or_create_store(calls.store) as opened, progress_bar(quiet=face.quiet) as progress:
        result, run = judge_file(
            file,
            target,
            rubric=rubric,
            store=opened,
            judge=calls.judge,
            base_url=calls.base_url,
            columns=columns,
            language=language,
            options=calls.run_options(progress=progress),
        )
    _report(target, result, face)
    if not face.quiet and not face.as_json:
        print_info(f"hengwen report --plan {run.plan} shows the means")
    face.show_bill(run.bill, face.language())
    code = exit_code(run, strict=strict)
    raise typer.Exit(code or _exit_code(result, strict=strict))


def _report(output: Path, result: FileScoreResult, face: Face) -> None:
    if face.as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps({"schema": 1, "output": str(output), **asdict(result)}, ensure_ascii=False))
    elif not face.quiet:
        print_info(f"{output}: scored {result.rows - result.failed} of {result.rows} rows")


def _exit_code(result: FileScoreResult, *, strict: bool) -> int:
    """Print how many rows failed; return 1 if all failed, or if some failed and ``strict`` is set."""
    if result.failed == result.rows:
        print_error(f"no row could be scored, first failure: {result.first_failure}")
        return 1
    if result.failed:
        print_warning(f"{result.failed} rows failed, first failure: {result.first_failure}")
    return int(strict and result.failed > 0)


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
