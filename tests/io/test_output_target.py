"""What can be written is known before any work, and no input is lost by it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hengwen.errors import ConfigError
from hengwen.io.output_files import check_inside, check_output, is_same_file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("{}\n", "utf-8")
    return path


def test_a_new_file_and_an_existing_one_can_be_written_and_the_check_leaves_nothing(
    source: Path, tmp_path: Path
) -> None:
    (tmp_path / "old.jsonl").write_text("old", "utf-8")
    for name in ("new.jsonl", "old.jsonl"):
        check_output(tmp_path / name, [source, tmp_path / "missing.jsonl"])
    assert sorted(os.listdir(tmp_path)) == ["answers.jsonl", "old.jsonl"]
    assert (tmp_path / "old.jsonl").read_text("utf-8") == "old"


def test_an_input_is_no_output_under_any_of_its_names(source: Path, tmp_path: Path) -> None:
    (tmp_path / "second.jsonl").hardlink_to(source)
    (tmp_path / "link.jsonl").symlink_to(source)
    (tmp_path / "folder").symlink_to(tmp_path)
    for target, path in [
        (source, source),
        (tmp_path / "folder" / source.name, source),
        (tmp_path / "second.jsonl", source),
        (source, tmp_path / "link.jsonl"),
        (tmp_path / "folder" / "new.db", tmp_path / "new.db"),
    ]:
        with pytest.raises(ConfigError, match=f"{target.name}: the output would replace the input .*{path}"):
            check_output(target, [path])
    assert source.read_text("utf-8") == "{}\n"


def test_a_link_is_no_output_wherever_it_leads(source: Path, tmp_path: Path) -> None:
    for name, target in [("a.md", source), ("b.md", tmp_path / "nothing.md"), ("c.md", tmp_path / "c.md")]:
        (tmp_path / name).symlink_to(target)
        with pytest.raises(ConfigError, match=f"{name}: is a link to .*{target.name}, and no output"):
            check_output(tmp_path / name)


def test_what_is_no_file_is_no_output(source: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    for name, message in [
        ("folder.md", "folder.md: is a folder; name a file in it"),
        ("pipe.md", "pipe.md: is a device or a pipe; name a file"),
        ("none/r.md", "none/r.md: folder '.*none' does not exist; create it first"),
        ("answers.jsonl/r.md", "r.md: folder '.*answers.jsonl' does not exist"),
        ("x" * 300, "x: cannot be written: File name too long"),
    ]:
        with pytest.raises(ConfigError, match=message):
            check_output(tmp_path / name)


def test_a_write_protected_file_is_no_output(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ConfigError, match="answers.jsonl: is write-protected; name another file"):
        check_output(source)
    check_output(tmp_path / "new.jsonl")


def test_a_folder_that_cannot_be_written_is_found_by_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(ConfigError, match="new.md: cannot be written: Read-only file system"):
        check_output(tmp_path / "new.md")


def test_two_missing_files_are_the_same_by_their_path(tmp_path: Path) -> None:
    assert is_same_file(tmp_path / "a" / ".." / "x.db", tmp_path / "x.db")
    assert not is_same_file(tmp_path / "y.db", tmp_path / "x.db")


def test_a_file_that_a_plan_names_for_writing_is_inside_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    folder.mkdir()
    plan = folder / "plan.yaml"
    check_inside(folder / "labels.csv", plan)
    (folder / "link").symlink_to(tmp_path)
    for target in (folder / ".." / "new.csv", tmp_path / "plan2" / "new.csv", folder / "link" / "new.csv"):
        with pytest.raises(ConfigError, match="is outside the folder of .*plan.yaml; name it with -o"):
            check_inside(target, plan)
