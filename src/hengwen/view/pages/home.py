"""The first page: plans, their last runs, what to ship, and what runs now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from hengwen.documents.answers.pairs import KEY_END
from hengwen.documents.blocks import Decision, Document, Text, Verdict
from hengwen.documents.run.courses import STATUS_WORDS
from hengwen.documents.run.document import report_document
from hengwen.errors import HengwenError
from hengwen.plans.endpoints import listed_price
from hengwen.records import Run
from hengwen.text.numbers import format_timestamp
from hengwen.view import words
from hengwen.view.data import Progress, StoreData, progress
from hengwen.view.page import address, awaited_document, respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

NEWS_SECONDS = 1.0
"""Seconds between two looks at what runs."""
MAX_RUNS = 12
"""Runs of a plan that the first page lists."""


class PlanRuns(NamedTuple):
    """A plan with its newest runs and its decision."""

    name: str
    runs: Sequence[Run]
    total: int
    document: Document | None
    """The report; None while it is being computed."""
    problem: str
    bullets: Sequence[Verdict] = ()
    """Reasons of the decision; their links lead to the prompts."""
    compared: str = ""
    """Address of the newest checkpoint compared, with the answers that got worse; empty if there is none."""


def show(request: Request) -> Response:
    """Show the plans of the store, the one that ran last first."""
    data = view_of(request).data
    drawn = state_of(data)  # before the reads: what changes meanwhile is news
    runs = data.store.runs()
    names = list(dict.fromkeys(run.plan for run in runs))
    plans = [_plan(data, name, [run for run in runs if run.plan == name]) for name in names]
    running = [(run, _progress(data, run)) for run in runs if run.status == "running"]
    return respond(
        request,
        "home.html.j2",
        title=words.PAGES["/"],
        notes=[data.name],
        plans=plans,
        running=running,
        statuses=STATUS_WORDS,
        timestamp=format_timestamp,
        drawn=drawn,
        refreshes=any(plan.document is None and not plan.problem for plan in plans),
    )


def _plan(data: StoreData, name: str, runs: Sequence[Run]) -> PlanRuns:
    latest = data.store.latest(name)
    document, problem = _report(data, latest)
    bullets = () if document is None else tuple(_linked(document, latest))
    compared = address("/compare", {"plan": name, "b": latest[-1].id}) if len(latest) > 1 else ""
    worse = [bullet.link.target for bullet in bullets if bullet.tone == "worse" and bullet.link]
    return PlanRuns(name, runs[:MAX_RUNS], len(runs), document, problem, bullets, (*worse, compared)[0])


def _linked(document: Document, runs: Sequence[Run]) -> Iterator[Verdict]:
    """Yield the reasons of a decision; their links lead to the comparison behind them."""
    decision = cast("Decision", document.blocks[0])
    scores = cast("dict[str, Any]", document.record["decision"])["scores"]
    peaks = {score["address"]: score["peak"] for score in scores}
    for bullet in decision.bullets:
        score = bullet.link.target.removesuffix(KEY_END) if bullet.link else ""
        if bullet.link and peaks.get(score):
            names = {"plan": runs[-1].plan, "a": peaks[score], "b": runs[-1].id, "score": score}
            target = address("/compare", {**names, "show": bullet.tone}) + "#prompts"
            yield replace(bullet, link=replace(bullet.link, target=target))
        else:
            yield replace(bullet, link=None)


def _report(data: StoreData, runs: Sequence[Run]) -> tuple[Document | None, str]:
    return awaited_document(data, ("report", runs[0].plan), runs, partial(report_document, answers="numbers"))


def _progress(data: StoreData, run: Run) -> Text:
    state = progress(data.store, run)
    start, answers = data.starts.setdefault(run.id, (monotonic(), state.answers))
    gained, seconds = state.answers - answers, monotonic() - start
    calls = sum(usage.calls for usage in state.usage.values())
    left = (state.expected - state.answers) * seconds / gained if state.expected and gained else None
    return words.progress_text(state.answers, state.expected, calls, _cost(run, state), left)


def _cost(run: Run, state: Progress) -> str:
    """Return what the tokens of a run cost by the listed prices; empty if a price is not known."""
    tasks: dict[str, dict[str, dict[str, dict[str, list[str]]]]] = run.facts.get("tasks", {})  # type: ignore[assignment]
    endpoints = {
        endpoint
        for task in tasks.values()
        for judge in task.get("judges", {}).values()
        for endpoint in judge["endpoints"]
    }
    total, currency = 0.0, ""
    for model, usage in state.usage.items():
        prices = [price for endpoint in endpoints if (price := listed_price(endpoint, model))]
        if not prices:
            return ""
        total += prices[0].cost(usage)
        currency = prices[0].currency
    return f"{total:.2f} {currency}" if currency else ""


def report(request: Request) -> Response:
    """Show the report of a plan as ``hengwen report`` writes it, without the texts of all answers."""
    data = view_of(request).data
    plan = request.query_params.get("plan")
    runs = data.store.latest(plan)
    document, problem = _report(data, runs)

    title = document.title if document else words.REPORT
    page = partial(respond, request, "report.html.j2", plan=runs[0].plan, document=document, problem=problem)
    if document is not None:
        return HTMLResponse(data.drawn(document, lambda: bytes(page(title=title).body)))
    return page(title=title, refreshes=not problem)


def state_of(data: StoreData) -> str:
    """Return a text that changes whenever a run of the store has new answers, scores or another status."""
    try:
        runs = data.store.runs()
        state = data.states(runs), [progress(data.store, run) for run in runs if run.status == "running"]
    except HengwenError as error:
        return sha256(str(error).encode()).hexdigest()
    return sha256(repr(state).encode()).hexdigest()


async def events(request: Request) -> Response:
    """Send an event as soon as the state of the store is not the one that the page names."""
    data = view_of(request).data

    async def news() -> AsyncIterator[str]:
        last = request.headers.get("Last-Event-ID") or request.query_params.get("drawn")
        while not await request.is_disconnected():
            state = await run_in_threadpool(state_of, data)
            yield f"id: {state}\ndata: changed\n\n" if state != last else ": nothing new\n\n"
            last = state
            await asyncio.sleep(NEWS_SECONDS)

    return StreamingResponse(news(), media_type="text/event-stream")


routes = [Route("/", show), Route("/report", report), Route("/events", events)]
