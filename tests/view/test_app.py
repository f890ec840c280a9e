"""The pages as a whole: what stands on each, and what a store that is gone looks like."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import TYPE_CHECKING, cast

import pytest
from starlette.requests import Request
from tests.view.conftest import TOKEN, client_of

from hengwen.view.pages.home import events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import StreamingResponse
    from starlette.types import Message


def test_the_first_page_shows_the_runs(client) -> None:
    assert "ckpt-4000" in client.get("/").text


@pytest.mark.slow
def test_a_store_that_vanishes_gives_a_page_that_says_so_and_one_that_returns_is_read(
    demo_store, tmp_path
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(demo_store, path)
    client = client_of(path)
    assert client.get("/", params={"token": TOKEN}).status_code == 200
    path.unlink()
    gone = client.get("/")
    assert (gone.status_code, "no such store" in gone.text) == (503, True)
    path.write_text("another kind of file, longer than a page header of sqlite " * 20, "utf-8")
    other = client.get("/")
    assert (other.status_code, "not a hengwen store" in other.text) == (503, True)
    shutil.copy(demo_store, path)
    assert client.get("/").status_code == 200


def test_what_is_not_there_is_said(client) -> None:
    assert client.get("/no-such-page").status_code == 404


@pytest.mark.slow
def test_a_page_hears_of_what_changed_since_it_was_drawn(client) -> None:
    drawn = re.search(r'data-news="/events\?drawn=(\w+)"', client.get("/").text)
    assert drawn
    app = client.app

    async def connected() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def first_news(last_event: bytes, query: bytes) -> str:
        headers = [(b"last-event-id", last_event)] if last_event else []
        scope = {"type": "http", "method": "GET", "headers": headers, "query_string": query, "app": app}
        response = cast("StreamingResponse", await events(Request(scope, receive=connected)))
        return await anext(aiter(cast("AsyncIterator[str]", response.body_iterator)))

    now = drawn[1]
    for last_event, query, is_new in (
        ("", f"drawn={now}", False),
        ("", "drawn=before", True),
        ("", "", True),
        (now, "drawn=before", False),  # the browser connects again
        ("before", f"drawn={now}", True),
    ):
        message = asyncio.run(first_news(last_event.encode(), query.encode()))
        assert message == (f"id: {now}\ndata: changed\n\n" if is_new else ": nothing new\n\n")
