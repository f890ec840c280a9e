"""The end of every command with a result: files, JSON or a print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hengwen.cli.ui.output import check_outputs, show
from hengwen.documents.blocks import Document, Sentence
from hengwen.errors import ConfigError, PluginError
from hengwen.text.language import Bilingual

DOCUMENT = Document(
    kind="k", title=Bilingual("标题", "title"), blocks=(Sentence(text="text"),), record={"schema": 1}
)


def test_a_document_is_printed_in_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    show(DOCUMENT, [], language="zh", as_json=False, quiet=False)
    assert capsys.readouterr().out == "标题\ntext\n"


def test_json_is_the_only_output_and_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show(DOCUMENT, [], language="zh", as_json=True, quiet=False)
    assert json.loads(capsys.readouterr().out) == {"schema": 1}
    show(DOCUMENT, [], language="zh", as_json=False, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_files_are_named_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "a.html", tmp_path / "b.md"]
    show(DOCUMENT, paths, language="en", as_json=False, quiet=True)
    assert capsys.readouterr().err == "".join(f"report: {path}\n" for path in paths)
    assert paths[1].read_text("utf-8") == "# title\n\ntext\n"


def test_outputs_are_checked_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.json"
    source.write_text("{}", "utf-8")
    with pytest.raises(ConfigError, match="would replace the input"):
        check_outputs([source], [source])
    with pytest.raises(ConfigError, match="unknown format"):
        check_outputs([tmp_path / "a.txt"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PluginError, match="needs? pyarrow"):
        check_outputs([tmp_path / "a.parquet"])
    assert check_outputs(None) == []
