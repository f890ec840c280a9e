"""The wire format of the decisions backend is that of the openai package which has the endpoint."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from real_tools import real_tool

from hengwen.backends import DecisionsBackend
from hengwen.records import Reply, Request

REPLY: dict[str, Any] = {
    "answers": [
        {
            "type": "choice",
            "name": "q1",
            "choice": "good",
            "confidence": 0.75,
            "probabilities": [
                {"value": "good", "probability": 0.75},
                {"value": "bad", "probability": 0.25},
            ],
        }
    ],
    "model": "gpt-6-luna",
    "usage": {
        "input_tokens": 9,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 10,
    },
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """A server that gives one decision; its address, and the paths and bodies of the requests."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    requests: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, json.loads(body)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(REPLY).encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05}).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/v1", requests
        serving.shutdown()


def test_openai_sends_the_same_request_and_reads_the_same_probabilities(asked) -> None:
    real_tool("openai.types.decision")
    from openai import OpenAI

    url, requests = asked
    schema = {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "level": {"enum": ["good", "bad"]}},
    }
    request = Request(messages=(("system", "Judge."), ("user", "你好")), schema=schema, logprobs=20)

    async def ask() -> Reply:
        backend = DecisionsBackend(model="gpt-6-luna", base_url=url)
        try:
            return await backend.complete(request)
        finally:
            await backend.close()

    reply = asyncio.run(ask())
    (path, body), *_ = requests
    decision = OpenAI(base_url=url, max_retries=0).decisions.create(**body)
    assert requests[1] == (path, body)
    (answer,) = decision.answers
    assert json.loads(reply.text)["level"] == answer.choice
    assert {entry.value: entry.probability for entry in answer.probabilities} == {"good": 0.75, "bad": 0.25}
    assert reply.usage.input_tokens == decision.usage.input_tokens
