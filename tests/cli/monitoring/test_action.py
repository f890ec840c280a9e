"""The GitHub action: its scripts run with a stand-in for ``gh`` and for ``hengwen``."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
MARK = "<!-- hengwen-gate:p -->"

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
    (tmp_path / "c.md").write_text(f"{MARK}\n### x\n", "utf-8")
    script = f'case "$*" in *--paginate*) printf "%s" "{existing}";; esac'
    done = run("Comment", script, REPOSITORY="o/r", NUMBER="7", COMMENT_FILE="c.md", GH_TOKEN="t")
    assert (done.returncode, done.stderr) == (0, "")
    arguments = calls(tmp_path)
    assert arguments[:4] == ["gh", "api", "repos/o/r/issues/7/comments", "--paginate"]
    assert arguments[-8:] == ["gh", "api", *expected, "-F", "body=@c.md", "--silent"]


def test_without_a_report_there_is_no_comment(run, tmp_path: Path) -> None:
    assert run("Comment", "", COMMENT_FILE="missing.md").returncode == 0
    assert not (tmp_path / "calls").exists()


def test_only_a_comment_of_a_bot_is_replaced() -> None:
    assert '.user.type == "Bot"' in STEPS["Comment"]["run"]
