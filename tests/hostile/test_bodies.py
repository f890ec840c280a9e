"""What an evil endpoint answers takes little memory and time, and is a failure of its call.

A row of ``BODIES`` is a case; every client is asked with every body.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from limited import outcome_of
from rows import each_row

from hengwen.errors import BackendError, DataError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited as on Linux"),
]

MIB = 1 << 20
KEY = "sk-planted-4f1c9e"


def _bomb(mebibytes: int) -> bytes:
    """Return gzip data of blanks: one compressed MiB, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    head = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + again * (mebibytes - 1)


REPLY = b'{"choices": [{"message": {"role": "assistant", "content": "%s"}}]}'
BODIES: dict[str, tuple[bytes, dict[str, str]]] = {
    "flood": (b" " * MIB, {"repeat": "40"}),
    "bomb": (_bomb(2_600), {"Content-Encoding": "gzip"}),
    "bomb of bombs": (
        zlib.compress(zlib.compress(b" " * 64 * MIB)),
        {"Content-Encoding": "deflate, deflate"},
    ),
    "no gzip": (b"{}" * 1_000, {"Content-Encoding": "gzip"}),
    "unknown encoding": (b"{}", {"Content-Encoding": "zstd"}),
    "lists": (b"[" + b"[]," * 1_500_000 + b"[]]", {}),
    "objects": (b"[" + b'{"a":{}},' * 500_000 + b"{}]", {}),
    "values": (b"[" + b"1.5," * 1_000_000 + b"1]", {}),
    "nested": (b"[" * 8_000_000, {}),
    "digits": (b"9" * 15_000_000, {}),
    "backslashes": (b"\\" * 15_000_000, {}),
    "escapes": (b'"' + b"\\u0073k-" * 1_500_000 + b'"', {}),
    "names": (b"{" + b",".join(b'"%d":0' % number for number in range(200_000)) + b"}", {}),
    "long text": (REPLY % (b"x" * 20 * MIB), {}),
    "headers": (b"{}", {f"X-{number}": "x" * 4_000 for number in range(90)}),
    "not text": (bytes(range(256)) * 10_000, {}),
}


class _Handler(BaseHTTPRequestHandler):
    status = 200

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        name, status = self.path.split("/")[1:3]
        body, headers = BODIES[name.replace("_", " ")]
        self.send_response(int(status))
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        try:
            for _ in range(int(headers.get("repeat", 1))):
                self.wfile.write(body)
        except OSError:  # the client has hung up, as it should
            pass

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def _openai(url: str) -> None:
    from hengwen.backends import OpenAIBackend

    asyncio.run(_complete(OpenAIBackend(model="m", base_url=url)))


def _langchain(url: str) -> None:
    from hengwen.backends import LangChainBackend

    asyncio.run(_complete(LangChainBackend(model="openai:m", base_url=url)))


async def _complete(backend: Any) -> None:
    from hengwen.records import Request

    try:
        await backend.complete(Request(messages=(("user", "hi"),)))
    finally:
        await backend.close()


@pytest.mark.parametrize("client", [_openai, _langchain])
@each_row("name", BODIES)
def test_an_evil_body_is_a_failure_of_its_call(
    url: str, monkeypatch: pytest.MonkeyPatch, client: Callable[[str], None], name: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for proxy in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    with suppress(BackendError):  # loads the client here, so that only the replies take memory and time
        client("http://127.0.0.1:9")
    status = 500 if name in ("backslashes", "bomb") else 200
    outcome = outcome_of(partial(client, f"{url}/{name.replace(' ', '_')}/{status}"))
    assert outcome.startswith("BackendError: "), outcome
    assert len(outcome) < 1_000
    assert KEY not in outcome


@each_row("name", BODIES)
def test_an_evil_file_of_replies_has_only_bad_lines_and_failed_calls(tmp_path: Path, name: str) -> None:
    body, headers = BODIES[name]
    line = b'{"custom_id": "a", "response": {"status_code": 200, "body": %s}}\n'
    path = tmp_path / "replies.jsonl"
    path.write_bytes(body * int(headers.get("repeat", 1)) + b"\n" + line % body.replace(b"\n", b" "))
    outcome = outcome_of(partial(_read_replies, path))
    assert outcome.startswith(("DataError: ", "BackendError: ")), outcome[:300]
    assert len(outcome) < 1_000


def _read_replies(path: Path) -> None:
    """Read a file of replies; raise DataError for its bad lines, or what its only reply raises."""
    from hengwen.backends import OpenAIBackend
    from hengwen.records import Request
    from hengwen.runs.batch import ReplyFiles

    with ExitStack() as files:
        replies = ReplyFiles([path], files)
        found = replies.line("a")
        if found is not None and not replies.bad:
            backend = OpenAIBackend(model="m", base_url="http://127.0.0.1:9")
            backend.batch_reply(Request(messages=(("user", "hi"),)), found[1])
        raise DataError(replies.bad[0])
