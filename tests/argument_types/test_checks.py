"""How annotations are read, and what a wrong type is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hengwen.argument_types import checked_arguments, checked_fields, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("str", "text"),
        ("int", "a whole number"),
        ("float | None", "a number or None"),
        ("bool", "true or false"),
        ("str | Path", "a path"),
        ("Plan | str | Path | None", "a Plan, a path or None"),
        ("Sequence[str]", "a list of texts"),
        ("Sequence[str | Sequence[str]]", "a list of texts or lists of texts"),
        ("str | Sequence[str] | None", "text, a list of texts or None"),
        ("tuple[int, ...]", "a list of whole numbers"),
        ("Sequence[object]", "a list of values"),
        ("Iterable[AdmissionItem]", "a list of AdmissionItem objects"),
        ("AdmissionItem", "an AdmissionItem"),
        ("Judge", "a Judge"),
        ("tuple[Outcome, ...]", "a list of Score objects or Failure objects"),
        ("Mapping[str, float]", "a mapping"),
        ("Callable[[str], int]", "a function"),
        ("Literal['a', 'b'] | None", "text or None"),
        ("float | Literal['e']", "a number or text"),
        ("'Tokenize'", "text"),
        ("np.typing.ArrayLike", "a list of numbers"),
        ("list", "a list"),
    ],
)
def test_an_annotation_becomes_words(annotation: str, text: str) -> None:
    assert kind_of(annotation).phrase == text


@pytest.mark.parametrize(
    ("annotation", "right", "wrong"),
    [
        ("str", ["", np.str_("a")], [None, 1, b"a", ["a"]]),
        ("int", [0, np.int64(1)], [None, True, 1.0, "1", np.array([1])]),
        ("float", [0, 1.5, np.float32(1), np.int8(1)], [None, True, "1", 1j, [1]]),
        ("bool", [True, np.bool_(False)], [None, 0, "true"]),
        ("str | Path", ["a", Path("a")], [None, 1, ["a"]]),
        ("Sequence[str]", [[], ("a",), np.array(["a"])], ["a", b"a", None, 1, {"a": 1}, {"a"}, iter(["a"])]),
        ("Iterable[str]", [["a"], {"a"}, iter(["a"])], ["a", None, 1, {"a": 1}]),
        ("Sequence[float]", [[1, True], np.array([1.5])], ["1", None, 1]),
        ("ArrayLike", [[1], np.array(1), range(3)], [None, 1, "1", {"a": 1}, {1}]),
        ("Mapping[str, int]", [{}], [None, [], "a"]),
        ("Callable[[], int]", [len], [None, "len"]),
        ("object", [None, 1, "a"], []),
    ],
)
def test_values_have_a_kind_or_not(annotation: str, right: list[Any], wrong: list[Any]) -> None:
    accepts = kind_of(annotation).accepts
    assert all(accepts(value) for value in right)
    assert not any(accepts(value) for value in wrong)


@checked_arguments
def repeat(texts: Sequence[str], n: int = 1, *, mark: str | None = None) -> list[str]:
    return [*texts] * n


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((None,), {}, "texts must be a list of texts, got None"),
        (("ab",), {}, "texts must be a list of texts, got 'ab'"),
        (("a" * 50,), {}, "texts must be a list of texts, got str"),
        ((["a", 5],), {}, "texts must be a list of texts, got 5 at position 1"),
        ((["a", ["b"]],), {}, "texts must be a list of texts, got list at position 1"),
        ((["a"], "2"), {}, "n must be a whole number, got '2'"),
        ((["a"],), {"n": 2.5}, "n must be a whole number, got 2.5"),
        ((["a"],), {"mark": 1}, "mark must be text or None, got 1"),
    ],
)
def test_a_wrong_type_is_told_in_one_line(arguments: tuple[Any, ...], options: dict, message: str) -> None:
    assert repeat(["a"], 2, mark="x") == ["a", "a"]
    with pytest.raises(TypeError) as caught:
        repeat(*arguments, **options)
    assert str(caught.value) == message


def test_a_list_is_looked_into_at_each_call() -> None:
    assert repeat(["a"]) == ["a"]
    with pytest.raises(TypeError):
        repeat([5])


def test_an_iterator_is_not_consumed_by_the_check() -> None:
    @checked_arguments
    def join(texts: Iterable[str]) -> str:
        return "".join(texts)

    assert join(iter(["a", "b"])) == "ab"


def test_a_coroutine_checks_when_it_runs() -> None:
    @checked_arguments
    async def double(n: int) -> int:
        return 2 * n

    assert asyncio.run(double(2)) == 4
    with pytest.raises(TypeError, match="n must be a whole number, got 'a'"):
        asyncio.run(double("a"))


def test_a_record_checks_its_fields() -> None:
    @checked_fields
    @dataclass(frozen=True, slots=True)
    class Point:
        x: float
        name: str = ""

    assert Point(1, name="a") == Point(1, "a")
    with pytest.raises(TypeError, match="x must be a number, got '1'"):
        Point("1")
    with pytest.raises(TypeError, match="name must be text, got 3"):
        Point(1, name=3)


def test_a_missing_argument_is_pythons_own_error() -> None:
    function: Any = repeat
    with pytest.raises(TypeError, match=r"repeat\(\) missing 1 required positional argument: 'texts'"):
        function()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'm'"):
        function(["a"], m=1)
