"""Fixtures that every part uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Return a file of the data folder beside the checkout, or skip the test where it is not there."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"../shared/{name} is not beside this checkout")
        return path

    return find
