"""The small checks of day one: exact, contains, regex, JSON, length. Pure functions."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from hengwen.objective.duplicates.similarity import normalize_text
from hengwen.objective.text.tokenize import fold_width

if TYPE_CHECKING:
    from collections.abc import Sequence

Normalize = Literal["none", "strip", "fold", "words"]
"""As it is; without whitespace around; that after NFKC in lower case; letters and digits in lower case."""
MAX_SECONDS = 1.0


def normalized(text: str, normalize: Normalize) -> str:
    """Return what of a text counts in a comparison.

    Raises:
        ValueError: ``normalize`` is unknown.

    Examples:
        >>> [normalized(" ＯＫ！\\n", how) for how in ("strip", "fold", "words")]
        ['ＯＫ！', 'ok!', 'ok']
    """
    if normalize == "none":
        return text
    if normalize == "strip":
        return text.strip()
    if normalize == "fold":
        return fold_width(text, "fold").strip().lower()
    if normalize == "words":
        return normalize_text(text).lower()
    raise ValueError(f"normalize must be {' or '.join(get_args(Normalize))}, got {normalize!r}")


def exact(text: str, references: Sequence[str], *, normalize: Normalize = "strip") -> bool:
    """Return whether a text equals one of its references.

    Raises:
        ValueError: There is no reference, or ``normalize`` leaves nothing of one.

    Examples:
        >>> exact("2181 ", ["2181"]), exact("2181。", ["2181"]), exact("2181。", ["2181"], normalize="words")
        (True, False, True)
    """
    if not references:
        raise ValueError("there is no reference to compare with")
    wanted = [normalized(reference, normalize) for reference in references]
    if not all(wanted):
        raise ValueError("a reference is empty: every empty text would equal it")
    return normalized(text, normalize) in wanted


def contains(text: str, words: Sequence[str], *, every: bool = True, normalize: Normalize = "none") -> bool:
    """Return whether a text has all of the words in it, or with ``every=False`` any.

    Raises:
        ValueError: There is no word, or an empty one.

    Examples:
        >>> contains("沐雪在这里", ["沐雪"]), contains("沐雪", ["沐雪", "主人"], every=False)
        (True, True)
    """
    wanted = [normalized(word, normalize) for word in words]
    if not wanted or not all(wanted):
        raise ValueError("words must be one or more, none of them empty")
    inside = normalized(text, normalize)
    return (all if every else any)(word in inside for word in wanted)


def matches(text: str, pattern: str, *, whole: bool = False, seconds: float = MAX_SECONDS) -> bool:
    """Return whether a regular expression is found in a text, in bounded time.

    Args:
        text: Any text.
        pattern: As in Python; the library ``regex`` searches.
        whole: It must match the whole text.
        seconds: Then the search is given up.

    Raises:
        ValueError: The pattern is no regular expression, or takes too long on this text.

    Examples:
        >>> matches("答案是2181", r"\\d{4}"), matches("答案是2181", r"\\d{4}", whole=True)
        (True, False)
    """
    compiled = compile_pattern(pattern)
    try:
        found = (compiled.fullmatch if whole else compiled.search)(text, timeout=seconds)
    except TimeoutError:
        raise ValueError(
            f"the pattern {pattern!r} took longer than {seconds:g} s on a text of {len(text)} characters"
        ) from None
    return found is not None


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern.

    Raises:
        ValueError: It is no regular expression.
    """
    import regex  # type: ignore[import-untyped, unused-ignore]  # comes with sacrebleu; re has no timeout

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from None


def json_fault(text: str, *, keys: Sequence[str] = (), fenced: bool = False) -> str | None:
    """Return why a text is not the JSON that is wanted, or None where it is.

    Args:
        text: All of it must be one JSON value; NaN and Infinity are none.
        keys: The value must be an object with these keys.
        fenced: Take what stands within one Markdown code fence, if that is all there is.

    Raises:
        ValueError: The value is nested too deep to be read.

    Examples:
        >>> json_fault('{"a": 1}', keys=["a"]) is None, json_fault('{"a": NaN}')
        (True, 'NaN is not JSON')
        >>> json_fault('{"b": 1}', keys=["a"])
        "the key 'a' is missing"
    """
    try:
        value = json.loads(_unfenced(text) if fenced else text, parse_constant=_refuse, parse_int=str)
    except RecursionError:
        raise ValueError("the JSON is nested too deep to be read") from None
    except ValueError as error:
        return str(error)
    if keys and not isinstance(value, dict):
        return "the value is not an object"
    return next((f"the key {key!r} is missing" for key in keys if key not in value), None)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _unfenced(text: str) -> str:
    lines = text.strip().split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def character_count(text: str) -> int:
    """Return the number of characters, whitespace not counted.

    Examples:
        >>> character_count("你好， OK\\n")
        5
    """
    return len("".join(text.split()))
