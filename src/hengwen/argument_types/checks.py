"""Decorators that check the arguments of public functions and records against their annotations."""

from __future__ import annotations

import dataclasses
import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from hengwen.argument_types.kinds import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

MAX_VALUE = 40
"""Maximum length of a wrong value in a message; instead of a longer value, the message names its type."""


def checked_arguments(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a function check the types of its arguments, which its annotations state.

    Examples:
        >>> @checked_arguments
        ... def count(texts: "Sequence[str]", n: "int" = 2) -> "int":
        ...     return len(texts) * n
        >>> count(["a"], n=None)
        Traceback (most recent call last):
            ...
        TypeError: n must be a whole number, got None
        >>> count("abc")
        Traceback (most recent call last):
            ...
        TypeError: texts must be a list of texts, got 'abc'
    """
    check = _Checker(tuple(inspect.signature(function).parameters), function.__annotations__)
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Any:
            check(arguments, keywords)
            return await function(*arguments, **keywords)

        return awaited  # type: ignore[return-value]

    @wraps(function)
    def called(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        check(arguments, keywords)
        return function(*arguments, **keywords)

    return called


def checked_fields(record: Class) -> Class:
    """Make a dataclass check the types of its fields when it is created; place it above ``@dataclass``.

    Examples:
        >>> @checked_fields
        ... @dataclasses.dataclass(frozen=True, slots=True)
        ... class Point:
        ...     x: "float"
        >>> Point("1")
        Traceback (most recent call last):
            ...
        TypeError: x must be a number, got '1'
    """
    init: Callable[..., None] = record.__init__  # type: ignore[misc]
    types = {field.name: field.type for field in dataclasses.fields(record) if field.init}
    check = _Checker(tuple(types), types)

    @wraps(init)
    def checked_init(self: object, *arguments: object, **keywords: object) -> None:
        check(arguments, keywords)
        init(self, *arguments, **keywords)

    record.__init__ = checked_init  # type: ignore[misc]
    return record


def check_fields(record: Any) -> None:
    """Raise a TypeError if a field of a dataclass does not have the type of its annotation.

    Args:
        record: Instance of a dataclass.
    """
    for field in dataclasses.fields(record):
        check_type(field.name, getattr(record, field.name), kind_of(str(field.type)))


class _Checker:
    """Checks the arguments of one function.

    Args:
        names: Names of the function's parameters, in order.
        annotations: Annotation of each parameter as text.
    """

    def __init__(self, names: tuple[str, ...], annotations: Mapping[str, object]) -> None:
        self._names = names
        self._annotations = {name: text for name, text in annotations.items() if name != "return"}
        self._types: dict[str, set[type]] = {name: set() for name in names}
        self._item_types: dict[str, set[type]] = {name: set() for name in names}
        """For each argument, the types of values (and of list items) that were accepted before and need no
        second check."""

    def __call__(self, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> None:
        """Raise a TypeError if an argument does not have the type of its annotation."""
        types = self._types
        for name, value in zip(self._names, arguments, strict=False):
            if type(value) not in types[name]:
                self._check(name, value)
        for name, value in keywords.items():
            if name in types and type(value) not in types[name]:
                self._check(name, value)

    def _check(self, name: str, value: object) -> None:
        is_list = type(value) is list or type(value) is tuple
        items = cast("Sequence[object]", value) if is_list else ()
        if items and self._item_types[name].issuperset(map(type, items)):
            return
        kind = kind_of(str(self._annotations.get(name, "object")))  # parsed at the first call, not earlier
        check_type(name, value, kind)
        if is_list and kind.item is not None:
            self._item_types[name].update(map(type, items))
        else:
            self._types[name].add(type(value))


def check_type(name: str, value: object, kind: Kind) -> None:
    """Raise a TypeError unless a value has an allowed type.

    Args:
        name: Name of the argument, for the message.
        value: Value of the argument.
        kind: Kind (type, or choice of types) that the value must have.

    Raises:
        TypeError: The value, or an item of it, has a wrong type.
    """
    if not kind.accepts(value):
        raise TypeError(f"{name} must be {kind.phrase}, got {_described(value)}")
    if kind.item is not None and isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            if not kind.item.accepts(item):
                raise TypeError(f"{name} must be {kind.phrase}, got {_described(item)} at position {index}")


def _described(value: object) -> str:
    """Return the repr of a value if it is short, else the name of its type."""
    simple = value is None or isinstance(value, (str, bytes, bool, int, float))
    text = repr(value) if simple else ""
    return text if 0 < len(text) <= MAX_VALUE else type(value).__name__
