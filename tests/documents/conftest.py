"""One example of each kind of document."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from document_examples import example

from hengwen.documents.blocks import Document


@pytest.fixture(scope="session")
def document_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Document]:
    """Return the example of a kind, built once."""
    return cache(lambda kind: example(kind, tmp_path_factory.mktemp(kind)))
