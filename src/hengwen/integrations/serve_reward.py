"""``hengwen serve-reward PLAN``: a score of a plan as a reward over HTTP, for LLaMA-Factory and OpenRLHF."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from secrets import compare_digest
from typing import Any, NamedTuple

from aiohttp import web

from hengwen.engine.metered_backend import CallContext, Committer
from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.integrations.rewards import OnFailure, Rewards, TextScorer, openrlhf_reply
from hengwen.plans.plan import Plan
from hengwen.plans.suite import load_judges
from hengwen.protocols import Judge, Scorer
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.score_id import scores_of
from hengwen.store.store import Store

MAX_BODY = 64 << 20
_LOG = logging.getLogger(__name__)


class AnswerMarks(NamedTuple):
    """Texts around the answer, where a framework sends prompt and answer as one text; empty for none."""

    before: str = ""
    after: str = ""

    def answer(self, text: str) -> str:
        """Return the text after the last mark before the answer, up to the mark after it."""
        start = text.rpartition(self.before)[2] if self.before else text
        return start.partition(self.after)[0] if self.after else start


WHOLE_TEXT = AnswerMarks()


class RewardServer:
    """Answers requests ``POST /TOKEN`` with the rewards of answers."""

    def __init__(
        self, score: TextScorer, policy: OnFailure | float, token: str, marks: AnswerMarks = WHOLE_TEXT
    ) -> None:
        self._score = score
        self._rewards = Rewards(score, policy)
        self._token = token.encode()
        self._marks = marks

    def application(self) -> web.Application:
        """Return the web application."""
        application = web.Application(client_max_size=MAX_BODY)
        application.router.add_post("/{token}", self._reply)
        return application

    async def _reply(self, request: web.Request) -> web.Response:
        if not compare_digest(request.match_info["token"].encode(), self._token):
            raise web.HTTPForbidden(text="wrong token")
        try:
            body = await request.json()
            if "messages" in body:  # LLaMA-Factory
                texts = _texts(body, "messages")
                return web.json_response({"scores": (await self._scored(texts, [""] * len(texts), texts))[0]})
            queries, prompts = _texts(body, "query"), _texts(body, "prompts")
            answers = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts, strict=True)]
            rewards, failed = await self._scored(
                answers, prompts, body.get("labels") or [None] * len(answers)
            )
            return web.json_response(openrlhf_reply(rewards, failed))
        except DataError as error:  # a failure where failures are errors
            raise web.HTTPUnprocessableEntity(text=str(error)) from None
        except (ValueError, TypeError) as error:
            raise web.HTTPBadRequest(text=f"needs messages, or query and prompts: {error}") from None

    async def _scored(
        self, texts: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
    ) -> tuple[list[float | None], list[float]]:
        """Return rewards, and which of them stand for failures."""
        outcomes = await asyncio.gather(
            *(
                self._score.outcome_async(self._marks.answer(text), prompt, {"label": label} if label else {})
                for text, prompt, label in zip(texts, prompts, labels, strict=True)
            )
        )
        values = [self._rewards.value(outcome) for outcome in outcomes]
        failed = [float(value is None) for value in values]
        if sum(failed):
            _LOG.warning("hengwen: %d of %d answers have no score", sum(failed), len(failed))
        return self._rewards.replaced(values, prompts), failed


def _texts(body: Mapping[str, Any], key: str) -> list[str]:
    texts = body.get(key) if isinstance(body, dict) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{key} is a list of texts")
    return texts


@asynccontextmanager
async def plan_reward(
    plan: Plan, store: Store, address: str | None = None, *, trust: bool = False
) -> AsyncIterator[TextScorer]:
    """Open the score of a plan that it names as a reward; calls of a judge are limited and recorded."""
    if not plan.rewards:
        raise ConfigError(
            f"the plan has no rewards; add rewards: [{address or 'TASK/SCORE'}], by which reports mark them"
        )
    if address is not None and address not in plan.rewards:
        raise ConfigError(f"the plan has no reward {address!r}{did_you_mean(address, plan.rewards)}")
    chosen = address or plan.rewards[0]
    if address is None and len(plan.rewards) > 1:
        raise ConfigError(f"name one of the plan's rewards: {', '.join(plan.rewards)}")
    resources = RunResources(load_judges(plan, trust=trust), store, RunOptions())
    ledger = store.ledger()
    committer = Committer(ledger)
    context = CallContext(ledger, committer, resources.new_run_id(), resources.budget, resources.stopping)
    try:
        for task in resources.suite.tasks:
            judges: list[Scorer | Judge] = [*resources.judges(context, task, "")]
            for plugin in (*task.scorers, *judges):
                scores = scores_of(plugin, task.spec.name, is_judge=plugin in judges)
                for name, score in scores.items():
                    if score.address == chosen:
                        yield TextScorer(plugin, name)
                        return
        raise ConfigError(f"{chosen} is no score of a scorer or judge")
    finally:
        committer.flush()
        await resources.close()


@asynccontextmanager
async def serving(server: RewardServer, port: int = 0) -> AsyncIterator[int]:
    """Serve on the loopback interface; yield the port."""
    runner = web.AppRunner(server.application(), access_log=None)  # addresses have the token
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
