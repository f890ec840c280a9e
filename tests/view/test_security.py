"""Nobody but the browser that has the token sees a page or sends a form."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from rows import each_row
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.view.conftest import ADDRESS, TOKEN, client_of

from hengwen.view.app import create_app


@pytest.fixture
def labelling(demo_store):
    """A client with the cookie, of pages that take forms."""
    app = create_app(str(demo_store), token=TOKEN, desk=Mock())
    app.router.routes.append(Route("/form", lambda request: PlainTextResponse("taken"), methods=["POST"]))
    client = TestClient(app, base_url=ADDRESS)
    client.get("/", params={"token": TOKEN})
    return client


def test_without_the_token_every_page_is_refused(demo_store) -> None:
    client = client_of(demo_store)
    for path in ("/", "/grid", "/compare", "/no-such-page"):
        assert client.get(path).status_code == 403
    assert client.get("/", params={"token": TOKEN[:-1]}).status_code == 403
    client.cookies.set("hengwen-8000", "nonce.signature")
    assert client.get("/").status_code == 403


@pytest.mark.slow
def test_the_token_buys_one_cookie_that_no_script_reads_and_no_other_site_sends(demo_store) -> None:
    client = client_of(demo_store)
    bought = client.get("/", params={"token": TOKEN}, follow_redirects=False)
    assert (bought.status_code, bought.headers["location"]) == (303, "/")
    assert "HttpOnly" in bought.headers["set-cookie"]
    assert "SameSite=strict" in bought.headers["set-cookie"]
    assert client.get("/").status_code == 200
    other = client_of(demo_store)
    other.cookies.set("hengwen-8000", client.cookies["hengwen-8000"])
    assert other.get("/").status_code == 403
    client.cookies.clear()
    assert client.get("/", params={"token": TOKEN}).status_code == 403


@pytest.mark.slow
def test_the_token_of_a_file_buys_several_cookies(demo_store) -> None:
    client = client_of(demo_store, is_reusable=True)
    for _ in range(2):
        client.cookies.clear()
        assert client.get("/", params={"token": TOKEN}).status_code == 200


@each_row("host", ["evil.example", "127.0.0.1.evil.example", "169.254.0.1:8000"])
def test_a_foreign_host_is_refused_with_or_without_the_cookie(client, host) -> None:
    assert client.get("/", headers={"host": host}).status_code == 400


@pytest.mark.slow
@each_row(
    "headers, status",
    [
        ({"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8000"}, 200),
        ({"sec-fetch-site": "same-origin", "origin": "null"}, 200),  # a form of a page without referrer
        ({"origin": "http://127.0.0.1:8000"}, 200),
        ({}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:9000"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"}, 403),
        ({"sec-fetch-site": "same-site", "origin": "null"}, 403),
    ],
)
def test_a_form_must_come_from_a_page_of_the_same_origin(labelling, headers, status) -> None:
    assert labelling.post("/form", headers=headers).status_code == status


def test_without_label_no_form_is_taken(client) -> None:
    sent = client.post("/", headers={"sec-fetch-site": "same-origin"})
    assert (sent.status_code, "--label" in sent.text) == (403, True)


@pytest.mark.slow
def test_every_answer_forbids_frames_foreign_content_caches_and_referrers(client) -> None:
    for answer in (client.get("/"), client.get("/no-such-page"), client_of("no.db").get("/")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
