"""The index of call keys: yes to every member, hardly ever yes to a stranger."""

from __future__ import annotations

import hashlib

import pytest

from hengwen.store import call_key_filter
from hengwen.store.call_key_filter import CallKeyFilter


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def test_every_member_is_found_and_strangers_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_key_filter, "MERGE_AT", 7)
    index = CallKeyFilter(key(number) for number in range(50))
    for number in range(50, 100):
        index.add(key(number))
    assert all(index.may_hold(key(number)) for number in range(100))
    assert not any(index.may_hold(key(number)) for number in range(100, 1000))


def test_an_empty_index_holds_nothing() -> None:
    assert not CallKeyFilter().may_hold("f" * 64)
