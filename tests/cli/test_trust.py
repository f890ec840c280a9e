"""Plans that name code or secrets, at the command line: refused, asked once, or allowed by --trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import typer

PLAN = """\
name: p
tasks: [{name: t, samples: s.jsonl, scorers: [length], judges: [{rubric: relevance, backend: b}]}]
checkpoints: [{name: c, responses: a.jsonl}]
backends: {b: {provider: langchain, factory: "subprocess:run", params: {args: [touch, ran]}}}
"""
REFUSAL = (
    "plan 'p' needs your trust: backend 'b' runs subprocess:run; "
    "if you know what that does, add --trust (in Python: trust=True)\n"
)


@pytest.fixture
def plan(tmp_path: Path, hengwen: Callable, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "input": "?"}\n', "utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "output": "x"}\n', "utf-8")
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "plan.yaml"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Answers of a user at a terminal, in their order; a question without one is an error."""
    answers: list[bool] = []

    def confirm(text: str, *, err: bool) -> bool:
        assert (text, err) == ("trust this plan until it changes?", True)
        return answers.pop(0)

    monkeypatch.setattr(typer, "confirm", confirm)
    monkeypatch.setattr("hengwen.cli.ui.inputs._is_terminal", lambda: True)
    return answers


@pytest.mark.parametrize("command", [["run"], ["run", "--dry-run"], ["validate"], ["label"], ["calibrate"]])
def test_without_a_terminal_a_plan_with_code_is_refused_and_runs_nothing(hengwen, plan, command) -> None:
    done = hengwen(*command, plan)
    assert (done.code, done.out, done.err) == (2, "", f"hengwen: {plan}:4: {REFUSAL}")
    assert sorted(path.name for path in plan.parent.iterdir()) == ["a.jsonl", "plan.yaml", "s.jsonl"]


@pytest.mark.slow
def test_trust_counts_for_one_command(hengwen, plan) -> None:
    assert hengwen("validate", plan, "--trust").code == 0
    assert hengwen("run", plan, "--dry-run", "--trust").code == 0
    assert hengwen("run", plan, "--trust", "-q").code == 1  # subprocess.run returns no chat model
    assert plan.with_name("ran").exists()
    assert hengwen("validate", plan).err == f"hengwen: {plan}:4: {REFUSAL}"


def test_a_judge_of_the_command_line_replaces_code_that_needs_trust(hengwen, plan) -> None:
    judge = ("--judge", "openai/tiny", "--base-url", "http://127.0.0.1:1/v1")
    assert hengwen("run", plan, "--dry-run", *judge).code == 0


def test_a_terminal_asks_once_until_the_plan_changes(hengwen, plan, answers) -> None:
    answers[:] = [True]
    first = hengwen("validate", plan)
    assert (first.code, answers) == (0, [])
    assert first.err.startswith(f"{plan} is more than data:\n  backend 'b' runs subprocess:run\n")
    assert hengwen("run", plan, "--dry-run").code == 0
    assert len((plan.parent / "state" / "hengwen" / "trusted-plans").read_text("utf-8").split()) == 1
    plan.write_text(PLAN + "# changed\n", "utf-8")
    answers[:] = [False]
    refused = hengwen("run", plan)
    assert (refused.code, answers) == (2, [])
    assert refused.err.endswith(REFUSAL)


def test_an_answer_that_cannot_be_kept_is_asked_for_again(hengwen, plan, answers) -> None:
    (plan.parent / "state").write_text("a file, not a folder", "utf-8")
    for _ in range(2):
        answers[:] = [True]
        done = hengwen("validate", plan)
        assert (done.code, answers) == (0, [])
        assert "trusted-plans: cannot be written, so the next command asks again: " in done.err


def test_validate_says_where_each_key_goes(hengwen, plan) -> None:
    far = '{provider: openai, model: m, api_key_env: FAR_API_KEY, base_url: "https://u:p@far/v1"}'
    plan.write_text(PLAN.partition("backends:")[0] + f"backends: {{b: {far}}}\n", "utf-8")
    need = "backend 'b' sends the key in FAR_API_KEY to https://far/v1"
    assert need in hengwen("validate", plan).err
    done = hengwen("validate", plan, "--trust")
    assert (done.code, done.out.splitlines()[0]) == (0, "backend b: https://far/v1, key from FAR_API_KEY")
