"""Plug-ins by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest
from rows import each_row

from hengwen import registry
from hengwen.errors import ConfigError, PluginError


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch):
    """Replace the entry points of installed packages."""

    def offer(*points: EntryPoint) -> None:
        by_name: dict[str, list[EntryPoint]] = {}
        for point in points:
            by_name.setdefault(point.name, []).append(point)
        monkeypatch.setattr(registry, "_installed", lambda group: by_name if group == "scorers" else {})

    return offer


@dataclass
class Tone:
    """A scorer of another package."""

    warmth: int = 1

    def __post_init__(self) -> None:
        if self.warmth < 0:
            raise ValueError(f"warmth must not be negative, got {self.warmth}")


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "hengwen.scorers")


def test_every_builtin_can_be_loaded() -> None:
    for group, names in registry.BUILTINS.items():
        for name in names:
            assert registry.load(group, name) is not None


def test_an_installed_plugin_is_built_with_its_options(installed, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(point("tone", "tone_package:Tone"))
    monkeypatch.setattr(EntryPoint, "load", lambda self: Tone)
    assert registry.build("scorers", "tone", {"warmth": 3}) == Tone(3)
    assert "tone" in registry.known("scorers")


def test_a_broken_plugin_fails_only_when_it_is_loaded(installed) -> None:
    installed(point("tone", "no_such_package:Tone"))
    assert "tone" in registry.known("scorers")
    assert registry.load("scorers", "distinct_n") is not None
    with pytest.raises(PluginError, match=r"scorer 'tone' of package no_such_package:Tone cannot be loaded"):
        registry.load("scorers", "tone")


def test_two_owners_of_one_name_are_an_error(installed) -> None:
    installed(point("lyric", "other:Lyric"))
    with pytest.raises(
        ConfigError, match=r"scorer 'lyric' is claimed by several packages: hengwen, other:Lyric"
    ):
        registry.load("scorers", "lyric")


def test_a_typo_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"unknown scorer 'lyrics'; did you mean 'lyric'\?"):
        registry.load("scorers", "lyrics")


@each_row(
    ("name", "options", "message"),
    [
        ("distinct_n", {"m": 2}, r"scorer 'distinct_n': .*'m'.*; known: n, scope"),
        ("distinct_n", {"scopes": "all"}, r"did you mean 'scope'\?"),
        ("distinct_n", {"n": 0}, r"scorer 'distinct_n': n must be a whole number >= 1, got 0"),
    ],
)
def test_a_wrong_option_names_the_plugin_and_the_option(name: str, options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry.build("scorers", name, options)
