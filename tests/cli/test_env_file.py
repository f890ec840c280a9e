"""A ``.env`` beside a plan is a file of its folder: nothing of it counts without trust."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PLAN = """\
name: p
tasks: [{name: t, samples: s.jsonl, scorers: [length], judges: [{rubric: relevance, backend: b}]}]
checkpoints: [{name: c, responses: a.jsonl}]
backends: {b: {provider: openai, model: m}}
rewards: [t/length.words]
"""
CALLING = (
    *("run plan.yaml", "run plan.yaml --dry-run", "validate plan.yaml", "doctor plan.yaml"),
    *("batch export plan.yaml out", "label plan.yaml", "serve-reward plan.yaml"),
)
"""Commands that load a plan to make calls."""
READING = (
    *("gate plan.yaml", "report", "compare a b", "drift", "runs list", "export -o rows.csv"),
    *(
        "judge-drift plan.yaml",
        "power plan.yaml",
        "calibrate plan.yaml",
        "view --label plan.yaml",
        "import scores a.jsonl",
    ),
)
"""Others; a store that a ``.env`` names would be a connection too."""


@pytest.fixture
def folder(tmp_path: Path, hengwen: Callable, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a plan; what a ``.env`` sets is removed afterwards."""
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    (tmp_path / "s.jsonl").write_text('{"id": "a", "input": "?"}\n', "utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "output": "x"}\n', "utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "HENGWEN_STORE", "HENGWEN_JUDGE", "HENGWEN_BASE_URL", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "mine-and-secret")
    monkeypatch.setenv("PGPASSWORD", "mine-and-secret")
    before = dict(os.environ)
    yield tmp_path
    for name in set(os.environ) - set(before):
        del os.environ[name]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server of a stranger, which must not hear from anybody."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def address(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


def settings(listener: socket.socket) -> str:
    host = address(listener)
    return (
        f"OPENAI_BASE_URL=http://{host}/v1\nWANDB_BASE_URL=http://{host}\n"
        f"HENGWEN_JUDGE=openai/m\nHENGWEN_BASE_URL=http://{host}/v1\n"
        f"HENGWEN_STORE=postgresql://me@{host}/db\nhttps_proxy=http://{host}\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", [*CALLING, *READING])
def test_no_command_connects_to_an_address_of_a_strangers_folder(
    hengwen: Callable, folder: Path, listener: socket.socket, command: str
) -> None:
    (folder / ".env").write_text(settings(listener), "utf-8")
    done = hengwen(*command.split())
    assert done.code != 0
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert "OPENAI_BASE_URL" not in os.environ
    if command in CALLING:
        assert done.code == 2
        assert f".env sets OPENAI_BASE_URL to http://{address(listener)}/v1" in done.err


@pytest.mark.parametrize("place", ["above the plan", "in the working folder"])
def test_only_the_folder_of_the_plan_is_looked_at(
    hengwen: Callable, folder: Path, listener: socket.socket, monkeypatch, place: str
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    for name in ("plan.yaml", "s.jsonl", "a.jsonl"):
        (folder / name).rename(inner / name)
    (folder / ".env").write_text(settings(listener), "utf-8")
    if place == "above the plan":
        monkeypatch.chdir(inner)
    plan = "plan.yaml" if place == "above the plan" else "inner/plan.yaml"
    done = hengwen("validate", plan)
    assert (done.code, done.err) == (0, "")
    assert "OPENAI_BASE_URL" not in os.environ


def test_a_trusted_file_sets_keys_and_addresses_and_is_named(hengwen: Callable, folder: Path) -> None:
    (folder / ".env").write_text(
        "FAR_API_KEY=k1\nOPENAI_API_KEY=theirs\nOPENAI_BASE_URL=http://127.0.0.1:1/v1\n"
        'MY_BASE_URL="http://x/${PGPASSWORD}"\nHENGWEN_STORE=x.db\nPATH=/evil\nhttps_proxy=http://x\n'
    )
    done = hengwen("validate", "plan.yaml", "--trust")
    assert done.code == 0
    assert done.err == "hengwen: .env: read FAR_API_KEY, MY_BASE_URL, OPENAI_BASE_URL\n"
    assert (os.environ["OPENAI_BASE_URL"], os.environ["FAR_API_KEY"]) == ("http://127.0.0.1:1/v1", "k1")
    assert os.environ["OPENAI_API_KEY"] == "mine-and-secret"
    assert os.environ["MY_BASE_URL"] == "http://x/${PGPASSWORD}"
    assert "HENGWEN_STORE" not in os.environ
    assert "evil" not in os.environ["PATH"]


def test_one_question_names_what_plan_and_file_bring(hengwen: Callable, folder: Path, monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text, *, err: not asked.append(text))
    monkeypatch.setattr("hengwen.cli.ui.inputs._is_terminal", lambda: True)
    (folder / "plan.yaml").write_text(PLAN + "log: [wandb]\n", "utf-8")
    (folder / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:1/v1\n", "utf-8")
    done = hengwen("validate", "plan.yaml")
    assert done.code == 0
    assert done.err.splitlines()[:3] == [
        "plan.yaml is more than data:",
        "  log: writes the scores to wandb, at its own server",
        "  .env sets OPENAI_BASE_URL to http://127.0.0.1:1/v1",
    ]
    os.environ.pop("OPENAI_BASE_URL")
    assert hengwen("validate", "plan.yaml").code == 0
    assert len(asked) == 1, "the answer is kept"
    (folder / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:2/v1\n", "utf-8")
    os.environ.pop("OPENAI_BASE_URL")
    assert hengwen("validate", "plan.yaml").code == 0
    assert len(asked) == 2, "another file is another question"


def test_a_plan_without_calls_leaves_the_file_alone(hengwen: Callable, folder: Path) -> None:
    plain = PLAN.replace(", judges: [{rubric: relevance, backend: b}]", "")
    (folder / "plan.yaml").write_text(plain, "utf-8")
    (folder / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:1/v1\n", "utf-8")
    assert hengwen("validate", "plan.yaml").err == ""
    assert "OPENAI_BASE_URL" not in os.environ


def test_a_file_that_cannot_be_read_is_one_line(hengwen: Callable, folder: Path) -> None:
    (folder / ".env").write_bytes(b"OPENAI_API_KEY=\xff\xfe\n")
    done = hengwen("validate", "plan.yaml")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert ".env: cannot be read: " in done.err
