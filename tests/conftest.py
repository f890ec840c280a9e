"""Fixtures that every part uses."""

from __future__ import annotations

import functools
import gc
import json
import signal
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from postgres_server import postgres, postgres_server  # noqa: F401 - fixtures
from ray_cluster import ray_cluster, ray_settings  # noqa: F401 - fixtures

# the same examples in each run, however slow the machine is
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")

SOME_SLOW = ("endtoend/test_peer_review.py", "judges/rubric")
TRACED = {Path(__file__).parent / name for name in ("cli", "engine", "view", *SOME_SLOW)}
"""Where slow tests run with coverage; elsewhere the fast tests cover what the slow ones do."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that run without coverage, before any are selected by their marks."""
    for item in items:
        if item.get_closest_marker("slow") and TRACED.isdisjoint((item.path, *item.path.parents)):
            item.add_marker("untraced")


def pytest_configure() -> None:
    """Collect without looking for garbage, which takes a fifth of the time: nearly all of it is kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among the tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for no doctests in the tests."""
    collectors = yield
    return [collector for collector in collectors if type(collector) is pytest.Module]


SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True, scope="session")
def interrupts_are_not_ignored() -> None:
    """Handle SIGINT as in a terminal; a shell starts a job in the background with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Return a file of the data folder beside the checkout, or skip the test where it is not there."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"../shared/{name} is not beside this checkout")
        return path

    return find


@dataclass(frozen=True)
class Done:
    """How a call ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)


@pytest.fixture(scope="session")
def built_commands() -> Callable[..., Any]:
    """Build the commands of the program once; that takes longer than most of them."""
    import typer.main

    return functools.cache(typer.main.get_command)


@pytest.fixture
def hengwen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, built_commands
) -> Callable[..., Done]:
    """Call the program in an empty folder without a key in the environment."""
    from hengwen.cli import main

    monkeypatch.setattr("typer.main.get_command", built_commands)
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HENGWEN_STORE", "HENGWEN_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("HENGWEN_LANG", "en")

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["hengwen", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        code = left.value.code
        return Done(code if isinstance(code, int) else int(code is not None), captured.out, captured.err)

    return call


PLAN = """\
name: p
tasks:
  - name: lyrics
    samples: prompts.jsonl
    scorers: [lyric]
    judges:
      - rubric: lyric_craft
checkpoints:
  - {name: a, responses: a.jsonl}
  - {name: b, responses: b.jsonl}
labels: labels.csv
"""
TEMPLATE = "(verse)\ncccR\ncccR"
PROMPTS = [{"id": name, "input": "写两行", "metadata": {"template": TEMPLATE}} for name in ("x", "y")]
ANSWERS = {
    "a": [{"id": "x", "output": "(verse)\n天上的云\n水里的星"}, {"id": "y", "output": "没有结构"}],
    "b": [
        {"id": "x", "output": "(verse)\n窗外有光\n桌上有霜"},
        {"id": "y", "output": "(verse)\n风往南走\n雨往北流"},
    ],
}
LABELS = "task,id,checkpoint,repeat,output,score,value,rater\nlyrics,x,a,1,,lyric_craft.level,0.5,me\n"


def jsonl(rows: list[dict]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture(scope="session")
def write_plan() -> Callable[[Path], Path]:
    """Return a function that writes a small plan with all its files into a folder."""

    def write(folder: Path) -> Path:
        (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
        (folder / "prompts.jsonl").write_text(jsonl(PROMPTS), encoding="utf-8")
        for name, rows in ANSWERS.items():
            (folder / f"{name}.jsonl").write_text(jsonl(rows), encoding="utf-8")
        (folder / "labels.csv").write_text(LABELS, encoding="utf-8")
        return folder / "plan.yaml"

    return write


@pytest.fixture
def plan(write_plan: Callable[[Path], Path], tmp_path: Path) -> Path:
    """A small plan with all its files."""
    return write_plan(tmp_path)
