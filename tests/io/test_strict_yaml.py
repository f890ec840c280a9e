"""YAML with line numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hengwen.errors import ConfigError
from hengwen.io.strict_yaml import StrictModel, load_yaml, parse_model


class Inner(StrictModel):
    size: int = 1


class Outer(StrictModel):
    name: str
    parts: list[Inner] = []


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "x.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_value_knows_its_line(tmp_path: Path) -> None:
    file = load_yaml(write(tmp_path, "name: a\nparts:\n  - size: 1\n  - size: 2\n"))
    assert file.at(("parts", 1, "size")).endswith("x.yaml:4")
    assert file.at(("parts", 1, "no such key")).endswith("x.yaml:4")
    assert file.at().endswith("x.yaml:1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nnmae: b\n", r"x.yaml:2: unknown key 'nmae'; did you mean 'name'\?"),
        (
            "name: a\nparts:\n  - size: 1\n  - {sise: 2}\n",
            r"x.yaml:4: unknown key 'sise'; did you mean 'size'\?",
        ),
        ("name: a\nparts:\n  - size: big\n", r"x.yaml:3: parts.0.size: .*integer.*, got 'big'"),
        ("parts: []\n", r"x.yaml:1: name: field required"),
        ("name: a\nname: b\n", r"x.yaml:2: key 'name' repeats, first seen on line 1"),
        ("name: [a\n", r"x.yaml:2: not valid YAML"),
        ("name: !!python/object:os.system x\n", r"x.yaml:1: not valid YAML"),
        ("- a\n", r"x.yaml:1: expected a mapping of keys, got list"),
        ("", r"x.yaml:1: expected a mapping of keys, got an empty file"),
        (b"name: a\nparts: \xc4\xff\n", r"x.yaml:2: not UTF-8 \(byte 0xc4\)"),
        (b"name: a\nparts: caf\xe9 na\xefve\n", r"x.yaml:2: not UTF-8 \(byte 0xe9\)"),
        (
            "name: a\nparts: 你好\n".encode("gbk"),
            r"x.yaml:2: not UTF-8, but GBK or GB18030; convert it: iconv",
        ),
        ("name: a\nparts: 㐀你好，世界\n".encode("gb18030"), r"x.yaml:2: not UTF-8, but GBK"),
    ],
    ids=[
        "unknown key",
        "unknown key inside",
        "wrong type",
        "missing key",
        "key twice",
        "broken",
        "unsafe tag",
        "a list",
        "empty",
        "neither UTF-8 nor GBK",
        "Latin-1",
        "GBK",
        "GB18030",
    ],
)
def test_complaints_name_file_and_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_model(Outer, load_yaml(write(tmp_path, text)))


def test_several_complaints_are_counted(tmp_path: Path) -> None:
    file = load_yaml(write(tmp_path, "name: a\nparts: [{size: x}, {size: y}, {size: z}]\n"))
    with pytest.raises(ConfigError, match=r"\(and 2 more\)$"):
        parse_model(Outer, file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.yaml: no such file"):
        load_yaml(tmp_path / "nowhere.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_yaml(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert load_yaml(write(tmp_path, b"\xef\xbb\xbfname: a\n")).data == {"name": "a"}


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{chr(ord(name) - 1)}'] * 9)}]\n" for name in "bcdefghijk"
)
HOSTILE = {
    "aliases": (BOMB, ":5: not valid YAML: more than 50,000 values"),
    "mappings": ("{a: " * 100_000, ":1: not valid YAML: nested more than 64 levels"),
    "lists": ("[" * 1_000 + "]" * 1_000, ":1: not valid YAML: nested more than 64 levels"),
    "self": ("a: &x [*x]", ":1: not valid YAML: the alias *x stands inside its own value"),
    "int": ("\na: !!int abc", ":2: not valid YAML: not a valid int: 'abc'; put it in quotes"),
    "date": ("a: 2024-13-45", ":1: not valid YAML: not a valid timestamp: '2024-13-45'"),
    "timestamp": ("a: !!timestamp soon", ":1: not valid YAML: not a valid timestamp: 'soon'"),
    "bool": ("a: !!bool maybe", ":1: not valid YAML: not a valid bool: 'maybe'"),
    "digits": ("a: " + "9" * 5_000, ":1: not valid YAML: not a valid int: '999"),
    "sexagesimal": ("a: " + ":".join(["59"] * 3_000), ":1: not valid YAML: not a valid int: '59:59"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_yaml_is_refused_before_it_takes_memory(tmp_path: Path, kind: str) -> None:
    text, message = HOSTILE[kind]
    path = tmp_path / "plan.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_yaml(path)
