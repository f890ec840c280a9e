"""Turn annotations into kinds. A kind says which values are accepted and what error messages call them.

Annotations are parsed as text and never evaluated, because their names may be imported only under
``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from numbers import Real
from typing import NamedTuple

CHOICES = {
    *(
        "Alternative",
        "BatchAction",
        "ClauseName",
        "Conflict",
        "Direction",
        "Kind",
        "Language",
        "LevelFrom",
        "Method",
        "Metric",
    ),
    *("MultiRef", "NanPolicy", "Normalize", "Null", "PairVerdict", "PairedTestName"),
    *("PanelReducer", "Parse", "Reducer", "RhymeScope", "RollingMetric", "RougeKind"),
    *("RuleSetName", "Sentences", "Share", "Smooth", "Split", "Status", "Ties"),
    *("Tokenize", "TokenSplit", "Weights", "Width"),
}
"""Names of ``Literal`` types. An argument of such a type is only checked to be a text; the function that gets
the argument checks which text it is."""
CLASSES = {
    *("AdmissionItem", "BatchOptions", "Battles", "Failure", "HumanComparison", "JudgedAnswer", "Label"),
    *("LabelledAnswer", "LyricRules", "PairOutcome", "PeerReview", "Plan", "ReportData", "Row", "Rubric"),
    *("RuleSet", "Run", "Scale", "Score", "Store", "Usage", "View"),
}
"""Names of classes of the package against which arguments are checked; other classes are not checked."""
MEMBERS = {
    "Backend": ("signature", "complete"),
    "Calibration": ("signature", "rubric_hash"),
    "Database": ("engine",),
    "Judge": ("signature", "names", "judge"),
    "JudgeFactory": ("__call__",),
}
"""For each protocol, the methods and attributes that an argument must have."""
OTHERS = {
    "Column": "Sequence",
    "RulesLike": "str | LyricRules | Mapping",
    "Outcome": "Score | Failure",
    "Ranking": "Mapping | Sequence",
    "References": "str | Sequence[str | None]",
}
"""For each type alias, the annotation that it stands for."""


class Kind(NamedTuple):
    """Type of an argument: the words that a message uses for it, and a function that accepts its values."""

    phrase: str
    accepts: Callable[[object], bool]
    item: Kind | None = None
    """Kind of the items of a list; None if the items are not checked."""


@cache
def kind_of(annotation: str) -> Kind:
    """Return the kind of a type annotation: the accepted values, and what error messages call them.

    Examples:
        >>> kind_of("str | Sequence[str] | None").phrase
        'text, a list of texts or None'
    """
    return _kind(ast.parse(annotation.strip("'\""), mode="eval").body)


def _kind(node: ast.expr) -> Kind:
    if isinstance(node, ast.BinOp):
        return _either(_options(node))
    if isinstance(node, ast.Constant):
        return _kind(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else _NONE
    if isinstance(node, ast.Subscript):
        name = ast.unparse(node.value).rpartition(".")[2]
        if name == "Literal":
            return _TEXT
        items = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        return _list_of(name, items) if name in _LISTS else _named(name)
    return _named(ast.unparse(node).rpartition(".")[2])


def _options(node: ast.expr) -> list[Kind]:
    if isinstance(node, ast.BinOp):
        return [*_options(node.left), *_options(node.right)]
    return [_kind(node)]


def _either(kinds: list[Kind]) -> Kind:
    texts = list(dict.fromkeys(kind.phrase for kind in kinds))
    if {"text", "a Path"} <= set(texts):
        texts = [text for text in texts if text not in ("text", "a Path")]
        texts.insert(len(texts) - ("None" in texts), "a path")
    *others, last = texts
    phrase = f"{', '.join(others)} or {last}" if others else last
    items = [kind.item for kind in kinds if kind.item is not None]
    item = items[0] if len(items) == 1 else None
    return Kind(phrase, lambda value: any(kind.accepts(value) for kind in kinds), item)


def _list_of(name: str, item: ast.expr) -> Kind:
    options = _options(item)
    plurals = " or ".join(dict.fromkeys(_plural(option.phrase) for option in options))
    is_unchecked = any(option.phrase in ("a value", "a number") for option in options)
    return Kind(f"a list of {plurals}", _LISTS[name], None if is_unchecked else _either(options))


def _plural(phrase: str) -> str:
    """Return the plural of a phrase with which error messages name the expected type.

    Examples:
        >>> [_plural(text) for text in ("text", "a number", "a list of texts", "a Judge")]
        ['texts', 'numbers', 'lists of texts', 'Judge objects']
    """
    if phrase == "None":
        return phrase
    parts = [part for part in re.split(", | or ", phrase) if part != "None"]
    if len(parts) > 1:
        return " or ".join(map(_plural, parts))
    words = phrase.removeprefix("a ").removeprefix("an ").split()
    if words[0][0].isupper():
        return f"{words[0]} objects"
    if words[0] in ("list", "pair"):
        return " ".join([f"{words[0]}s", *words[1:]])
    return f"{' '.join(words)}s"


def _named(name: str) -> Kind:
    if name in OTHERS:
        return kind_of(OTHERS[name])
    if name in CHOICES:
        return _TEXT
    if name in _LISTS:
        return Kind("a list", _LISTS[name])
    title = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    if name in MEMBERS:
        return Kind(title, lambda value: all(hasattr(value, member) for member in MEMBERS[name]))
    if name in CLASSES:
        return Kind(title, lambda value: name in [base.__name__ for base in type(value).__mro__])
    return _KINDS.get(name, _KINDS["object"])


def _is_number(value: object) -> bool:
    return type(value) in (float, int) or (isinstance(value, Real) and not isinstance(value, bool))


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and not hasattr(value, "__len__")


def _is_iterable(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _is_list(value: object) -> bool:
    return _is_iterable(value) and hasattr(value, "__len__") and hasattr(value, "__getitem__")


def _is_tuple(value: object) -> bool:
    return isinstance(value, (list, tuple))


_NONE = Kind("None", lambda value: value is None)
_TEXT = Kind("text", lambda value: isinstance(value, str))
_KINDS = {
    "str": _TEXT,
    "bool": Kind("true or false", lambda value: type(value).__name__ in ("bool", "bool_")),
    "int": Kind("a whole number", _is_whole),
    "float": Kind("a number", _is_number),
    "object": Kind("a value", lambda _: True),
    "Callable": Kind("a function", callable),
    "Mapping": Kind("a mapping", lambda value: isinstance(value, Mapping)),
    "dict": Kind("a mapping", lambda value: isinstance(value, Mapping)),
    "Path": Kind("a Path", lambda value: hasattr(value, "__fspath__") or hasattr(value, "joinpath")),
    "Message": Kind("a pair of role and content", _is_tuple),
    "Pair": Kind("a pair of lyric and template", _is_tuple),
    "ArrayLike": Kind("a list of numbers", lambda value: _is_list(value) or hasattr(value, "__array__")),
    "NDArray": Kind("a list of numbers", lambda value: _is_list(value) or hasattr(value, "__array__")),
}
_LISTS: dict[str, Callable[[object], bool]] = {
    "Sequence": _is_list,
    "list": _is_list,
    "tuple": _is_list,
    "Iterable": _is_iterable,
    "Collection": _is_iterable,
}
