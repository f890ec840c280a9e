"""``doctor`` lists the optional dependency groups that exist."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hengwen.cli.commands.doctor import EXTRA_MODULES

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def test_every_extra_of_the_project_is_listed_and_no_other() -> None:
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRA_MODULES) == set(extras) - {"all"}
