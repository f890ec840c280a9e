"""Files that are replaced as a whole, or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hengwen.errors import ConfigError, StoreError
from hengwen.io.output_files import atomic_write


def write(path: Path, text: str, error: Exception | None = None) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, "utf-8")
        if error is not None:
            raise error


def test_the_permissions_of_an_existing_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old", "utf-8")
    path.chmod(0o640)
    write(path, "new")
    assert (path.read_text("utf-8"), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.txt"]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "folder" / "x.txt")
    with pytest.raises(ConfigError, match="is a link to .*x.txt, and no output is written through a link"):
        write(tmp_path / "link.txt", "new")
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_link_that_appears_during_the_work_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with atomic_write(tmp_path / "x.txt") as temporary:
        temporary.write_text("new", "utf-8")
        (tmp_path / "x.txt").symlink_to(tmp_path / "mine.txt")
    assert ((tmp_path / "x.txt").read_text("utf-8"), (tmp_path / "x.txt").is_symlink()) == ("new", False)
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"


def test_a_second_name_of_the_file_keeps_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("old", "utf-8")
    (tmp_path / "copy.txt").hardlink_to(tmp_path / "x.txt")
    write(tmp_path / "x.txt", "new")
    assert (tmp_path / "copy.txt").read_text("utf-8") == "old"


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    write(tmp_path / f"{'文' * 83}.md", "new")
    with pytest.raises(ConfigError, match="cannot be written: File name too long"):
        write(tmp_path / f"{'文' * 86}.md", "new")


def test_a_new_file_is_for_its_owner_and_an_old_one_keeps_its_permissions(tmp_path: Path) -> None:
    write(tmp_path / "x.txt", "new")
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o600
    (tmp_path / "x.txt").chmod(0o644)
    write(tmp_path / "x.txt", "newer")
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o644


@pytest.mark.parametrize("error", [ValueError("bad row"), StoreError("x.db: disk full")])
def test_an_error_in_the_block_keeps_the_old_file_and_is_raised_as_it_is(
    tmp_path: Path, error: Exception
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old", "utf-8")
    with pytest.raises(type(error), match=str(error)):
        write(path, "half", error)
    assert path.read_text("utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.txt"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere/x.txt: folder '.*nowhere' does not exist"):
        write(tmp_path / "nowhere" / "x.txt", "new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="folder: is a folder; name a file in it"):
        write(tmp_path / "folder", "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
