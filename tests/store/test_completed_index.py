"""The index of completed keys, against a dict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.store.ledger import HashedCompletedIndex

pytestmark = pytest.mark.slow

texts = st.text(st.characters(), max_size=3)
keys = st.tuples(texts, texts | st.none(), st.integers(1, 3) | st.none(), texts, texts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(keys, max_size=8), max_size=4), st.lists(keys, max_size=8))
def test_a_key_belongs_to_the_first_run_that_completed_it(runs: list[list], unknown: list) -> None:
    index = HashedCompletedIndex()
    expected: dict = {}
    for number, completed in enumerate(runs):
        index.add(f"r{number}", iter(completed))
        for key in completed:
            expected.setdefault(key, f"r{number}")
    assert len(index) == len(expected)
    for key in [*expected, *unknown]:
        assert index.get(key) == expected.get(key)
