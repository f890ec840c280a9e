"""The GitHub action: its scripts run with a stand-in for ``gh`` and for ``hengwen``."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
REPORT = "<!-- hengwen-gate:p -->\n### x\n"
FILE_MARK = "<!-- hengwen-gate-file:1359307028-9 -->"
"""Mark of the comment on ``plan.yaml``."""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the script of a step as GitHub does; stand-ins write their arguments to ``calls``."""
    (tmp_path / "bin").mkdir()

    def call(name: str, stand_in: str, **variables: str) -> subprocess.CompletedProcess[str]:
        for program in ("gh", "hengwen"):
            path = tmp_path / "bin" / program
            path.write_text(f'#!/bin/bash\nprintf "%s\\n" {program} "$@" >> calls\n{stand_in}\n', "utf-8")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        step = STEPS[name]
        environment = {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            **{key: variables.get(key, "") for key in step["env"]},
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return call


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text("utf-8").splitlines()


def test_no_input_is_part_of_a_script() -> None:
    for step in STEPS.values():
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_is_used_and_has_a_description() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, spec in ACTION["inputs"].items():
        assert f"inputs.{name}" in text
        assert spec["description"]


@pytest.mark.slow
def test_no_module_of_the_checkout_runs_when_the_package_is_installed(run, tmp_path: Path) -> None:
    for name in ("pip", "pickle", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'planted')!r}, 'w')", "utf-8")
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/bash\nexec {sys.executable} "$@"\n', "utf-8")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    done = run("Install", "", PACKAGE="/no/such/folder")
    assert "/no/such/folder" in done.stderr  # it is pip that answers
    assert not (tmp_path / "planted").exists()


def test_the_exit_code_of_the_gate_is_kept_for_the_last_step(run, tmp_path: Path) -> None:
    done = run(
        "Gate", "exit 3", PLAN="-a plan.yaml", STORE="s.db", JUNIT="j.xml", COMMENT_FILE="c.md", RUN="b"
    )
    assert done.returncode == 0
    assert (tmp_path / "output").read_text("utf-8") == "exit-code=3\n"
    assert calls(tmp_path) == [
        *("hengwen", "gate", "--junit", "j.xml", "--comment", "c.md"),
        *("--store", "s.db", "--run", "b", "--", "-a plan.yaml"),
    ]
    assert run("Result", "", CODE="3").returncode == 3


def test_a_report_of_an_earlier_step_is_not_published(run, tmp_path: Path) -> None:
    for name in ("-j.xml", "c.md"):
        (tmp_path / name).write_text("old", "utf-8")
    assert run("Gate", "exit 2", PLAN="plan.yaml", JUNIT="-j.xml", COMMENT_FILE="c.md").returncode == 0
    assert not (tmp_path / "-j.xml").exists()
    assert not (tmp_path / "c.md").exists()


def comment(run, existing: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the step that comments; ``existing`` is the id of the comment that ``gh`` finds."""
    script = f'case "$*" in *--paginate*) printf "%s" "{existing}"; printf "%s" "$MARK" > mark;; esac'
    rest = {"REPOSITORY": "o/r", "NUMBER": "7", "COMMENT_FILE": "c.md", "GH_TOKEN": "t"}
    return run("Comment", script, **{"PLAN": "plan.yaml", **rest, **variables})


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ("", ["--method", "POST", "repos/o/r/issues/7/comments"]),
        ("41", ["--method", "PATCH", "repos/o/r/issues/comments/41"]),
    ],
)
def test_the_comment_is_made_once_and_then_replaced(
    run, tmp_path: Path, existing: str, expected: list[str]
) -> None:
    (tmp_path / "c.md").write_text(REPORT, "utf-8")
    done = comment(run, existing, CODE="0")
    assert (done.returncode, done.stderr) == (0, "")
    arguments = calls(tmp_path)
    assert arguments[:4] == ["gh", "api", "repos/o/r/issues/7/comments", "--paginate"]
    assert arguments[-8:] == ["gh", "api", *expected, "-F", "body=@c.md.body", "--silent"]
    assert (tmp_path / "mark").read_text("utf-8") == FILE_MARK
    assert (tmp_path / "c.md.body").read_text("utf-8") == f"{FILE_MARK}\n{REPORT}"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("", "hengwen gate: no result, exit code 2, see the log"),
        ("en", "hengwen gate: no result, exit code 2, see the log"),
        ("zh", "hengwen gate：没有结果，退出码 2，见日志"),
    ],
)
def test_without_a_report_the_existing_comment_says_so(run, tmp_path: Path, language: str, text: str) -> None:
    """The comment of an earlier commit would otherwise still say that the gates passed."""
    assert comment(run, "41", CODE="2", LANGUAGE_OF_TEXT=language).returncode == 0
    expected = ["--method", "PATCH", "repos/o/r/issues/comments/41"]
    assert calls(tmp_path)[-8:] == ["gh", "api", *expected, "-F", "body=@c.md.body", "--silent"]
    assert (tmp_path / "mark").read_text("utf-8") == FILE_MARK
    assert (tmp_path / "c.md.body").read_text("utf-8") == f"{FILE_MARK}\n{text}\n"


def test_without_a_report_there_is_no_new_comment(run, tmp_path: Path) -> None:
    assert comment(run, "", CODE="2").returncode == 0
    assert "POST" not in calls(tmp_path)
    assert "PATCH" not in calls(tmp_path)


@pytest.mark.parametrize("plan", ["--> plan.yaml", "计划/plan.yaml", "$(touch x)", "-n"])
def test_no_name_of_a_plan_is_part_of_the_mark(run, tmp_path: Path, plan: str) -> None:
    (tmp_path / "c.md").write_text(REPORT, "utf-8")
    assert comment(run, "", CODE="0", PLAN=plan).returncode == 0
    mark = (tmp_path / "mark").read_text("utf-8")
    assert re.fullmatch(r"<!-- hengwen-gate-file:\d+-\d+ -->", mark)
    assert mark != FILE_MARK
    assert not (tmp_path / "x").exists()


def test_only_a_comment_of_a_bot_is_replaced() -> None:
    assert '.user.type == "Bot"' in STEPS["Comment"]["run"]
