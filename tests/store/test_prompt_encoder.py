"""Prompts that begin alike are stored once, and every prompt comes back as it was sent."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.records import Attempt
from hengwen.store.evaluation_codec import (
    MAX_RECENT,
    MIN_LENGTH,
    PromptEncoder,
    attempt_columns,
    attempt_from,
    prompt_keys,
)

pieces = st.text(st.sampled_from('甲乙a\n"'), max_size=4)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), pieces), max_size=12))
def test_every_prompt_comes_back(parts: list[tuple[int, int, str]]) -> None:
    encoder = PromptEncoder()
    stored: dict[str, str] = {}
    for number, (which, length, end) in enumerate(parts):
        text = "甲乙丙"[which] * (MIN_LENGTH // 2 * length) + end
        request = {"messages": [("system", "短"), ("user", text)], "params": {"seed": number}}
        sent = Attempt(
            call_key="c",
            cache_scope="",
            attempt_no=1,
            status="ok",
            run_id="r",
            role="judge",
            request=request,
            raw="",
        )
        columns: Any = attempt_columns(sent, encoder)
        stored |= encoder.drain()
        assert prompt_keys(columns) <= set(stored)
        assert attempt_from(columns, stored) == sent


@each_row(("length", "is_reference"), [(MIN_LENGTH - 1, False), (MIN_LENGTH, True)])
def test_long_texts_are_referred_to(length: int, is_reference: bool) -> None:
    encoder = PromptEncoder()
    encoder.encode("x" * length)
    assert isinstance(encoder.encode("x" * length), dict) is is_reference


@each_row(("shared", "is_reference"), [(499, False), (500, True)])
def test_a_text_is_referred_to_where_half_of_the_other_is_shared(shared: int, is_reference: bool) -> None:
    encoder = PromptEncoder()
    encoder.encode("x" * shared + "1" * (1000 - shared))
    assert isinstance(encoder.encode("x" * shared + "2" * (1000 - shared)), dict) is is_reference


def test_a_judges_prompt_is_not_forgotten_among_those_of_a_model_under_test() -> None:
    encoder = PromptEncoder()
    rules = "x" * 500
    encoder.encode(rules)
    for number in range(3 * MAX_RECENT):
        assert isinstance(encoder.encode(f"{number:04}" * MIN_LENGTH), str)
        assert isinstance(encoder.encode(f"{rules}{number}"), dict)
    assert list(encoder.drain().values()) == [rules]
    assert encoder.drain() == {}
    assert len(encoder._first) == MAX_RECENT
