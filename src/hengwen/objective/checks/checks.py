"""Functions that check one text: equality, contained words, regular expression, JSON, length."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

from hengwen.objective.duplicates.similarity import normalize_text
from hengwen.objective.option_checks import check_choice
from hengwen.objective.text.tokenize import fold_width

if TYPE_CHECKING:
    from collections.abc import Sequence

Normalize = Literal["none", "strip", "fold", "words"]
"""Normalisation before a comparison: ``strip`` removes outer whitespace; ``fold`` applies NFKC (Unicode
normalisation of width and form), removes outer whitespace and converts to lower case; ``words`` keeps only
letters and digits, in lower case; ``none`` changes nothing."""
MAX_SECONDS = 1.0
"""Default time limit of one regular expression search, in seconds."""

MAX_PATTERN, MAX_REPETITIONS = 10_000, 100_000
"""Maximum length of a regular expression, and maximum product of the repetitions that it requires."""
_RECURSION = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")


def check_normalize(normalize: str) -> None:
    """Raise ValueError unless ``normalize`` is one of the names in ``Normalize``."""
    check_choice("normalize", normalize, get_args(Normalize))


def normalized(text: str, normalize: Normalize) -> str:
    """Return a text after the normalisation that ``normalize`` names."""
    if normalize == "none":
        return text
    if normalize == "strip":
        return text.strip()
    if normalize == "fold":
        return fold_width(text, "fold").strip().lower()
    check_normalize(normalize)
    return normalize_text(text).lower()


def exact(text: str, references: Sequence[str], *, normalize: Normalize = "strip") -> bool:
    """Return whether a text equals one of its references."""
    if not references:
        raise ValueError("there is no reference to compare with")
    expected = [normalized(reference, normalize) for reference in references]
    if not all(expected):
        raise ValueError("a reference is empty: every empty text would equal it")
    return normalized(text, normalize) in expected


def contains(text: str, words: Sequence[str], *, every: bool = True, normalize: Normalize = "none") -> bool:
    """Return whether a text contains all of the words; with ``every=False``, at least one of them."""
    expected = [normalized(word, normalize) for word in words]
    if not expected or not all(expected):
        raise ValueError("words must be one or more, none of them empty")
    searched = normalized(text, normalize)
    return (all if every else any)(word in searched for word in expected)


def matches(text: str, pattern: str, *, whole: bool = False, seconds: float = MAX_SECONDS) -> bool:
    """Return whether a regular expression matches a text; a search that takes too long is an error."""
    compiled = compile_pattern(pattern)
    try:
        match = (compiled.fullmatch if whole else compiled.search)(text, timeout=seconds)
    except TimeoutError:
        raise ValueError(
            f"the pattern {pattern!r} took longer than {seconds:g} s on a text of {len(text)} characters"
        ) from None
    return match is not None


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern."""
    refuse_costly(pattern)
    import regex  # type: ignore[import-untyped, unused-ignore]  # sacrebleu installs regex; re has no timeout

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"pattern {pattern!r} is not a regular expression: {error}") from None


def refuse_costly(pattern: str) -> None:
    """Raise an error for a pattern whose compilation or recursion could take all memory."""
    repetitions = prod(int(count) for count in re.findall(r"\{(\d{1,9})", pattern) if int(count) > 1)
    if len(pattern) > MAX_PATTERN or repetitions > MAX_REPETITIONS or _RECURSION.search(pattern):
        raise ValueError(
            f"pattern {pattern[:60]!r} is too costly: at most {MAX_PATTERN:,} characters, "
            f"{MAX_REPETITIONS:,} repetitions in all, and no recursion such as (?R)"
        )


def json_fault(text: str, *, keys: Sequence[str] = (), fenced: bool = False) -> str | None:
    """Return the reason why a text is not the expected JSON; None if the text is as expected."""
    try:
        value = json.loads(
            _unfenced(text) if fenced else text, parse_constant=_reject_constant, parse_int=str
        )
    except RecursionError:
        raise ValueError("the JSON is nested too deep to be parsed") from None
    except ValueError as error:
        return str(error)
    if keys and not isinstance(value, dict):
        return "the value is not an object"
    return next((f"the key {key!r} is missing" for key in keys if key not in value), None)


def _reject_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _unfenced(text: str) -> str:
    lines = text.strip().split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def character_count(text: str) -> int:
    """Return the number of characters of a text; whitespace is not counted."""
    return len("".join(text.split()))
