"""Formats by name, files by suffix."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hengwen.errors import ConfigError
from hengwen.reports import build_view, write_report
from hengwen.reports.render.write import render


@pytest.fixture
def view(data):
    return build_view(data)


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.html", "<!doctype html>"), ("r.md", "# "), ("x.report.json", "{"), ("R.HTML", "<!doctype html>")],
)
def test_the_suffix_names_the_format(view, tmp_path, name, start):
    path = write_report(view, tmp_path / name)
    assert path == tmp_path / name
    text = path.read_text(encoding="utf-8")
    assert text.startswith(start)
    assert text.endswith("\n")


@pytest.mark.parametrize("name", ["r.pdf", "r", ".html"])
def test_an_unknown_suffix_lists_the_known_ones(view, tmp_path, name):
    with pytest.raises(ConfigError, match=r"use one of \.html, \.md, \.json"):
        write_report(view, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_names_the_nearest(view):
    with pytest.raises(ConfigError, match=r"unknown report format 'htm'; did you mean 'html'\?"):
        render(view, "htm")


def test_a_missing_folder_is_an_error(view, tmp_path):
    with pytest.raises(ConfigError, match="does not exist; create it first"):
        write_report(view, tmp_path / "nowhere" / "r.md")


def test_a_report_replaces_the_old_file_and_leaves_nothing_else(view, tmp_path):
    path = tmp_path / "r.json"
    path.write_text("old", "utf-8")
    path.chmod(0o640)
    write_report(view, str(path))
    assert json.loads(path.read_text(encoding="utf-8"))["plan"] == "songs"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_what_cannot_be_replaced_is_one_error_and_no_rubbish(view, tmp_path):
    (tmp_path / "r.md").mkdir()
    with pytest.raises(ConfigError, match="r.md: is a folder; name a file in it"):
        write_report(view, tmp_path / "r.md")
    assert [p.name for p in tmp_path.iterdir()] == ["r.md"]


def test_the_package_loads_no_template_engine_before_it_is_used():
    code = "import hengwen.reports, sys; sys.exit('jinja2' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
