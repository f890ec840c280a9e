"""A real llama.cpp server on loopback, for the whole session."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hengwen.backends import LangChainBackend, OpenAIBackend

collect_ignore = ["tiny_model.py", "tiny_server.py"]  # they run in a process of their own
SCRIPT = Path(__file__).with_name("tiny_server.py")


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    pytest.importorskip(
        "xllamacpp", exc_type=ImportError, reason="xllamacpp cannot be imported on this machine"
    )
    folder = tmp_path_factory.mktemp("llama")
    with (folder / "log").open("w") as log:
        command = [sys.executable, str(SCRIPT), str(folder)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, (folder / "log").read_text("utf-8")[-2000:]
            yield f"{address}/v1"
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(timeout=900)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no proxy in the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest_asyncio.fixture
async def openai(llama: str) -> AsyncIterator[Callable[..., OpenAIBackend]]:
    """Make openai backends, and close them."""
    backends: list[OpenAIBackend] = []

    def make(**options: Any) -> OpenAIBackend:
        backends.append(OpenAIBackend(**{"model": "tiny", "base_url": llama, **options}))
        return backends[-1]

    yield make
    for opened in backends:
        await opened.close()


@pytest_asyncio.fixture
async def langchain(llama: str) -> AsyncIterator[Callable[..., LangChainBackend]]:
    """Make langchain backends over langchain-openai, and close them."""
    backends: list[LangChainBackend] = []

    def make(**options: Any) -> LangChainBackend:
        backends.append(LangChainBackend(**{"model": "openai:tiny", "base_url": llama, **options}))
        return backends[-1]

    yield make
    for opened in backends:
        await opened.close()
