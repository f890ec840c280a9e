"""Costs, computed by hand."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.engine.metered_backend import OUTPUT_TOKENS, Budget, Price, estimate, estimate_tokens
from hengwen.errors import BackendError
from hengwen.records import Request, Usage

CHEAP = Price(input=1.0, output=10.0)


@each_row(
    ("text", "tokens"),
    [("", 0), ("abcd", 1), ("abcde", 2), ("四个汉字", 4), ("四个汉字 and", 5), ("😀", 1)],
)
def test_a_chinese_character_is_one_token_and_four_letters_are_one(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_call_without_max_tokens_is_expected_to_return_a_verdict() -> None:
    assert estimate(Request(messages=(("user", "abcd"),))).output_tokens == OUTPUT_TOKENS


def test_a_call_in_flight_counts_with_its_estimate() -> None:
    budget = Budget(10.0)
    expected = Usage(calls=1, input_tokens=1_000_000, output_tokens=300_000)  # 4.0
    first, second = budget.reserve(CHEAP, expected), budget.reserve(CHEAP, expected)
    with pytest.raises(BackendError, match="budget of 10 would be exceeded") as caught:
        budget.reserve(CHEAP, expected)
    assert (caught.value.status, caught.value.retryable, budget.stopped) == ("budget", False, True)
    budget.charge(first, CHEAP, Usage(calls=1, input_tokens=500_000))  # it cost 0.5
    budget.charge(second, CHEAP, Usage())  # it failed and cost nothing
    assert (budget.spent, budget.reserved) == (0.5, 0.0)
    assert budget.reserve(CHEAP, expected) == 4.0


def test_without_a_limit_or_a_price_nothing_is_reserved() -> None:
    expected = Usage(calls=1, input_tokens=1_000_000)
    assert Budget(None).reserve(CHEAP, expected) == Budget(1.0).reserve(None, expected) == 0.0


def test_a_bill_keeps_currencies_apart_and_says_that_a_price_is_unknown() -> None:
    paid = Usage(calls=1, input_tokens=1_000_000)
    budget = Budget()
    for price in (CHEAP, Price(input=2.0, output=0.0, currency="CNY"), CHEAP):
        budget.charge(0.0, price, paid)
    bill = budget.bill()
    assert (bill.costs, bill.has_unpriced_calls) == ({"": 2.0, "CNY": 2.0}, False)
    budget.charge(0.0, None, Usage())
    assert not budget.bill().has_unpriced_calls  # a call that failed costs nothing
    budget.charge(0.0, None, paid)
    both = budget.bill() + bill
    assert (both.costs, both.has_unpriced_calls) == ({"": 4.0, "CNY": 4.0}, True)
    assert both.usage == Usage(calls=7, input_tokens=7_000_000)


def test_the_expected_output_is_max_tokens_of_the_call_or_of_the_backend() -> None:
    request = Request(messages=(("user", "abcd"),))
    assert estimate(request, {"max_tokens": 50}).output_tokens == 50
    narrowed = Request(messages=(("user", "abcd"),), params={"max_tokens": 9})
    assert estimate(narrowed, {"max_tokens": 50}).output_tokens == 9
    assert estimate(request, {"max_tokens": 50, "max_completion_tokens": 70}).output_tokens == 70
