"""A judge on loopback that speaks the chat protocol, counts what it is asked, and can misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hengwen.cli import main

KEY = "sk-planted-4f1c9e"


def verdict(schema: dict[str, Any], label: str) -> str:
    """A verdict that satisfies the schema of the request, with one label everywhere."""
    properties = schema["properties"]
    if "winner" in properties:
        return json.dumps({"reason": "读过了", "winner": label})
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
    jitter: float = 0.0
    """Seconds that some answers take longer, so that they do not come in waves."""
    hold_after: int | None = None
    """Number of requests after which the judge holds its answers until this is None again."""
    answered: int = 0
    answers: list[tuple[float, str]] = field(default_factory=list)
    """When each good answer was ready, and to which prompt."""
    unread: set[str] = field(default_factory=set)
    """Prompts whose answers a killed process had not read."""
    prompts: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    prefer: Callable[[str, str, str], str] = lambda model, first, second: "tie"
    """Winner of a pair, from the judging model and both answers: first, second or tie."""
    misbehave: Callable[[int], tuple[int, str] | None] = lambda number: None
    """Of the request's number: a status and a body in the place of a verdict."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other."""
        prompt = ""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                prompt = ""  # the client has read the last answer
                headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
                request = json.loads(await reader.readexactly(int(headers["content-length"])))
                key = re.search(r"(?i)^authorization: bearer (.*)$", head, re.MULTILINE)
                self.keys.add(key[1].strip() if key else "")
                status, text = await self.answer(request)
                prompt = self.prompt_of(request)
                raw = text.encode()
                head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}"
                writer.write(f"{head}\r\n\r\n".encode() + raw)
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass  # clients that are killed close their connections: that is the test, not an error
        except ConnectionError:  # so Linux closes one in which data was not read
            self.unread.add(prompt)
        finally:
            writer.close()

    @staticmethod
    def prompt_of(request: dict[str, Any]) -> str:
        return json.dumps(request["messages"], ensure_ascii=False)

    def verdict_on(self, request: dict[str, Any]) -> str:
        """Return the verdict on one answer, or on a pair."""
        schema = request["response_format"]["json_schema"]["schema"]
        if "winner" not in schema["properties"]:
            return verdict(schema, self.label)
        text = request["messages"][1]["content"]
        pair = re.search(r":first\n(.*)\n\w+>>>.*:second\n(.*)\n\w+>>>", text, re.DOTALL)
        assert pair is not None
        return verdict(schema, self.prefer(request["model"], pair[1], pair[2]))

    async def answer(self, request: dict[str, Any]) -> tuple[int, str]:
        """Wait as long as a model would, then give a verdict, or what ``misbehave`` says."""
        prompt = self.prompt_of(request)
        self.prompts.append(prompt)
        number = len(self.prompts)
        await asyncio.sleep(self.delay + self.jitter * (number * 0.618 % 1))
        while self.hold_after is not None and number > self.hold_after:  # noqa: ASYNC110 - set by a thread
            await asyncio.sleep(0.01)
        wrong = self.misbehave(number)
        if wrong is not None:
            return wrong
        text = f"这是第{number}个回答。"  # of a model under test
        if "response_format" in request:
            text = self.verdict_on(request)
        message = {"role": "assistant", "content": text}
        body = {
            "model": "tiny-judge-1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": dict(zip(("prompt_tokens", "completion_tokens"), self.tokens, strict=True)),
        }
        self.answered += 1
        self.answers.append((time.monotonic(), prompt))
        return 200, json.dumps(body)


@pytest.fixture
def listen() -> Iterator[Callable[..., str]]:
    """Serve connections by a coroutine, on a loop and thread of its own; return the base URL."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    servers: list[asyncio.Server] = []

    def start(serve: Callable[..., Any]) -> str:
        starting = asyncio.start_server(serve, "127.0.0.1", 0, backlog=512)
        servers.append(loop.run_until_complete(starting))
        thread.start()
        return f"http://127.0.0.1:{servers[0].sockets[0].getsockname()[1]}/v1"

    async def stop() -> None:
        servers[0].close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    yield start
    asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def judge_server(listen: Callable[..., str]) -> JudgeServer:
    """A judge on loopback."""
    serving = JudgeServer()
    serving.url = listen(serving.serve)
    return serving


@pytest.fixture
def launch() -> Iterator[Callable[[Sequence[str]], subprocess.Popen[str]]]:
    """Start a program in a process of its own; it is killed at the end."""
    processes: list[subprocess.Popen[str]] = []

    def start_process(words: Sequence[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            words,
            env={**os.environ, "OPENAI_API_KEY": "x"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start_process
    for process in processes:
        process.kill()
        process.communicate()


def run_words(
    server: JudgeServer, plan: Path, store: Path, *more: str, in_flight: int, command: str = "run"
) -> list[str]:
    """Return the words of a command that runs a plan with the judge of a test."""
    words = [command, str(plan), "--judge", "openai/tiny", "--quiet", "--base-url", server.url]
    return [*words, "--store", str(store), "-j", str(in_flight), *more]


@pytest.fixture
def start(
    judge_server: JudgeServer, launch: Callable[[Sequence[str]], subprocess.Popen[str]]
) -> Callable[..., subprocess.Popen[str]]:
    """Start the program in a process of its own, with the judge of this test; it is killed at the end."""

    def begin(
        plan: Path, store: Path, *more: str, in_flight: int = 4, command: str = "run"
    ) -> subprocess.Popen[str]:
        words = run_words(judge_server, plan, store, *more, in_flight=in_flight, command=command)
        return launch([sys.executable, "-m", "hengwen", *words])

    return begin


def wait_for(server: JudgeServer, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until the judge has answered ``count`` requests."""
    deadline = time.monotonic() + 900
    while server.answered < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.005)


@pytest.fixture
def answered(judge_server: JudgeServer) -> Callable[[int, subprocess.Popen[str]], None]:
    """Return a function that waits until the judge has answered a number of requests of a process."""
    return partial(wait_for, judge_server)


@pytest.fixture
def suite(tmp_path: Path) -> Callable[[int], Path]:
    """Return a function that writes a plan of one task, one checkpoint and ``count`` answers to judge."""

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


@pytest.fixture
def program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[Any, str, str]]:
    """Run the program in this process and the folder of the test; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def call(*words: object) -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "argv", ["hengwen", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return call


@pytest.fixture
def run(program: Callable[..., tuple[Any, str, str]]) -> Callable[..., tuple[Any, Any, str]]:
    """Run a plan in this process; return exit code, JSON (or None) and stderr."""

    def call(plan: Path, *more: object) -> tuple[Any, Any, str]:
        code, out, err = program("run", plan, "--json", *more)
        return code, json.loads(out) if out else None, err

    return call


@pytest.fixture
def here(
    judge_server: JudgeServer, program: Callable[..., tuple[Any, str, str]]
) -> Callable[..., tuple[Any, str, str]]:
    """Do in this process what ``start`` does, which saves seconds; return exit code, stdout and stderr."""

    def call(
        plan: Path, store: Path, *more: str, in_flight: int = 4, command: str = "run"
    ) -> tuple[Any, str, str]:
        return program(*run_words(judge_server, plan, store, *more, in_flight=in_flight, command=command))

    return call
