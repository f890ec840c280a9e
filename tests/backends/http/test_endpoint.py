"""Address and key of an endpoint."""

from __future__ import annotations

import base64

import pytest

from hengwen.backends.http import Endpoint
from hengwen.errors import BackendError
from hengwen.records import Request

ASK = Request(messages=(("user", "hi"),))


@pytest.mark.slow
async def test_user_and_password_of_the_address_go_into_the_header_and_nowhere_else(server, backend):
    url = server.url.replace("http://", "http://me:p%40ssword9@")
    client = backend(base_url=f"{url}?version=12345678")
    await client.complete(ASK)
    first, headers, _ = server.requests[0]
    assert headers["authorization"] == f"Basic {base64.b64encode(b'me:p@ssword9').decode()}"
    assert first == "POST /v1/chat/completions?version=12345678 HTTP/1.1"
    server.reply({"error": {"message": "p@ssword9, p%40ssword9 and 12345678 are wrong"}}, 400)
    with pytest.raises(BackendError) as caught:
        await client.complete(ASK)
    for text in (str(caught.value), caught.value.raw, repr(client), str(vars(client)["endpoint"])):
        assert "ssword9" not in text
        assert "12345678" not in text


def test_what_is_secret_is_what_is_long_enough_to_be(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-12345678")
    access = Endpoint("http://me:pw@model.invalid/v1?a=short&b=longenough", "MY_KEY")
    assert access.secrets == ("sk-12345678", "longenough")
    assert (access.url, access.query) == ("http://model.invalid/v1", {"a": "short", "b": "longenough"})
    assert "12345678" not in repr(access)
