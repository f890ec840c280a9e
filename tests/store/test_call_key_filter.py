"""The filter of call keys: never a false negative, hardly ever a false positive."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest

from hengwen.store.call_key_filter import CallKeyFilter


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def test_added_keys_are_contained_and_others_are_not() -> None:
    keys = CallKeyFilter(key(number) for number in range(10_000))
    for number in range(5_000, 20_000):
        keys.add(key(number))
    assert all(keys.might_contain(key(number)) for number in range(20_000))
    assert not any(keys.might_contain(key(number)) for number in range(20_000, 30_000))


def test_keys_that_differ_only_in_the_last_of_the_compared_digits_are_told_apart() -> None:
    keys = CallKeyFilter()
    for digit in "52f":
        keys.add("0" * 15 + digit + "a" * 48)
    contained = [digit for digit in "0123456789abcdef" if keys.might_contain("0" * 15 + digit + "b" * 48)]
    assert contained == ["2", "5", "f"]


@pytest.mark.slow
def test_a_hundred_thousand_keys_need_little_memory() -> None:
    tracemalloc.start()
    try:
        keys = CallKeyFilter()
        for number in range(100_000):
            keys.add(f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}")
        size, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 1_600_000
    assert peak < 1_700_000


def test_a_key_is_contained_from_the_moment_when_it_is_added() -> None:
    keys = CallKeyFilter(["0" * 16])
    for number in (3, 1, 2, 1):
        assert keys.might_contain(f"{number:016x}") is (number == 1 and keys.might_contain("2".zfill(16)))
        keys.add(f"{number:016x}{'a' * 48}")
        assert keys.might_contain(f"{number:016x}")


@pytest.mark.slow
def test_an_empty_filter_contains_nothing() -> None:
    assert not CallKeyFilter().might_contain("f" * 64)
