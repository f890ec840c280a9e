"""Label answers by one key each, blind to the checkpoint and the judge."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route

from hengwen.documents.answers.all_answers import shown_text
from hengwen.errors import ConfigError, HengwenError, StoreError
from hengwen.labels.desk import LabelDesk
from hengwen.labels.file import RATER, preference_pairs
from hengwen.records import Label
from hengwen.runs.task_scores import store_labels
from hengwen.store import open_store
from hengwen.text.language import localized
from hengwen.text.numbers import replace_surrogates
from hengwen.view import words
from hengwen.view.data import StoreData
from hengwen.view.page import read_form, respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_TEXT = 100_000
"""Characters of an answer that a rater sees; who reads more needs another tool."""
MAX_PAST = 100
"""Number of answers that can be undone; the address names them."""
COMMANDS = "usr"
"""Keys for undo, skip and the reference."""


def show(request: Request) -> Response:
    """Show the next answer that a rater has not labelled."""
    return _page(request, request.query_params)


def _page(request: Request, values: Mapping[str, str], problem: str = "") -> Response:
    desk = _desk(request)
    rater = values.get("rater", "").strip()
    if not RATER.fullmatch(rater):
        return respond(
            request, "label_rater.html.j2", title=words.PAGES["/label"], plan=desk.plan, rater=rater
        )
    past = _past(values)
    skipped = {token[1:] for token in past if token.startswith("-")}
    remaining = desk.open_questions(rater)
    question = next((item for item in remaining if item.token not in skipped), None)
    return respond(
        request,
        "label.html.j2",
        title=words.PAGES["/label"],
        plan=desk.plan,
        notes=(words.BLIND,),
        status=409 if problem else 200,
        desk=desk,
        warnings=[localized(text, view_of(request).language) for text in desk.warnings],
        unstored=localized(desk.unstored, view_of(request).language),
        use=f"labels: {os.path.relpath(desk.file.path.resolve(), desk.path.resolve().parent)}",
        rater=rater,
        past=past,
        question=question,
        keys=_keys(question.rubric.labels) if question else {},
        done=len(desk.questions) - len(remaining),
        agreement=desk.rater_agreement(),
        problem=problem,
        shown=lambda text: shown_text(text, MAX_TEXT),
    )


async def answer(request: Request) -> Response:
    """Write a label, skip an answer, or take the last label back; then show the next answer."""
    try:
        values = await read_form(request)
    except ValueError as error:
        return PlainTextResponse(f"{error}\n", status_code=400)
    return await run_in_threadpool(_take, request, values)


def _take(request: Request, values: Mapping[str, str]) -> Response:
    desk, rater, past = _desk(request), values.get("rater", ""), _past(values)
    gone = None
    if not RATER.fullmatch(rater):
        return _page(request, values)
    try:
        if values.get("action") == "undo":
            last = past.pop() if past else "-"
            if not last.startswith("-"):
                gone = desk.take_back(desk.question(last), rater)
        elif values.get("action") == "skip":
            past.append(f"-{desk.question(values.get('token', '')).token}")
        else:
            question = desk.question(values.get("token", ""))
            desk.give(question, values.get("level", ""), rater)
            past.append(question.token)
    except HengwenError as error:
        return _page(request, values, localized(str(error), view_of(request).language))
    if values.get("action") != "skip":
        _store(desk, view_of(request).data, gone)
    query = urlencode({"rater": rater, "past": ".".join(past[-MAX_PAST:])})
    return RedirectResponse(f"/label?{query}", status_code=303)


def _store(desk: LabelDesk, data: StoreData, gone: Label | None) -> None:
    """Write the labels of the file to the store, too; if that fails, the page says so."""
    with desk.lock:
        desk.unstored = ""
        try:
            with open_store(data.location) as store:
                store_labels(desk.suite, desk.file.labels(), store, gone)
        except StoreError as error:
            desk.unstored = str(error)
        data.forget(desk.plan)


def pairs(request: Request) -> Response:
    """Return the preference pairs of all labels so far, a JSON object a line."""
    desk = _desk(request)
    rows = preference_pairs(desk.questions, desk.file.labels())
    text = "".join(replace_surrogates(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    headers = {"Content-Disposition": 'attachment; filename="pairs.jsonl"'}
    return PlainTextResponse(text, media_type="application/x-ndjson", headers=headers)


def _desk(request: Request) -> LabelDesk:
    desk = view_of(request).desk
    if desk is None:
        raise ConfigError("these pages are read-only; to label, run: hengwen view --label PLAN")
    return desk


def _past(values: Mapping[str, str]) -> list[str]:
    """Return what the rater did, the newest last: tokens of labelled answers, and of skipped ones after -."""
    return [token for token in values.get("past", "").split(".") if token.removeprefix("-").isalnum()]


def _keys(labels: Iterable[str]) -> dict[str, str]:
    """Return the keys for each level, the best first: its number, and its name if that is one free letter."""
    best_first = list(reversed(list(labels)))
    names = [unicodedata.normalize("NFKC", label).strip().casefold() for label in best_first]
    has_digits = any(name.isdigit() for name in names)
    keys: dict[str, str] = {}
    for number, (label, name) in enumerate(zip(best_first, names, strict=True), start=1):
        own = [name] if len(name) == 1 and name not in COMMANDS else []
        keys[label] = " ".join(own if has_digits else ([str(number)] if number < 10 else []) + own)
    return keys


routes = [
    Route("/label", show),
    Route("/label", answer, methods=["POST"]),
    Route("/label/pairs.jsonl", pairs),
]
