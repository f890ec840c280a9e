"""How an endpoint is reached: over TLS, through a proxy, or straight."""

from __future__ import annotations

import asyncio
import base64
import gzip
import shutil
import ssl
import subprocess
import tracemalloc
import zlib
from typing import Any

import pytest

from hengwen.backends import LangChainBackend
from hengwen.backends.http import Endpoint, proxy_for
from hengwen.errors import BackendError, ConfigError
from hengwen.records import Request

ASK = Request(messages=(("user", "hi"),))


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1 that nobody knows, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    files = [str(tmp_path / name) for name in ("cert.pem", "key.pem")]
    arguments = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    command = ["openssl", *arguments.split(), "-out", files[0], "-keyout", files[1]]
    subprocess.run(command, check=True, capture_output=True)
    return files


@pytest.mark.slow
async def test_over_tls_a_certificate_must_be_known(server, backend, certificate, monkeypatch):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    with pytest.raises(BackendError, match="certificate") as caught:
        await backend(base_url=url).complete(ASK)
    assert caught.value.status == "transport_error"
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
    assert (await backend(base_url=url).complete(ASK)).text == "hello"
    listening.close()


@pytest.mark.slow
async def test_a_proxy_of_the_environment_is_used(server, backend, monkeypatch):
    proxy = server.url.replace("http://", "http://me:p%40ssword9@").removesuffix("/v1")
    monkeypatch.setenv("http_proxy", proxy)
    reply = await backend(base_url="http://model.invalid/v1").complete(ASK)
    first, headers, _ = server.requests[0]
    assert reply.text == "hello"
    assert first == "POST http://model.invalid/v1/chat/completions HTTP/1.1"
    assert headers["host"] == "model.invalid"
    assert headers["proxy-authorization"] == f"Basic {base64.b64encode(b'me:p@ssword9').decode()}"
    assert headers["authorization"] == "Bearer no-key"


@pytest.mark.slow
async def test_the_password_of_a_proxy_is_shown_nowhere(server, backend, monkeypatch):
    proxy = server.url.replace("http://", "http://me:p%40ssword9@").removesuffix("/v1")
    monkeypatch.setenv("http_proxy", proxy)
    server.reply({"error": {"message": "p@ssword9 and p%40ssword9 are wrong"}}, 407)
    client = backend(base_url="http://model.invalid/v1")
    with pytest.raises(BackendError) as caught:
        await client.complete(ASK)
    monkeypatch.setenv("http_proxy", "http://me:p%40ssword9@127.0.0.1:1")
    with pytest.raises(BackendError) as unreachable:
        await backend(base_url="http://model.invalid/v1").complete(ASK)
    for error in (caught.value, unreachable.value):
        assert "ssword9" not in f"{error}{error.raw}{error!r}{client!r}"


@pytest.mark.slow
async def test_this_machine_is_reached_without_a_proxy(server, backend, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert (await backend().complete(ASK)).text == "hello"
    assert server.requests[0][0] == "POST /v1/chat/completions HTTP/1.1"


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://model.invalid/v1", "http://one:1"),
        ("https://model.invalid/v1", "http://two:2"),
        ("https://free.invalid:8443/v1", None),
        ("http://localhost:8080/v1", None),
        ("http://127.0.0.9:8080/v1", None),
        ("http://[::1]:8080/v1", None),
    ],
)
def test_the_proxy_goes_by_scheme_and_host(monkeypatch, url, proxy):
    for name, value in (("http", "one:1"), ("https", ""), ("all", "http://two:2"), ("no", "free.invalid")):
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)
        monkeypatch.setenv(f"{name}_proxy", value)
    assert proxy_for(url) == proxy


@pytest.mark.parametrize("proxy", ["socks5://me:p%40ssword9@here:1080", "http://", "http://[::1"])
def test_a_proxy_that_cannot_be_used_is_a_clear_error(monkeypatch, proxy):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(ConfigError, match="set http_proxy to one, or no_proxy to the host") as error:
        Endpoint("http://model.invalid/v1", "K")
    assert "ssword9" not in str(error.value)


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("status", [200, 500])
async def test_of_a_reply_without_end_only_16_mib_are_read(server, backend, compressed, status):
    body = b" " * (24 << 20)
    if compressed:
        server.send(gzip.compress(body, 1), status, content_encoding="gzip")
    else:
        server.send(body, status)
    tracemalloc.start()
    with pytest.raises(BackendError, match="the reply is longer than 16 MiB") as caught:
        await backend().complete(ASK)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (caught.value.status, caught.value.retryable) == ("transport_error", False)
    assert peak < (64 << 20)


def _langchain(url: str) -> Any:
    return LangChainBackend(model="openai:m", base_url=url).complete(ASK)


HOSTILE_BODIES = {
    "long": (b" " * (24 << 20), "", "longer than 16 MiB"),
    "bomb": (gzip.compress(b" " * (24 << 20), 1), "gzip", "longer than 16 MiB"),
    "lists": (b"[" + b"[]," * 200_000 + b"[]]", "", "more than 100,000 lists and objects"),
    "twice": (gzip.compress(gzip.compress(b"{}")), "gzip, gzip", "compressed as 'gzip, gzip'"),
    "unknown": (b"{}", "zstd", "compressed as 'zstd', not as gzip, deflate"),
}


@pytest.mark.slow
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("body", HOSTILE_BODIES)
async def test_a_client_of_httpx_reads_no_more_than_they_can_hold(server, monkeypatch, status, body):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    content, encoding, message = HOSTILE_BODIES[body]
    server.send(content, status, **({"content_encoding": encoding} if encoding else {}))
    with pytest.raises(BackendError, match=message) as caught:
        await _langchain(server.url)
    assert not caught.value.retryable


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate", "identity"])
async def test_a_compressed_reply_is_read(server, monkeypatch, encoding):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server.say("hello")
    body = server.answer.partition(b"\r\n\r\n")[2]
    compressed = {
        "gzip": gzip.compress(body),
        "deflate": zlib.compress(body),
        "raw deflate": zlib.compress(body)[2:-4],
        "identity": body,
    }[encoding]
    server.send(compressed, content_encoding=encoding.split()[-1])
    assert (await _langchain(server.url)).text == "hello"


async def test_a_url_without_a_path_is_asked_at_its_root(server, backend):
    reply = await backend(base_url=server.url.removesuffix("/v1")).complete(ASK)
    assert (reply.text, server.requests[0][0]) == ("hello", "POST /chat/completions HTTP/1.1")
