"""A judge that fails in every way that endpoints fail: typed failures, no zeros, next to nothing lost."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hengwen import RunOptions, Score, StoreError, open_store, run_plan
from hengwen.store import database

pytestmark = pytest.mark.slow

LABELS = {"A": 1.0, "B": 0.75, "C": 0.5, "D": 0.25, "E": 0.0}
FAULTS = {"500": 0.05, "429": 0.05, "malformed": 0.02, "dropped": 0.01, "cut body": 0.01}
CRITERIA = ("task_fit", "voice", "content", "language", "format")


@dataclass
class FaultServer:
    """Answers chat completions; a share of them goes wrong, drawn from a fixed seed."""

    faults: dict[str, float] = field(default_factory=dict)
    url: str = ""
    requests: int = 0
    in_flight: int = 0
    most: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    draw: random.Random = field(default_factory=lambda: random.Random(7))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                await asyncio.sleep(0.005)
                self.in_flight -= 1
                if not self.answer(writer):
                    return
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, writer: asyncio.StreamWriter) -> bool:
        """Write an answer; False where the connection is to end."""
        self.requests += 1
        kinds = [*self.faults, "good"]
        weights = [*self.faults.values(), 1 - sum(self.faults.values())]
        kind = self.draw.choices(kinds, weights)[0]
        self.sent[kind] += 1
        if kind == "dropped":
            writer.transport.abort()
            return False
        if kind in ("500", "429"):
            writer.write(self.response(kind, b'{"error": {"message": "not now"}}', "Retry-After: 0\r\n"))
            return True
        label = self.draw.choice("ABCD")  # never E: a zero is no judgment of this server
        verdict = json.dumps({"reason": "好", "criteria": dict.fromkeys(CRITERIA, label), "level": label})
        content = "五星，强烈推荐" if kind == "malformed" else verdict
        message = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        body = json.dumps({"model": "m", "choices": [message]}).encode()
        if kind == "cut body":
            writer.write(self.response("200", body)[: -len(body) // 2])
            return False
        writer.write(self.response("200", body))
        return True

    @staticmethod
    def response(status: str, body: bytes, more: str = "") -> bytes:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch, listen) -> FaultServer:
    """The server, on loopback."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    serving = FaultServer()
    serving.url = listen(serving.serve)
    return serving


def weigh(plan: Path, server: FaultServer, store: Path, **more: object):
    return run_plan(plan, store=store, judge="openai/m", base_url=server.url, **more)


def test_of_a_thousand_judgments_none_is_lost_and_none_is_invented(faulty, suite, tmp_path: Path) -> None:
    faulty.faults = FAULTS
    result = weigh(suite(1000), faulty, tmp_path / "x.db", options=RunOptions(concurrency=32))
    with open_store(tmp_path / "x.db") as store:
        outcomes = [row.outcome for row in store.rows(result.runs)]
        (answers,) = [list(store.answers(run)) for run in result.runs]
    scores = [outcome for outcome in outcomes if isinstance(outcome, Score)]
    assert (len(outcomes), len(answers)) == (6000, 1000)
    assert len(scores) >= 0.999 * 6000
    assert {score.value for score in scores} == {LABELS[label] for label in "ABCD"}
    assert all(faulty.sent[kind] > 0 for kind in FAULTS), faulty.sent
    assert faulty.most <= 32


@pytest.mark.parametrize("kind", ["500", "429", "malformed", "dropped", "cut body"])
def test_an_endpoint_that_only_fails_gives_only_typed_failures(
    faulty, suite, tmp_path: Path, kind: str
) -> None:
    faulty.faults = {kind: 1.0}
    plan = suite(
        3, backends={"j": {"provider": "openai", "model": "m", "base_url": faulty.url, "retries": 1}}
    )
    spec = json.loads(plan.read_text("utf-8"))
    spec["tasks"][0]["judges"][0]["backend"] = "j"
    plan.write_text(json.dumps(spec), "utf-8")
    result = run_plan(plan, store=tmp_path / "x.db")
    expected = {"429": "rate_limited", "malformed": "parse_error"}.get(kind, "transport_error")
    assert result.failures == {expected: 3}
    assert "t/persona_generic.level" in result.unscored


def test_a_full_disk_is_a_clear_error_and_a_later_run_goes_on(
    faulty, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, path = suite(300), tmp_path / "x.db"
    tune = database._tune_sqlite

    def tight(connection: sqlite3.Connection, record: object) -> None:
        tune(connection, record)
        connection.execute("PRAGMA max_page_count = 60")

    with monkeypatch.context() as patch:
        patch.setattr(database, "_tune_sqlite", tight)
        with pytest.raises(StoreError, match=r"x.db: database or disk is full; committed data is kept"):
            weigh(plan, faulty, path)
    before = faulty.requests
    assert 0 < before < 300
    result = weigh(plan, faulty, path)
    assert (result.failures, result.unscored) == ({}, ())
    assert 300 <= faulty.requests <= 300 + 48  # what was in flight, and what came since the last commit


def test_a_locked_store_is_a_clear_error_and_a_later_run_goes_on(
    faulty, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, path = suite(20), tmp_path / "x.db"
    open_store(path).close()
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"x.db: database is locked; committed data is kept"):
        weigh(plan, faulty, path)
    other.execute("ROLLBACK")
    other.close()
    assert weigh(plan, faulty, path).failures == {}
