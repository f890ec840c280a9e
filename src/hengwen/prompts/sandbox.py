"""A Jinja environment for templates of plans: no access to Python objects, and bounds on time and memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from jinja2 import StrictUndefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.filters import do_format
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jinja2 import Template
    from jinja2.runtime import Context

MAX_STEPS = 20_000
"""Maximum number of loop rounds and calls of one rendering."""
MAX_LENGTH = 8 << 20
"""Maximum length of a text that a template makes, and of what it prints."""
MAX_ITEMS = 100_000
"""Maximum length of a list that a template makes."""
MAX_NUMBER = 100_000
"""Maximum number that an operator or filter may repeat or widen a text by."""

_WIDE = re.compile(r"\d{5,}|%[^a-zA-Z%]*\*")
"""Width of a format that is too large, or that an argument gives."""


class TemplateSandbox(SandboxedEnvironment):
    """Sandbox whose templates cannot take all time or memory."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
        self._steps = 0
        self.filters = {name: _bounded(function) for name, function in self.filters.items()}
        self.filters |= {"_counted": self._counted, "_bounded_length": _check_length}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Bounds().visit(super()._parse(source, name, filename))
        return tree

    def render(self, template: Template, values: Mapping[str, Any]) -> str:
        """Return the rendered text."""
        self._steps = 0
        pieces, length = [], 0
        for piece in template.generate(values):
            length += len(piece)
            _check(length <= MAX_LENGTH, "the text gets too long")
            pieces.append(piece)
        return "".join(pieces)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operator, unless it would be too large."""
        if operator == "%" and isinstance(left, str):
            _check_format(left)
        if operator in ("*", "**"):
            for number, other in ((left, right), (right, left)):
                is_plain = isinstance(number, (int, float)) and isinstance(other, (int, float))
                _check(is_plain or not _exceeds(number), f"{number} repetitions")
        if operator == "**":
            _check(not _exceeds(left) and not (isinstance(right, int) and abs(right) > 64), "the power")
        return _check_length(super().call_binop(context, operator, left, right))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a safe ``str.format`` for the method of a text."""
        text = getattr(value, "__self__", None)
        if isinstance(text, str):
            _check_format(text)
        return super().wrap_str_format(value)

    def call(self, context: Context, obj: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function or macro of the template; calls are counted."""
        self._step()
        if getattr(obj, "__name__", "") != "safe_range":
            _check_numbers(arguments, keywords)
        return _check_length(super().call(context, obj, *arguments, **keywords))

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._step()
            yield item

    def _step(self) -> None:
        self._steps += 1
        _check(self._steps <= MAX_STEPS, f"over {MAX_STEPS:,} loop rounds and calls")


class _Bounds(NodeTransformer):
    """Count the rounds of each loop, and check the length of each concatenation."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - the name that Jinja calls
        self.generic_visit(node)
        node.iter = _filtered(cast("nodes.Expr", node.iter), "_counted")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(node, "_bounded_length")


def _filtered(node: nodes.Expr, name: str) -> nodes.Expr:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses large numbers as arguments, such as a width."""

    def bounded(*arguments: Any, **keywords: Any) -> Any:
        if function is do_format:
            _check_format(str(arguments[0]))
        _check_numbers(arguments[1:], keywords)
        return _check_length(function(*arguments, **keywords))

    for name, value in getattr(
        function, "__dict__", {}
    ).items():  # what Jinja's decorators say of the first argument
        setattr(bounded, name, value)
    return bounded


def _check_numbers(arguments: Iterable[Any], keywords: Mapping[str, Any]) -> None:
    for value in (*arguments, *keywords.values()):
        _check(not _exceeds(value), f"the number {value}" if isinstance(value, int) else "a number")


def _check_format(text: str) -> None:
    _check(_WIDE.search(text) is None, "a width")


def _check_length(value: Any) -> Any:
    if isinstance(value, (str, list, tuple)):
        limit = MAX_LENGTH if isinstance(value, str) else MAX_ITEMS
        _check(len(value) <= limit, "the text gets too long")
    return value


def _exceeds(value: object) -> bool:
    return isinstance(value, int) and abs(value) > MAX_NUMBER


def _check(is_met: bool, problem: str) -> None:
    if not is_met:
        raise SecurityError(f"{problem}: a template may not take that much time or memory")
