"""A server on loopback that behaves as the Batch API is documented, and that can misbehave.

It answers a chat prompt with a verdict that fits the schema of the request. A test sets what goes wrong: what
becomes of single calls (``line_of``), in which state a batch ends (``end_of``), and at which request the
client is killed (``on_request``).
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from aiohttp import web

Line = dict[str, Any] | str | None
"""A line of an output or error file; a text is written as it is, and None writes no line."""


def verdict(request: dict[str, Any], label: str = "B") -> str:
    """Return a verdict with one label everywhere, as the schema of a request asks for."""
    schema = request["body"]["response_format"]["json_schema"]["schema"]
    criteria = schema["properties"]["criteria"]["properties"]
    return json.dumps({"reason": "读过了", "criteria": dict.fromkeys(criteria, label), "level": label})


def completion(text: str, tokens: tuple[int, int] = (100, 20), finish: str = "stop") -> dict[str, Any]:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
    }


def answered(request: dict[str, Any], body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    """Return the line of a call that got an HTTP answer."""
    response = {"status_code": status, "request_id": "req_1", "body": body}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": response, "error": None}


def not_executed(request: dict[str, Any], code: str = "batch_expired") -> dict[str, Any]:
    """Return the line of a call that was not executed."""
    error = {"code": code, "message": "This request was not executed."}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": None, "error": error}


def good(request: dict[str, Any], number: int) -> Line:
    """Return the line of a call with a good reply."""
    return answered(request, completion(verdict(request)))


def is_error(line: Line) -> bool:
    """Return whether a line belongs into the error file."""
    if not isinstance(line, dict):
        return False
    response = line.get("response")
    return not isinstance(response, dict) or response["status_code"] != 200


@dataclass
class BatchServer:
    """What a test may set, and what it may read."""

    url: str = ""
    line_of: Callable[[dict[str, Any], int], Line] = good
    """Function that returns the line for a request and its number in the batch, from 0."""
    end_of: Callable[[int], str] = lambda number: "completed"
    """Function that returns the state in which a batch ends, by its number, from 1."""
    more_lines: Callable[[list[str]], list[str]] = lambda lines: lines
    """Function that changes the lines of an output file."""
    polls: int = 1
    """Number of times that a batch is in progress when the client asks."""
    token_limit: int = 0
    """Number of batches that are refused for the token limit before one is accepted."""
    reject_create: int = 0
    """Number of requests to create a batch that get status 429."""
    page: int = 2
    """Number of entries of a page in lists."""
    drop_metadata: bool = False
    on_request: Callable[[str, str], bytes | None] = lambda method, path: None
    """Called with method and path before a request is served. If it returns bytes, they are the answer."""
    after_request: Callable[[str, str], None] = lambda method, path: None
    """Called with the method and path when a request was served, before its answer is sent."""
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    chats: int = 0
    """Number of single calls."""
    _ids: Any = field(default_factory=lambda: count(1))

    @property
    def inputs(self) -> list[list[dict[str, Any]]]:
        """Requests of each batch that was started, in the order of creation."""
        return [
            self.lines(batch["input_file_id"])
            for batch in self.batches.values()
            if not (batch["errors"] and batch["errors"]["data"][0]["code"] == "token_limit_exceeded")
        ]

    @property
    def sent(self) -> list[str]:
        """``custom_id`` of every call that a batch executed or will execute, in order."""
        return [request["custom_id"] for batch in self.inputs for request in batch]

    def lines(self, file_id: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.files[file_id]["content"].decode().splitlines()]

    def new_file(self, name: str, content: bytes, purpose: str) -> dict[str, Any]:
        number = next(self._ids)
        file = {
            "id": f"file-{number}",
            "object": "file",
            "bytes": len(content),
            "created_at": number,
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }
        self.files[str(file["id"])] = {**file, "content": content}
        return file

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/v1")
        self.requests.append((request.method, path))
        self.headers.append(dict(request.headers))
        answer = await asyncio.to_thread(self.on_request, request.method, path)
        if answer is not None:
            response = web.StreamResponse(headers={"Content-Length": str(2 * len(answer) + 1)})
            await response.prepare(request)
            await response.write(answer)
            assert request.transport is not None
            request.transport.close()  # in the middle of the answer
            return response
        reply = await self.dispatch(request, path)
        await asyncio.to_thread(self.after_request, request.method, path)
        return reply

    async def dispatch(self, request: web.Request, path: str) -> web.Response:  # noqa: PLR0911 - a table
        words = path.strip("/").split("/")
        match (request.method, *words):
            case ("POST", "files"):
                form = await request.post()
                upload: Any = form["file"]
                assert form["purpose"] == "batch"
                return web.json_response(self.new_file(upload.filename, upload.file.read(), "batch"))
            case ("GET", "files"):
                inputs = [file for file in self.files.values() if file["purpose"] == "batch"]
                return self.page_of([{**file, "content": None} for file in reversed(inputs)], request)
            case ("GET", "files", file_id, "content") if file_id in self.files:
                return web.Response(body=self.files[file_id]["content"])
            case ("POST", "batches"):
                return self.create(await request.json())
            case ("GET", "batches"):
                return self.page_of(list(reversed(self.batches.values())), request)
            case ("GET", "batches", batch_id) if batch_id in self.batches:
                return web.json_response(self.advance(self.batches[batch_id]))
            case ("POST", "batches", batch_id, "cancel") if batch_id in self.batches:
                batch = self.batches[batch_id]
                if batch["status"] in ("completed", "failed", "expired", "cancelled"):
                    return web.json_response({"error": {"message": "cannot be cancelled"}}, status=409)
                batch["status"] = "cancelling"
                return web.json_response(batch)
            case ("POST", "chat", "completions"):
                self.chats += 1
                return web.json_response(completion(verdict({"body": await request.json()})))
        return web.json_response({"error": {"message": f"unknown path {path}"}}, status=404)

    def page_of(self, entries: list[dict[str, Any]], request: web.Request) -> web.Response:
        ids = [entry["id"] for entry in entries]
        start = ids.index(request.query["after"]) + 1 if "after" in request.query else 0
        page = entries[start : start + self.page]
        more = start + self.page < len(entries)
        return web.json_response({"object": "list", "data": page, "has_more": more})

    def create(self, body: dict[str, Any]) -> web.Response:
        if self.reject_create:
            self.reject_create -= 1
            return web.json_response({"error": {"message": "too many"}}, status=429)
        assert body["completion_window"] == "24h"
        assert body["endpoint"] == "/v1/chat/completions"
        requests = self.lines(body["input_file_id"])
        ids = [request["custom_id"] for request in requests]
        assert len(ids) == len(set(ids)) <= 50_000
        assert len({request["body"]["model"] for request in requests}) == 1
        assert all(len(custom_id) <= 64 for custom_id in ids)
        batch = {
            "id": f"batch_{next(self._ids)}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "completion_window": "24h",
            "created_at": next(self._ids),
            "input_file_id": body["input_file_id"],
            "output_file_id": None,
            "error_file_id": None,
            "status": "validating",
            "errors": None,
            "metadata": None if self.drop_metadata else body["metadata"],
            "request_counts": {"total": len(requests), "completed": 0, "failed": 0},
            "polls": self.polls,
        }
        self.batches[str(batch["id"])] = batch
        return web.json_response(batch)

    def advance(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return a batch; each question brings it nearer to its end."""
        if batch["status"] in ("completed", "failed", "expired", "cancelled"):
            return batch
        if self.token_limit and batch["status"] == "validating":
            self.token_limit -= 1
            return self.fail(batch, "token_limit_exceeded", "Enqueued token limit reached for tiny.")
        if batch["polls"] and batch["status"] != "cancelling":
            batch["polls"] -= 1
            batch["status"] = "in_progress"
            return batch
        end = "cancelled" if batch["status"] == "cancelling" else self.end_of(len(self.batches))
        if end == "failed":
            return self.fail(batch, "invalid_request", "The model of the batch does not exist.")
        return self.finish(batch, end)

    def fail(self, batch: dict[str, Any], code: str, message: str) -> dict[str, Any]:
        error = {"code": code, "message": message, "line": None, "param": None}
        batch.update(status="failed", errors={"object": "list", "data": [error]})
        return batch

    def finish(self, batch: dict[str, Any], status: str) -> dict[str, Any]:
        """Write the output and error files of a batch: lines in another order than the requests."""
        outputs: list[str] = []
        errors: list[str] = []
        for number, request in enumerate(self.lines(batch["input_file_id"])):
            line = self.line_of(request, number)
            if line is not None:
                text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
                (errors if is_error(line) else outputs).append(text)
        outputs = self.more_lines(outputs[::-1])
        for name, lines in (("output", outputs), ("error", errors)):
            if lines:
                content = "".join(f"{line}\n" for line in lines).encode()
                file = self.new_file(f"{batch['id']}_{name}.jsonl", content, "batch_output")
                batch[f"{name}_file_id"] = file["id"]
        counts = {"completed": len(outputs), "failed": len(errors)}
        batch.update(status=status, request_counts={**batch["request_counts"], **counts})
        return batch


@pytest.fixture(name="batch_server")
def serving_batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """Serve a batch endpoint on loopback, in a thread of its own."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    serving = BatchServer()
    loop = asyncio.new_event_loop()
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", serving.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def begin() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()

    loop.run_until_complete(begin())
    serving.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield serving
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
