"""The command: which store and token it takes, on which address, and what it prints and opens."""

from __future__ import annotations

import webbrowser
from urllib.parse import urlsplit

import httpx2
import pytest
import uvicorn
from tests.view.conftest import TOKEN


@pytest.fixture
def statuses(monkeypatch) -> list[int]:
    """Ask the application in place of its server, which ends at once."""
    answers: list[int] = []

    async def ask(server: uvicorn.Server, sockets) -> None:
        host, port = sockets[0].getsockname()[:2]
        transport = httpx2.ASGITransport(server.config.app)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}:{port}") as client:
            answers.append((await client.get("/", params={"token": TOKEN})).status_code)
            answers.append((await client.get("/grid")).status_code)

    monkeypatch.setattr(uvicorn.Server, "serve", ask)
    monkeypatch.setattr(webbrowser, "open", lambda url: answers.append(urlsplit(url).port))
    return answers


@pytest.fixture
def token(tmp_path) -> str:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n", "utf-8")
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("is_argument", [True, False])
def test_the_store_is_an_argument_or_the_variable(
    hengwen, demo_store, token, statuses, monkeypatch, is_argument: bool
) -> None:
    if not is_argument:
        monkeypatch.setenv("HENGWEN_STORE", str(demo_store))
    done = hengwen("view", *([demo_store] * is_argument), "--token-file", token, "--no-open")
    assert (done.code, statuses) == (0, [303, 200]), done
    assert "127.0.0.1" in done.out
    assert TOKEN not in done.out + done.err


def test_the_printed_address_has_the_token_and_is_opened(hengwen, demo_store, statuses) -> None:
    done = hengwen("view", demo_store)
    port, *others = statuses
    assert f"http://127.0.0.1:{port}/?token=" in done.out
    assert others == [403, 403]  # its token is another one


def test_another_address_needs_a_token_of_a_file(hengwen, demo_store, statuses, tmp_path) -> None:
    done = hengwen("view", demo_store, "--host", "0.0.0.0")
    assert (done.code, statuses) == (2, [])
    assert "--token-file" in done.err
    (tmp_path / "short").write_text("abc", "utf-8")
    done = hengwen("view", demo_store, "--token-file", tmp_path / "short")
    assert (done.code, "the token has 3 characters; it needs 32 or more" in done.err) == (2, True)


def test_a_store_that_is_not_there_is_named(hengwen, statuses) -> None:
    done = hengwen("view", "none.db")
    assert (done.code, statuses) == (2, [])
    assert "none.db" in done.err
