"""A judge on loopback that speaks the chat protocol, counts what it is asked, and can misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

KEY = "sk-planted-4f1c9e"


def verdict(schema: dict[str, Any], label: str) -> str:
    """A verdict that satisfies the schema of the request, with one label everywhere."""
    properties = schema["properties"]
    criteria = properties["criteria"]["properties"]
    assert label in properties["level"]["enum"]
    return json.dumps({"reason": "读过了", "criteria": dict.fromkeys(criteria, label), "level": label})


@dataclass
class JudgeServer:
    """What a test may set, and what it may read."""

    url: str = ""
    label: str = "B"
    tokens: tuple[int, int] = (100, 20)
    delay: float = 0.02
    answered: int = 0
    prompts: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    misbehave: Callable[[int], tuple[int, str] | None] = lambda number: None
    """Of the request's number: a status and a body in the place of a verdict."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: dict[str, Any], key: str) -> tuple[int, str]:
        with self.lock:
            self.prompts.append(json.dumps(request["messages"], ensure_ascii=False))
            self.keys.add(key)
            number = len(self.prompts)
        time.sleep(self.delay)
        wrong = self.misbehave(number)
        if wrong is not None:
            return wrong
        schema = request["response_format"]["json_schema"]["schema"]
        message = {"role": "assistant", "content": verdict(schema, self.label)}
        body = {
            "model": "tiny-judge-1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": dict(zip(("prompt_tokens", "completion_tokens"), self.tokens, strict=True)),
        }
        with self.lock:
            self.answered += 1
        return 200, json.dumps(body)


class QuietServer(ThreadingHTTPServer):
    """Clients that are killed break their connections: that is the test, not an error."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@pytest.fixture
def judge_server() -> Iterator[JudgeServer]:
    """A judge on loopback."""
    serving = JudgeServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status, text = serving.answer(request, key)
            raw = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    server = QuietServer(("127.0.0.1", 0), Handler)
    serving.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield serving
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def suite(tmp_path: Path) -> Callable[[int], Path]:
    """Write a plan of one task, one checkpoint and so many answers for a judge; return its path."""

    def write(count: int, **more: Any) -> Path:
        prompts = [{"id": f"q{i}", "input": f"第{i}个问题"} for i in range(count)]
        answers = [{"id": f"q{i}", "output": f"这是第{i}个回答。"} for i in range(count)]
        for name, rows in (("prompts", prompts), ("a", answers)):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
        plan = {
            "name": "p",
            "tasks": [
                {"name": "t", "samples": "prompts.jsonl", "judges": [{"rubric": "persona_generic"}]},
            ],
            "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
            **more,
        }
        path = tmp_path / "plan.yaml"
        path.write_text(json.dumps(plan, ensure_ascii=False), "utf-8")  # JSON is YAML
        return path

    return write
