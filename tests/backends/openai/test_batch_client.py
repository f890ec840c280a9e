"""The client of the Batch API: what it sends, what it reads, and how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from batch_server import (  # noqa: F401 - a fixture
    BatchServer,
    answered,
    completion,
    serving_batches,
)

from hengwen.backends.openai.backend import OpenAIBackend
from hengwen.backends.openai.batch_client import BatchClient, RemoteBatch
from hengwen.errors import BackendError

KEY = "sk-planted-4f1c9e"
LINE = b'{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[]}}\n'


@pytest_asyncio.fixture
async def client(
    batch_server: BatchServer,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[BatchClient]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client = OpenAIBackend(model="m", base_url=batch_server.url, timeout=60).batch_client()
    yield client
    await client.close()


@pytest.fixture
def requests_file(tmp_path: Path) -> Path:
    path = tmp_path / "r.jsonl"
    path.write_bytes(LINE)
    return path


async def test_a_file_becomes_a_batch_and_its_replies(
    client: BatchClient,
    batch_server: BatchServer,
    requests_file: Path,
    tmp_path: Path,
) -> None:
    batch_server.line_of = lambda request, number: "a reply"
    file_id = await client.upload(requests_file, "hengwen-x.jsonl")
    assert batch_server.files[file_id]["content"] == LINE
    assert batch_server.files[file_id]["filename"] == "hengwen-x.jsonl"
    created = await client.create(file_id, {"hengwen_batch": "x"})
    assert (created.status, created.is_final, created.metadata) == (
        "validating",
        False,
        {"hengwen_batch": "x"},
    )
    assert (await client.retrieve(created.id)).status == "in_progress"
    ended = await client.retrieve(created.id)
    assert (ended.status, ended.is_final, ended.completed) == ("completed", True, 1)
    assert ended.error_file_id == ""
    await client.download(ended.output_file_id, tmp_path / "out")
    assert (tmp_path / "out").read_text("utf-8") == "a reply\n"
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600


async def test_lists_are_read_page_by_page(
    client: BatchClient,
    batch_server: BatchServer,
    requests_file: Path,
) -> None:
    ids = [await client.upload(requests_file, f"{number}.jsonl") for number in range(5)]
    batches = [(await client.create(file_id, {})).id for file_id in ids]
    assert [file.id async for file in client.files()] == ids[::-1]
    names = [(file.name, file.bytes) async for file in client.files()]
    assert names[0] == ("4.jsonl", len(LINE))
    assert [batch.id async for batch in client.batches()] == batches[::-1]
    assert [path for method, path in batch_server.requests].count("/batches") == 5 + 3


async def test_a_list_that_repeats_its_first_page_ends(
    client: BatchClient,
    batch_server: BatchServer,
    requests_file: Path,
    monkeypatch,
) -> None:
    file_id = await client.upload(requests_file, "a.jsonl")
    await client.create(file_id, {})
    original = batch_server.page_of

    def forgetful(entries, request):
        answer = original(entries, request.clone(rel_url="/v1/batches"))
        answer.text = answer.text.replace('"has_more": false', '"has_more": true')
        return answer

    monkeypatch.setattr(batch_server, "page_of", forgetful)
    assert len([batch async for batch in client.batches()]) == 1


async def test_the_key_is_sent_and_reaches_no_message(
    client: BatchClient,
    batch_server: BatchServer,
) -> None:
    with pytest.raises(BackendError) as refused:
        await client.retrieve(f"x-{KEY}/unknown")
    assert refused.value.status == "rejected"
    assert KEY not in str(refused.value) + refused.value.raw
    (headers,) = batch_server.headers
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert not [name for name in headers if name.lower().startswith("x-stainless")]
    assert KEY not in repr(client)


async def test_a_connection_that_breaks_may_be_tried_again(
    client: BatchClient,
    batch_server: BatchServer,
    tmp_path: Path,
) -> None:
    batch_server.on_request = lambda method, path: b'{"id": '
    for call in (client.retrieve("b"), client.create("f", {}), client.download("f", tmp_path / "x")):
        with pytest.raises(BackendError, match="no usable answer from http://127.0.0.1") as broken:
            await call
        assert broken.value.retryable
    assert len(batch_server.requests) == 3  # the openai client repeats nothing itself


async def test_an_answer_without_an_id_is_an_error(
    client: BatchClient,
    batch_server: BatchServer,
    monkeypatch,
) -> None:
    monkeypatch.setattr(batch_server, "advance", lambda batch: {"status": "completed"})
    batch_server.batches["b"] = {}
    with pytest.raises(BackendError, match="the answer has no id"):
        await client.retrieve("b")


async def test_a_batch_with_fields_of_wrong_types_is_read_without_them(
    client: BatchClient,
    batch_server: BatchServer,
    monkeypatch,
) -> None:
    odd = {"id": "b", "status": 7, "metadata": [], "errors": "x", "request_counts": {"total": "many"}}
    monkeypatch.setattr(batch_server, "advance", lambda batch: odd)
    batch_server.batches["b"] = {}
    assert await client.retrieve("b") == RemoteBatch(id="b", status="")


TRANSFER = """
import asyncio, resource, sys
from pathlib import Path
from hengwen.backends.openai.backend import OpenAIBackend

async def transfer(url, source, target):
    client = OpenAIBackend(model="m", base_url=url, timeout=60).batch_client()
    await client.upload(Path(sys.argv[0]), "small")  # what is imported and connected on first use
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await client.download(await client.upload(Path(source), "large"), Path(target))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    await client.close()

asyncio.run(transfer(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_files_are_never_in_memory_as_a_whole(batch_server: BatchServer, tmp_path: Path) -> None:
    path, target, script = (tmp_path / name for name in ("large.jsonl", "copy.jsonl", "transfer.py"))
    path.write_bytes(LINE + b" " * 100_000_000)
    script.write_text(TRANSFER, "utf-8")
    done = subprocess.run(
        [sys.executable, str(script), batch_server.url, str(path), str(target)],
        env={**os.environ, "OPENAI_API_KEY": KEY},
        capture_output=True,
        text=True,
        check=True,
    )
    assert target.stat().st_size == path.stat().st_size
    assert int(done.stdout) < 30_000  # kilobytes, for a file of 100 MB


@pytest.mark.slow
def test_what_the_server_of_these_tests_answers_has_the_documented_types(
    batch_server: BatchServer, requests_file: Path
) -> None:
    """The types of the package openai are generated from the description of its API."""
    from openai import OpenAI
    from openai.types import Batch, FileObject
    from openai.types.chat import ChatCompletion

    batch_server.line_of = lambda request, number: answered(request, completion("well"))
    with OpenAI(base_url=batch_server.url, api_key=KEY) as official:
        with requests_file.open("rb") as content:
            file = official.files.create(file=content, purpose="batch")
        names = {"hengwen_batch": "x"}
        batch = official.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata=names
        )
        states = [batch]
        while states[-1].status != "completed":
            states.append(official.batches.retrieve(batch.id))
        output = official.files.content(states[-1].output_file_id or "").text
        listed = list(official.batches.list())
        files = list(official.files.list(purpose="batch"))
    for state in (*states, *listed):  # the client itself checks no types
        Batch.model_validate_json(state.to_json(), strict=True)
    for entry in (file, *files):
        FileObject.model_validate_json(entry.to_json(), strict=True)
    assert [state.status for state in states] == ["validating", "in_progress", "completed"]
    line = json.loads(output)
    assert set(line) == {"id", "custom_id", "response", "error"}
    ChatCompletion.model_validate_json(json.dumps(line["response"]["body"]), strict=True)
