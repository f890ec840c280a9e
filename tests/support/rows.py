"""One test for a whole table: its rows are data of one behaviour, and each row that fails is named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

Titled = tuple[str, dict[str, Any]]
FAILURES = (Exception, pytest.fail.Exception)
MAX_TITLE = 200
"""Maximum length of what a message says of a row."""


def each_row(
    names: str | tuple[str, ...], table: Iterable[Any], ids: Iterable[str] | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Make one test of a table of arguments; arguments that the table does not have are fixtures.

    Use ``pytest.mark.parametrize``, which has the same arguments, where a row is a behaviour of its own or
    needs fixtures of its own.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_titled(columns, row, bare=isinstance(names, str) and len(columns) == 1) for row in table]
    if not rows:
        raise ValueError("a table without rows tests nothing")
    if ids is not None:
        rows = [(name, values) for name, (_, values) in zip(ids, rows, strict=True)]

    def decorate(test: Callable[..., Any]) -> Any:
        @functools.wraps(test)
        def each(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for title, values in rows:
                with _noted(title, failures):
                    test(**fixtures, **values)
            _raise(failures, len(rows))

        @functools.wraps(test)
        async def each_awaited(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for title, values in rows:
                with _noted(title, failures):
                    await test(**fixtures, **values)
            _raise(failures, len(rows))

        wrapper: Any = each_awaited if inspect.iscoroutinefunction(test) else each
        parameters = inspect.signature(test).parameters
        assert parameters.keys() >= set(columns), "the test takes what the table has"
        fixtures = [parameter for name, parameter in parameters.items() if name not in columns]
        wrapper.__signature__ = inspect.Signature(fixtures)
        return wrapper

    return decorate


def _titled(columns: list[str], row: Any, *, bare: bool) -> Titled:
    """Return what a row is called, and its values by column."""
    if isinstance(row, type(pytest.param())):
        assert not row.marks, "a row has no marks of its own"
        values, name = row.values, row.id
    else:
        values, name = ((row,) if bare else tuple(row)), None
    title = name or ", ".join(map(repr, values))
    return str(title)[:MAX_TITLE], dict(zip(columns, values, strict=True))


@contextmanager
def _noted(title: str, failures: list[BaseException]) -> Iterator[None]:
    """Collect an exception, with the row that caused it, so that the rows behind it are tested too."""
    try:
        yield
    except FAILURES as error:
        error.add_note(f"in the row: {title}")
        failures.append(error)


def _raise(failures: list[BaseException], number: int) -> None:
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {number} rows fail", failures)
