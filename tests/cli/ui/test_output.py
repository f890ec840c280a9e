"""The end of every command with a result: files, JSON or a print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hengwen.cli.ui.output import Face
from hengwen.documents.blocks import Document, Sentence
from hengwen.errors import ConfigError, PluginError
from hengwen.text.language import Bilingual

DOCUMENT = Document(
    kind="k", title=Bilingual("标题", "title"), blocks=(Sentence(text="text"),), record={"schema": 1}
)


def test_a_document_is_printed_in_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    Face().show(DOCUMENT, "zh")
    assert capsys.readouterr().out == "标题\ntext\n"


def test_json_is_the_only_output_and_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Face(as_json=True).show(DOCUMENT, "zh")
    assert json.loads(capsys.readouterr().out) == {"schema": 1}
    Face(quiet=True).show(DOCUMENT, "zh")
    assert capsys.readouterr() == ("", "")


def test_files_are_named_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "a.html", tmp_path / "b.md"]
    Face(output=paths, quiet=True).show(DOCUMENT, "en")
    assert capsys.readouterr().err == "".join(f"report: {path}\n" for path in paths)
    assert paths[1].read_text("utf-8") == "# title\n\ntext\n"


def test_outputs_are_checked_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.json"
    source.write_text("{}", "utf-8")
    with pytest.raises(ConfigError, match="would replace the input"):
        Face(output=[source]).check([source])
    with pytest.raises(ConfigError, match="unknown format"):
        Face(output=[tmp_path / "a.txt"]).check()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PluginError, match="needs? pyarrow"):
        Face(output=[tmp_path / "a.parquet"]).check()
    Face().check()
