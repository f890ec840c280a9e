"""Long texts on which slow patterns would take minutes."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["one letter", "two letters", "digits"])
def long_text(request: pytest.FixtureRequest) -> str:
    return {
        "one letter": "a" * 50_000,
        "two letters": "ab" * 20_000 + "c" * 9,
        "digits": "".join(map(str, range(12_000))),
    }[request.param]
