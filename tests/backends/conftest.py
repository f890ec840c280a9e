"""A loopback HTTP server that answers with whatever bytes a test wants."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import pytest_asyncio

REASONS = {200: "OK", 302: "Found", 429: "Too Many Requests", 500: "Internal Server Error"}


@dataclass
class Server:
    """Answers each request with the bytes of ``answer``; keeps what it was sent."""

    url: str = ""
    answer: bytes = b""
    delay: float = 0.0
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    decide: Callable[[Any], None] | None = None
    """Called with the body of a request before it is answered: to set the answer by it."""
    connections: set[asyncio.Task[None]] = field(default_factory=set)
    """Tasks that are answering."""

    def reply(self, body: Any, status: int = 200, **headers: str) -> None:
        """Answer with a body (JSON where it is no text) and a status."""
        text = body if isinstance(body, str) else json.dumps(body)
        self.send(text.encode(), status, **headers)

    def send(
        self, raw: bytes, status: int = 200, content_type: str = "application/json", **headers: str
    ) -> None:
        """Answer with bytes."""
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", f"Content-Type: {content_type}"]
        lines.append("Connection: close")  # for that is what it does
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if "content_length" not in headers:
            lines.append(f"Content-Length: {len(raw)}")
        self.answer = ("\r\n".join(lines) + "\r\n\r\n").encode() + raw

    def say(self, content: Any, finish: Any = "stop", **message: Any) -> None:
        """Answer with a chat completion."""
        choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}}
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        self.reply({"model": "tiny-1", "choices": [{**choice, "finish_reason": finish}], "usage": usage})

    async def stop(self) -> None:
        """Cancel the answers that nobody waits for, before the loop of the test is closed."""
        for connection in self.connections:
            connection.cancel()
        await asyncio.gather(*self.connections)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self.connections.add(connection)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            headers = {
                key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.requests.append((first, headers, json.loads(body)))
            if self.decide is not None:
                self.decide(self.requests[-1][2])
            answer = self.answer
            await asyncio.sleep(self.delay)
            writer.write(answer)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()
            self.connections.discard(connection)


@pytest_asyncio.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A server on loopback; no key and no proxy in the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for proxies in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(proxies, raising=False)
        monkeypatch.delenv(proxies.upper(), raising=False)
    answering = Server()
    listening = await asyncio.start_server(answering.handle, "127.0.0.1", 0)
    answering.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    answering.say("hello")
    try:
        yield answering
    finally:
        listening.close()
        await answering.stop()
        await listening.wait_closed()


@pytest.fixture
def shared_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server in a thread of its own, which keeps connections open; it says hello."""
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    choice = {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**about, "choices": [choice]}).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.daemon_threads = True
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}/v1"
    serving.shutdown()
    thread.join()
    serving.server_close()


Make = Callable[..., Any]


@pytest_asyncio.fixture
async def backend(server: Server) -> AsyncIterator[Make]:
    """Make backends that ask the server, and close them."""
    from hengwen.backends import OpenAIBackend

    backends: list[Any] = []

    def make(**options: Any) -> Any:
        backends.append(OpenAIBackend(**{"model": "tiny", "base_url": server.url, **options}))
        return backends[-1]

    yield make
    for opened in backends:
        await opened.close()
