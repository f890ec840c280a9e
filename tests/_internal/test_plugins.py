"""Classes by their location: a module, or a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hengwen._internal.plugins import is_location, load_class, source_digest, source_path
from hengwen.errors import ConfigError, PluginError

SOURCE = """\
from __future__ import annotations
from dataclasses import dataclass

@dataclass(frozen=True)
class Tone:
    warmth: int = 1
"""


@pytest.fixture
def tone(tmp_path: Path) -> Path:
    path = tmp_path / "tone.py"
    path.write_text(SOURCE, "utf-8")
    return path


def test_a_class_of_a_file_is_loaded_from_an_absolute_or_a_relative_path(tone: Path) -> None:
    assert load_class(f"{tone}:Tone")(2).warmth == 2


def test_a_changed_file_is_executed_again(tone: Path) -> None:
    first, digest = load_class(f"{tone}:Tone"), source_digest(tone)
    tone.write_text(
        SOURCE.replace("= 1", "= 17"), "utf-8"
    )  # Python tells a file from its cache by time and size
    assert (first().warmth, load_class(f"{tone}:Tone")().warmth) == (1, 17)
    assert source_digest(tone) != digest


def test_a_class_of_a_module_is_loaded() -> None:
    from collections import Counter

    assert load_class("collections:Counter") is Counter


def test_the_folder_of_a_file_does_not_join_the_import_path(tone: Path) -> None:
    before = list(sys.path)
    load_class(f"{tone}:Tone")
    assert sys.path == before


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tone.py", "'tone.py' names no class; write module:Class or file.py:Class"),
        (":Tone", "':Tone' names no class; write module:Class or file.py:Class"),
        ("tone.py:", "'tone.py:' names no class; write module:Class or file.py:Class"),
        ("tone.py:Tone()", "'tone.py:Tone()' names no class; write module:Class or file.py:Class"),
        ("tone.py:Tune", "tone.py has no class 'Tune'; did you mean 'Tone'?"),
        ("collections:Countr", "collections has no class 'Countr'; did you mean 'Counter'?"),
        ("none.py:Tone", "none.py: no such file"),
        ("folder.py:Tone", "folder.py: cannot be read: Is a directory"),
    ],
)
def test_a_wrong_location_says_what_is_wrong(
    spec: str, message: str, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tone.parent)
    Path("folder.py").mkdir()
    with pytest.raises(ConfigError) as caught:
        load_class(spec)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise RuntimeError('no model')", "RuntimeError: no model"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def (", "SyntaxError: invalid syntax (bad.py, line 1)"),
    ],
)
def test_code_that_fails_is_a_plugin_error_and_is_not_remembered(
    body: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(body, "utf-8")
    modules = set(sys.modules)
    with pytest.raises(PluginError) as caught:
        load_class("bad.py:Tone")
    assert str(caught.value) == f"'bad.py:Tone' cannot be loaded: {reason}"
    assert not {name for name in set(sys.modules) - modules if name.startswith("hengwen_file_")}


def test_a_module_that_does_not_exist_is_a_plugin_error() -> None:
    with pytest.raises(PluginError, match="No module named 'no_such_module'"):
        load_class("no_such_module:Tone")


def test_only_a_colon_or_the_end_py_makes_a_location() -> None:
    assert [is_location(name) for name in ("lyric", "m:C", "f.py:C", "f.py")] == [False, True, True, True]
    assert source_path("lyric") is None
    assert source_path("plans/f.py:C") == Path("plans/f.py")
