"""The filter of call keys: never a false negative, hardly ever a false positive."""

from __future__ import annotations

import hashlib

import pytest

from hengwen.store import call_key_filter
from hengwen.store.call_key_filter import CallKeyFilter


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def test_added_keys_are_contained_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_key_filter, "MERGE_AT", 7)
    keys = CallKeyFilter(key(number) for number in range(50))
    for number in range(50, 100):
        keys.add(key(number))
    assert all(keys.might_contain(key(number)) for number in range(100))
    assert not any(keys.might_contain(key(number)) for number in range(100, 1000))


def test_an_empty_filter_contains_nothing() -> None:
    assert not CallKeyFilter().might_contain("f" * 64)
