"""The page of the dependencies names each of them, and argues for the large ones."""

from __future__ import annotations

import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def test_the_page_has_every_dependency_and_an_argument_for_each_large_one() -> None:
    spec = spec_from_file_location("dependencies", ROOT / "tools" / "dependencies.py")
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {Requirement(line).name for line in project["dependencies"]}
    assert names == set(tool.PURPOSES)
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("|")][2:]
    assert {row[0].strip() for row in rows} == names
    large = {row[0].strip() for row in rows if float(row[3]) > tool.ARGUED_MB}
    assert large
    for name in large:
        assert f"- **{name}.** {tool.ARGUMENTS[name]}" in page
