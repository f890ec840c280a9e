"""``hengwen serve-reward PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options

if TYPE_CHECKING:
    from hengwen.integrations.rewards import OnFailure
    from hengwen.integrations.serve_reward import AnswerMarks
    from hengwen.plans.plan import Plan
    from hengwen.store.store import Store


def serve_reward(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan; its rewards: name the score.")],
    score: Annotated[
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

    from hengwen.cli.ui.existing_store import open_or_create_store
    from hengwen.cli.ui.trust import load_trusted
    from hengwen.integrations.serve_reward import AnswerMarks

    loaded = load_trusted(plan, trust=trust)
    policy = _policy(on_failure)
    marks = AnswerMarks(answer_after, answer_before)
    with open_or_create_store(store) as opened:
        asyncio.run(_serve(loaded, opened, score, policy, marks, port, token or token_urlsafe(24)))


def _policy(text: str) -> OnFailure | float:
    from hengwen.errors import ConfigError

    policies: dict[str, OnFailure] = {"raise": "raise", "mean": "mean"}
    if text in policies:
        return policies[text]
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--on-failure is raise, mean or a number, got {text!r}") from None


async def _serve(
    plan: Plan,
    store: Store,
    score: str | None,
    policy: OnFailure | float,
    marks: AnswerMarks,
    port: int,
    token: str,
) -> None:
    import asyncio

    from hengwen.integrations.serve_reward import RewardServer, plan_reward, serving

    async with (
        plan_reward(plan, store, score, trust=True) as reward,
        serving(RewardServer(reward, policy, token, marks), port) as bound,
    ):
        typer.echo(f"http://127.0.0.1:{bound}/{token}")
        await asyncio.Event().wait()
