"""Number of answers and threshold up to which duplicates are exact."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hengwen.objective.duplicates import exact_index, minhash_index
from hengwen.objective.duplicates.similarity import near_duplicates

pytestmark = pytest.mark.slow


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The indexes that were asked for candidates; they return none."""
    names: list[str] = []

    def note(name: str, texts: Sequence[str]) -> list[list[int]]:
        names.append(name)
        return [[] for _ in texts]

    monkeypatch.setattr(exact_index, "candidates", lambda texts, threshold: note("exact", texts))
    monkeypatch.setattr(minhash_index, "candidates", lambda texts, threshold: note("lsh", texts))
    return names


@pytest.mark.parametrize(
    ("count", "threshold", "exact", "index"),
    [
        (10_000, 0.85, None, "exact"),
        (10_001, 0.85, None, "lsh"),
        (10_001, 0.85, True, "exact"),
        (2, 0.85, False, "lsh"),
        (10_001, 0.8, None, "lsh"),
        (10_001, 0.79, None, "exact"),
        (2, 0.79, False, "exact"),
        (0, 0.85, False, "exact"),
    ],
)
def test_ten_thousand_answers_are_compared_exactly(
    used: list[str], count: int, threshold: float, exact: bool | None, index: str
) -> None:
    near_duplicates([f"answer {number}" for number in range(count)], threshold=threshold, exact=exact)
    assert used == [index]
