"""The index of what is settled, against a dict."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.store.settled_index import StoredCompletedIndex

texts = st.text(st.characters(), max_size=3)
keys = st.tuples(texts, texts | st.none(), st.integers(1, 3) | st.none(), texts, texts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(keys, max_size=8), max_size=4), st.lists(keys, max_size=8))
def test_the_first_run_that_settled_a_key_holds_it(runs: list[list], strangers: list) -> None:
    index, known = StoredCompletedIndex(), {}
    for number, settled in enumerate(runs):
        index.add(f"r{number}", iter(settled))
        for key in settled:
            known.setdefault(key, f"r{number}")
    assert len(index) == len(known)
    for key in [*known, *strangers]:
        assert index.get(key) == known.get(key)
