"""Other tools, which the group ``integrations`` of pyproject.toml installs (``make integrations``)."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def requires_tools() -> bool:
    """Return whether all tools have to be installed."""
    return bool(os.environ.get("HENGWEN_REQUIRE_TOOLS"))


def real_tool(name: str) -> Any:
    """Import a tool as it is; skip the test where it is not installed, except where all tools have to be."""
    if requires_tools():
        return import_module(name)
    return pytest.importorskip(name, reason=f"{name.partition('.')[0]} is not installed: make integrations")
