"""Tables that are one test: every row is tested, and each that fails is named."""

from __future__ import annotations

import pytest
from rows import each_row


@each_row(("a", "b"), [(1, 2), pytest.param(2, 3, id="two"), (3, 4)])
@each_row("step", [1])
def test_a_test_gets_each_row_and_its_fixtures(a: int, b: int, step: int, tmp_path) -> None:
    assert b - a == step
    assert tmp_path.is_dir()


@each_row("number", [1, 2])
async def test_a_coroutine_is_awaited(number: int) -> None:
    assert number


def test_all_rows_that_fail_are_named() -> None:
    calls: list[int] = []

    @each_row("number", [1, 2, 3])
    def check(number: int) -> None:
        calls.append(number)
        assert number == 2

    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows fail") as error:
        check()
    assert calls == [1, 2, 3]
    assert [failure.__notes__ for failure in error.value.exceptions] == [["in the row: 1"], ["in the row: 3"]]


def test_the_only_row_that_fails_is_raised_as_it_is() -> None:
    @each_row("text, number", [("a", 1), ("b", 2)])
    def check(text: str, number: int) -> None:
        if number == 2:
            with pytest.raises(ValueError, match="invalid"):
                int("3")

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as error:
        check()
    assert error.value.__notes__ == ["in the row: 'b', 2"]


async def test_a_coroutine_of_which_a_row_fails_fails() -> None:
    @each_row("number", [0, 1], ids=["none", "one"])
    async def check(number: int) -> None:
        assert number

    with pytest.raises(AssertionError) as error:
        await check()
    assert error.value.__notes__ == ["in the row: none"]


def test_a_table_has_rows_that_fit_the_test() -> None:
    with pytest.raises(ValueError, match="without rows"):
        each_row("number", [])
    with pytest.raises(ValueError, match="shorter"):
        each_row(("a", "b"), [(1,)])
    with pytest.raises(AssertionError, match="the test takes what the table has"):
        each_row("a", [1])(lambda b: None)
