"""A git reference as baseline: runs record the commit of their plan's folder."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from hengwen import Run, Store, evaluate_gates, load_plan, open_store, run_plan
from hengwen.errors import ConfigError

ANSWERS = '{"id": "x", "output": "一二三"}\n'


def git(folder: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, check=True)


def commit(folder: Path, message: str, tag: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    git(folder, "tag", tag)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan of two checkpoints in a repository, at the tag ``first``."""
    folder = tmp_path / "repository"
    folder.mkdir()
    plan = {
        "plan.yaml": "name: p\n"
        "tasks: [{name: t, samples: s.jsonl, scorers: [length]}]\n"
        "checkpoints: [{name: a, responses: a.jsonl}, {name: b, responses: b.jsonl}]\n"
        'gates: ["noninferior(t/length.characters, git:first, 1)"]\n',
        "s.jsonl": '{"id": "x", "input": "问"}\n',
        "a.jsonl": ANSWERS,
        "b.jsonl": ANSWERS,
    }
    for name, text in plan.items():
        (folder / name).write_text(text, "utf-8")
    git(folder, "init", "-q")
    commit(folder, "first", "first")
    return folder


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


def commits(run: Run) -> list[dict[str, Any]]:
    facts: Any = run.facts
    return facts["commits"]


def baseline_of(store: Store, folder: Path) -> str:
    term = evaluate_gates(store, folder / "plan.yaml").gates[0].terms[0]
    return term.baseline.id


def test_a_git_reference_means_the_run_of_the_same_checkpoint_at_that_commit(
    store: Store, folder: Path
) -> None:
    first = {run.checkpoint: run.id for run in run_plan(folder / "plan.yaml", store=store).runs}
    (folder / "b.jsonl").write_text(ANSWERS.replace("三", "三四"), "utf-8")
    commit(folder, "second", "second")
    second = run_plan(folder / "plan.yaml", store=store).runs
    assert [run.id == first[run.checkpoint] for run in second] == [True, False]  # a is resumed, b is new
    assert [len(commits(run)) for run in second] == [2, 1]
    assert baseline_of(store, folder) == first["b"]


def test_a_run_of_changed_files_is_the_last_choice(store: Store, folder: Path) -> None:
    clean = run_plan(folder / "plan.yaml", store=store).runs[1]
    (folder / "b.jsonl").write_text(ANSWERS.replace("三", "五"), "utf-8")
    changed = run_plan(folder / "plan.yaml", store=store).runs[1]
    assert [item["changed"] for item in commits(changed)] == [True]
    assert baseline_of(store, folder) == clean.id
    assert evaluate_gates(store, folder / "plan.yaml").warnings == ()


def test_a_baseline_of_changed_files_is_named_in_a_warning(store: Store, folder: Path) -> None:
    """It may have the same changes as the run under test, so that a comparison shows nothing."""
    (folder / "b.jsonl").write_text(ANSWERS.replace("三", "五"), "utf-8")
    changed = run_plan(folder / "plan.yaml", store=store).runs[1]
    warning = (
        f"git:first: the plan of the baseline {changed.id}, or a file that it names, differed from the commit"
    )
    gates = ["noninferior(t/length.characters, git:first, 1)", "no_drop(*)"]
    report = evaluate_gates(store, folder / "plan.yaml", gates=gates, baseline="git:first")
    assert report.warnings == (warning,)


def test_a_run_without_changes_is_preferred_to_a_later_checkpoint(store: Store, folder: Path) -> None:
    clean, later = run_plan(folder / "plan.yaml", store=store).runs
    store.remove(later)
    (folder / "b.jsonl").write_text(ANSWERS.replace("三", "五"), "utf-8")
    assert run_plan(folder / "plan.yaml", store=store).runs[0].id == clean.id  # resumed without changes
    text = (folder / "plan.yaml").read_text("utf-8")
    (folder / "plan.yaml").write_text(
        text.replace("jsonl}]", "jsonl}, {name: c, responses: a.jsonl}]"), "utf-8"
    )
    commit(folder, "second", "second")
    run_plan(folder / "plan.yaml", store=store)
    report = evaluate_gates(store, folder / "plan.yaml", run="c")
    assert (report.gates[0].terms[0].baseline.id, report.warnings) == (clean.id, ())


def test_a_commit_without_a_run_is_an_error(store: Store, folder: Path) -> None:
    commit(folder, "empty", "second")
    run_plan(folder / "plan.yaml", store=store)
    with pytest.raises(
        ConfigError, match=r"git:first: .* has no finished run of plan 'p' at commit \w{12}; run"
    ):
        evaluate_gates(store, folder / "plan.yaml")
    with pytest.raises(ConfigError, match=r"git:third: no such commit"):
        evaluate_gates(store, folder / "plan.yaml", gates=["no_drop(*, git:third)"])


def test_a_plan_that_is_no_file_has_no_commit(store: Store, folder: Path) -> None:
    run_plan(folder / "plan.yaml", store=store)
    plan = load_plan(folder / "plan.yaml")
    without_file = type(plan).model_validate(plan.model_dump())
    with pytest.raises(ConfigError, match="git:first needs a plan that is a file"):
        evaluate_gates(store, without_file)


def test_commits_do_not_make_runs_incomparable(store: Store, folder: Path) -> None:
    from hengwen import compare_runs

    run_plan(folder / "plan.yaml", store=store)
    (folder / "b.jsonl").write_text(ANSWERS.replace("三", "三四"), "utf-8")
    commit(folder, "second", "second")
    run_plan(folder / "plan.yaml", store=store)
    assert compare_runs(store, "a", "b").scores
