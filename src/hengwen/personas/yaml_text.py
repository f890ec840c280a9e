"""Write readable YAML that preserves every text exactly."""

from __future__ import annotations

from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """YAML dumper that writes multi-line texts as blocks, indents lists, and uses no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    lines = value.split("\n")
    tidy = all(line.isprintable() and line == line.strip() for line in lines)
    style = "|" if len(lines) > 1 and tidy and lines[0] else None
    if style is None and ("\n" in value or not value.isprintable() or len(value) > 40):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def yaml_block(data: Any) -> str:
    """Return data as YAML with one key per line."""
    return yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=float("inf"))


def yaml_flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.dump(
        [_one_line(value)],
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=float("inf"),
        default_flow_style=True,
    )
    return text.strip()[1:-1]


def single_line(text: str) -> str:
    """Return a text as one line for a comment; unprintable characters become spaces."""
    return "".join(char if char.isprintable() else " " for char in text)


class _OneLine(str):
    """Text that the YAML dumper writes on one line, not as a block."""


def _one_line(value: Any) -> Any:
    if isinstance(value, str):
        return _OneLine(value)
    if isinstance(value, dict):
        return {_one_line(key): _one_line(item) for key, item in value.items()}
    return [_one_line(item) for item in value] if isinstance(value, list) else value


def _quoted(dumper: _Dumper, value: _OneLine) -> yaml.ScalarNode:
    style = None if value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style=style)


_Dumper.add_representer(_OneLine, _quoted)
