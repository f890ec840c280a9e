"""A server for benchmarks that answers every request with the same verdict after a fixed latency.

    python benchmarks/judge_stub.py LATENCY_SECONDS [--refuse 0.05] [--fail 0.05] [--rate 20]
        [--outage 429|500|dropped|closed --after 3 --seconds 20] [--content TEXT] [--tool NAME]

The server prints its port and, when standard input closes, the number of requests by status. It can refuse a
random share of requests (status 429, Retry-After: 1) and fail another share (status 500), both drawn from a
fixed seed. With ``--rate``, it refuses requests beyond this number a second. ``--content`` replaces the
verdict as the text of the reply; with ``--tool``, it is the arguments of a call of this tool instead.
``--outage`` fails every request for some seconds: with a status, by dropping the connections, or by not
listening at all. The outage begins ``--after`` seconds after the first request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter

VERDICT = json.dumps(
    {
        "reason": "切题，口吻也对。",
        "criteria": dict.fromkeys(("task_fit", "voice", "content", "language", "format"), "B"),
        "level": "B",
    },
    ensure_ascii=False,
)


def encode_reply(content: str, tool: str | None = None) -> bytes:
    """Return an HTTP response with a chat completion.

    Args:
        content: Text of the reply, or the arguments of the tool call in JSON.
        tool: Name of the tool that the reply calls; None for a reply in text.
    """
    message: dict[str, object] = {"role": "assistant", "content": content}
    if tool:
        call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": content}}
        message |= {"content": None, "tool_calls": [call]}
    completion = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if tool else "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
    }
    body = json.dumps(completion, ensure_ascii=False).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


REPLY = encode_reply(VERDICT)
REFUSAL = b"HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
ERROR = b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"


class Faults:
    """Draws the status of each request.

    Args:
        refuse: Share of requests that are refused at random.
        fail: Share of requests that fail.
        rate: Number of requests accepted a second, and accepted at once after a pause; None for no limit.
    """

    def __init__(self, refuse: float = 0.0, fail: float = 0.0, rate: float | None = None) -> None:
        self._refuse, self._fail, self._rate = refuse, fail, rate
        self._tokens = rate or 0.0
        self._filled_at = time.monotonic()
        self._random = random.Random(7)
        self.counts: Counter[int] = Counter()

    def draw(self) -> int:
        """Return the status of the next request."""
        status = 200
        drawn = self._random.random()
        if self._rate is not None:
            now = time.monotonic()
            self._tokens = min(self._rate, self._tokens + (now - self._filled_at) * self._rate)
            self._filled_at = now
            if self._tokens < 1:
                status = 429
            else:
                self._tokens -= 1
        if status == 200 and drawn < self._refuse + self._fail:
            status = 429 if drawn < self._refuse else 500
        self.counts[status] += 1
        return status


class Outage:
    """A time in which every request fails.

    Args:
        kind: ``429`` or ``500`` (status of each reply), ``dropped`` (each request ends its connection) or
            ``closed`` (the server does not listen); empty for no outage.
        after: Seconds from the first request to the outage.
        seconds: Length of the outage.
    """

    def __init__(self, kind: str = "", after: float = 0.0, seconds: float = 0.0) -> None:
        self.kind, self._after, self._seconds = kind, after, seconds
        self.is_active = False
        self.server: asyncio.Server | None = None
        self._is_scheduled = False

    def on_request(self) -> None:
        """Start the clock of the outage at the first request."""
        if self.kind and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_later(self._after, self._begin)

    def _begin(self) -> None:
        self.is_active = True
        asyncio.get_running_loop().call_later(self._seconds, self._end)
        if self.kind == "closed" and self.server is not None:
            self._port = self.server.sockets[0].getsockname()[1]
            self.server.close()
            Stub.abort_all()

    def _end(self) -> None:
        self.is_active = False
        if self.kind == "closed":
            self._task = asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(Stub, "127.0.0.1", self._port, backlog=2048)


class Stub(asyncio.Protocol):
    """Splits the input into requests by content length, and answers after the latency; refuses at once."""

    latency = 0.0
    faults = Faults()
    reply = REPLY
    outage = Outage()
    connections: set[asyncio.BaseTransport] = set()

    @classmethod
    def abort_all(cls) -> None:
        """End all connections at once."""
        for transport in list(cls.connections):
            transport.abort()  # type: ignore[attr-defined]

    def __init__(self) -> None:
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.connections.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end].lower()
            start = head.find(b"content-length:")
            length = int(head[start + 15 :].split(b"\r\n", 1)[0]) if start >= 0 else 0
            if len(self._data) < end + 4 + length:
                return
            self._data = self._data[end + 4 + length :]
            self.outage.on_request()
            if self.outage.is_active:
                if self.outage.kind not in ("429", "500"):
                    self._transport.abort()  # type: ignore[attr-defined]
                    return
                self._answer(REFUSAL if self.outage.kind == "429" else ERROR)
                continue
            status = self.faults.draw()
            latency = 0.0 if status == 429 else self.latency
            reply = {200: self.reply, 429: REFUSAL, 500: ERROR}[status]
            asyncio.get_running_loop().call_later(latency, self._answer, reply)

    def _answer(self, reply: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(reply)  # type: ignore[attr-defined]


async def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("latency", type=float)
    parser.add_argument("--refuse", type=float, default=0.0)
    parser.add_argument("--fail", type=float, default=0.0)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--outage", default="")
    parser.add_argument("--after", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--content", default=VERDICT)
    parser.add_argument("--tool")
    options = parser.parse_args()
    Stub.latency = options.latency
    Stub.reply = encode_reply(options.content, options.tool)
    Stub.faults = Faults(options.refuse, options.fail, options.rate)
    loop = asyncio.get_running_loop()
    Stub.outage = Outage(options.outage, options.after, options.seconds)
    server = Stub.outage.server = await loop.create_server(Stub, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()
    print(json.dumps(Stub.faults.counts), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
