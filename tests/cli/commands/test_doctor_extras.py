"""``doctor`` lists the optional dependency groups that exist."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from hengwen.cli.commands.doctor import EXTRA_MODULES
from hengwen.runs import run_job
from hengwen.runs.run_job import package_versions

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def test_every_extra_of_the_project_is_listed_and_no_other() -> None:
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRA_MODULES) == set(extras) - {"all"}


def test_a_package_that_is_not_installed_is_left_out(
    hengwen, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(run_job, "PACKAGES", ("hengwen", "no-such-package"))
    package_versions.cache_clear()
    request.addfinalizer(package_versions.cache_clear)
    assert hengwen("doctor").out.splitlines()[1] == f"hengwen {version('hengwen')}"
