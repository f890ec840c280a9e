"""A server for benchmarks that answers every request with the same verdict after a fixed latency.

python benchmarks/judge_stub.py LATENCY_SECONDS   # prints its port, ends when standard input closes
"""

from __future__ import annotations

import asyncio
import json
import sys

VERDICT = json.dumps(
    {
        "reason": "切题，口吻也对。",
        "criteria": dict.fromkeys(("task_fit", "voice", "content", "language", "format"), "B"),
        "level": "B",
    },
    ensure_ascii=False,
)
BODY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-1",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": VERDICT}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
    },
    ensure_ascii=False,
).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


class Stub(asyncio.Protocol):
    """Splits the input by content lengths, and answers each request after the latency."""

    latency = 0.0

    def __init__(self) -> None:
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end].lower()
            start = head.find(b"content-length:")
            length = int(head[start + 15 :].split(b"\r\n", 1)[0]) if start >= 0 else 0
            if len(self._data) < end + 4 + length:
                return
            self._data = self._data[end + 4 + length :]
            asyncio.get_running_loop().call_later(self.latency, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(REPLY)  # type: ignore[attr-defined]


async def main() -> None:
    """Serve until standard input closes."""
    Stub.latency = float(sys.argv[1])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Stub, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
