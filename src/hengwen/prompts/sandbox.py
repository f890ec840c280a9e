"""A Jinja environment for templates of plans: no access to Python objects, and bounds on time and memory.

A rendering pays for each character and item that an operation reads, makes or prints. A list costs as much as
all that it contains: 100,000 references to one long text are small until something joins or prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from itertools import chain
from math import prod
from typing import Any, cast

from jinja2 import StrictUndefined, Template, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

MAX_STEPS = 20_000
"""Maximum number of loop rounds and calls of one rendering."""
MAX_COST = 16 << 20
"""Maximum cost of one rendering: 1 for each character, and ``ITEM_COST`` for each text, number and list."""
ITEM_COST = 16
MAX_NUMBER = 100_000
"""Maximum number that an operator or filter may repeat or widen a text by, and of bits of a number."""

_WIDE = re.compile(r"\d{5,}|%[^a-zA-Z%]*\*")
"""Width of a format that is too large, or that an argument gives."""
_LEFT_OUT = {"encode", "expandtabs", "format_map", "lipsum", "pprint", "translate", "urlize", "wordwrap"}
"""Filters, methods and functions whose cost is not known in advance, and which no prompt needs."""
_COSTS: Mapping[str, Callable[[Any, list[Any], int], int]] = {
    "format": lambda text, _others, longest: (text.count("{") + text.count("%")) * longest,
    "replace": lambda text, others, longest: max(map(text.count, map(str, others))) * longest,
    "sum": lambda items, others, _longest: sum(isinstance(start, list) for start in others) * len(items) ** 3,
    "tojson": lambda value, _others, longest: prod(_measured(value, MAX_COST)) * longest,
    **dict.fromkeys(("indent", "join"), lambda subject, _others, longest: len(subject) * longest),
    **dict.fromkeys(
        ("batch", "groupby", "list", "rsplit", "slice", "sort", "split", "splitlines"),
        lambda subject, _others, _longest: len(subject) * ITEM_COST,
    ),
}
"""The cost of filters and methods that may make much of little: from the text or list that they change, the
other arguments, and the longest of these (or the largest number)."""


class TemplateSandbox(SandboxedEnvironment):
    """Sandbox whose templates cannot take all time or memory."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
        self._steps, self._left, self._step_cost = 0, MAX_COST, 0
        self.globals = {name: value for name, value in self.globals.items() if name not in _LEFT_OUT}
        self.filters = self._bounded(self.filters) | {"_counted": self._counted, "_paid": self._paid}
        self.tests = self._bounded(self.tests)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        self._left = MAX_COST
        tree: nodes.Template = _Bounds().visit(super()._parse(source, name, filename))
        return tree

    def render(self, template: Template, values: Mapping[str, Any], length: int) -> str:
        """Return the rendered text of a template, which has ``length`` characters."""
        self._steps, self._left, self._step_cost = 0, MAX_COST, length
        return template.render(values)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operator, unless it would be too large."""
        if operator == "%" and isinstance(left, str):
            self._pay_for("format", left, right)
        if operator == "*":
            for number, other in ((left, right), (right, left)):
                if isinstance(number, int) and isinstance(other, (str, list, tuple)):
                    _check(number * _measured(other, self._left)[0] <= self._left, f"{number} repetitions")
        if operator == "**":
            _check(not _exceeds(left) and not (isinstance(right, int) and abs(right) > 64), "the power")
        return self._paid(super().call_binop(context, operator, left, right))

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may read an attribute."""
        return attr not in _LEFT_OUT and super().is_safe_attribute(obj, attr, value)

    def call(self, context: Context, obj: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function or macro of the template; calls are counted."""
        self._step()
        name = getattr(obj, "__name__", "")
        if name != "safe_range":
            _check_numbers(arguments, keywords)
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        if isinstance(owner, str):
            arguments = tuple(map(self._listed, arguments))
        values = (*arguments, owner) if name == "join" else (owner, *arguments)
        self._pay_for(name, *values, *keywords.values())
        return self._paid(super().call(context, obj, *arguments, **keywords))

    def _bounded(self, functions: Mapping[str, Any]) -> dict[str, Any]:
        """Return filters or tests that pay for what they read and make, and refuse large numbers."""

        def bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            first = 1 if hasattr(function, "jinja_pass_arg") else 0  # the context comes before the arguments

            @wraps(function)
            def call(*arguments: Any, **keywords: Any) -> Any:
                arguments = tuple(map(self._listed, arguments))
                _check_numbers(arguments[first + 1 :], keywords)
                self._pay_for(name, *arguments[first:], *keywords.values())
                return self._paid(function(*arguments, **keywords))

            return call

        return {name: bounded(name, value) for name, value in functions.items() if name not in _LEFT_OUT}

    def _pay_for(self, name: str, subject: Any, *others: Any) -> None:
        """Pay for what a filter or method reads, and check the cost of what it makes."""
        self._paid((subject, others))
        if name == "format" and isinstance(subject, str):
            _check(_WIDE.search(subject) is None, "a width")
        if name in _COSTS and _is_collection(subject):
            sizes = (abs(item) if isinstance(item, int) else _measured(item, MAX_COST)[0] for item in others)
            cost = _COSTS[name](subject, list(others), max(sizes, default=1))
            _check(cost <= self._left, "the text gets too long")

    def _paid(self, value: Any) -> Any:
        """Return a value after paying for all that it contains."""
        self._left -= _measured(value, self._left)[0]
        _check(self._left >= 0, "the text gets too long")
        return value

    def _listed(self, value: Any) -> Any:
        """Return an iterator as a list whose items are paid for; other values as they are."""
        is_iterator = isinstance(value, Iterator) and not isinstance(value, LoopContext)
        return [self._paid(item) for item in value] if is_iterator else value

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._step()
            yield item

    def _step(self) -> None:
        self._steps += 1
        self._left -= self._step_cost  # of the texts between the marks of the template
        _check(self._steps <= MAX_STEPS, f"over {MAX_STEPS:,} loop rounds and calls")
        _check(self._left >= 0, "the text gets too long")


class _Bounds(NodeTransformer):
    """Count the rounds of each loop, and pay for what is printed, joined, compared, made or looked up."""

    def generic_visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        super().generic_visit(node, *args, **kwargs)
        match node:
            case nodes.For():
                node.iter = _filtered(node.iter, "_counted")
            case nodes.Output() | nodes.Concat():
                node.nodes = [
                    part if isinstance(part, nodes.TemplateData) else _filtered(part, "_paid")
                    for part in node.nodes
                ]
            case nodes.Compare() | nodes.Operand():
                node.expr = _filtered(node.expr, "_paid")
            case nodes.Getitem() if not isinstance(node.arg, (nodes.Const, nodes.Slice)):
                node.arg = _filtered(node.arg, "_paid")
            case nodes.List() | nodes.Dict() | nodes.Tuple(ctx="load") | nodes.Getitem(arg=nodes.Slice()):
                return _filtered(node, "_paid")
        return node


def _filtered(node: nodes.Node, name: str) -> nodes.Expr:
    return nodes.Filter(cast("nodes.Expr", node), name, [], [], None, None, lineno=node.lineno)


def _check_numbers(arguments: Iterable[Any], keywords: Mapping[str, Any]) -> None:
    for value in (*arguments, *keywords.values()):
        _check(not _exceeds(value), "a large number")


def _measured(value: Any, most: int) -> tuple[int, int]:
    """Return the cost of a value, or a number above ``most``, and how deep lists in it are nested."""
    cost, depth, levels = 0, 1, [iter((value,))]
    while levels and cost <= most:
        item = next(levels[-1], levels)
        if item is levels:
            levels.pop()
            continue
        cost += ITEM_COST
        if isinstance(item, str):
            cost += len(item)
        elif isinstance(item, int):
            cost += (item.bit_length() > MAX_NUMBER) * MAX_COST
        elif isinstance(item, Namespace):
            levels.append(iter((object.__getattribute__(item, "_Namespace__attrs"),)))
        elif isinstance(item, Mapping):
            levels.append(chain.from_iterable(item.items()))
        elif _is_collection(item):
            levels.append(iter(item))
        depth = max(depth, len(levels))
    return cost, depth


def _is_collection(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, Undefined)


def _exceeds(value: object) -> bool:
    return isinstance(value, int) and abs(value) > MAX_NUMBER


def _check(is_met: bool, problem: str) -> None:
    if not is_met:
        raise SecurityError(f"{problem}: a template may not take that much time or memory")
