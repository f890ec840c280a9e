"""The commit of a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hengwen.errors import ConfigError
from hengwen.io.git import git_state, resolve_ref


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, ``plan.yaml`` in ``data``."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    folder = tmp_path / "repository"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "plan.yaml").write_text("name: p\n", "utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_the_commit_of_a_folder_in_a_repository(repository: Path) -> None:
    data = repository / "data"
    state = git_state(data, [data / "plan.yaml"])
    assert state == (git(repository, "rev-parse", "HEAD"), False)


def test_a_changed_file_and_one_that_is_not_tracked_are_changes(repository: Path, tmp_path: Path) -> None:
    data = repository / "data"
    (data / "new.jsonl").write_text("{}\n", "utf-8")
    assert git_state(data, [data / "plan.yaml", tmp_path / "outside"]).changed is False
    assert git_state(data, [data / "new.jsonl"]).changed is True
    (data / "plan.yaml").write_text("name: q\n", "utf-8")
    assert git_state(data, [data / "plan.yaml"]).changed is True


def test_programs_that_a_repository_names_do_not_run(repository: Path) -> None:
    mark = repository / "ran"
    git(repository, "config", "filter.x.clean", f"touch {mark}; cat")
    git(repository, "config", "core.fsmonitor", f"touch {mark}")
    (repository / ".gitattributes").write_text("* filter=x\n", "utf-8")
    (repository / "data" / "plan.yaml").write_text("name: q\n", "utf-8")
    assert git_state(repository, [repository / "data" / "plan.yaml"]).changed is True
    assert not mark.exists()


def test_no_repository_and_no_commit_give_nothing(tmp_path: Path) -> None:
    assert git_state(tmp_path / "missing") is None
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) is None


def test_without_git_there_is_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert git_state(repository) is None


def test_a_name_means_a_commit(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    assert resolve_ref(repository / "data", "main") == commit
    assert resolve_ref(repository, commit[:10]) == commit


@pytest.mark.parametrize("ref", ["no-such-branch", "--output=x", "", "a b", "main\x00"])
def test_an_unknown_name_is_refused(repository: Path, ref: str) -> None:
    with pytest.raises(ConfigError, match="no such commit in .*; fetch it first"):
        resolve_ref(repository, ref)


def missing_tree(repository: Path) -> None:
    """Delete the tree objects of the commit, as in a partial clone whose promisor holds them."""
    for oid in git(repository, "rev-parse", "HEAD^{tree}", "HEAD:data").split():
        (repository / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


@pytest.mark.parametrize(
    "settings",
    [
        {"remote.origin.url": "{folder}/other", "remote.origin.uploadpack": "touch {pwned}; false"},
        {"remote.origin.url": "ssh://host/other", "core.sshCommand": "touch {pwned}; false"},
        {"remote.origin.url": "ext::sh -c touch% {pwned}", "protocol.ext.allow": "always"},
    ],
    ids=["uploadpack", "ssh-command", "ext"],
)
def test_a_repository_that_misses_objects_runs_no_command(
    repository: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    pwned = tmp_path / "pwned"
    common = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
    }
    for name, value in {**common, **settings}.items():
        git(repository, "config", name, value.format(folder=tmp_path, pwned=pwned))
    missing_tree(repository)
    data = repository / "data"
    state = git_state(data, [data / "plan.yaml"])
    assert not pwned.exists()
    assert state is not None
    assert state.changed
