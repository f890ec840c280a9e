"""Format numbers, counts and times, so that every document prints the same digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import floor
from typing import Any, Protocol

# Terminal escape sequences: CSI, OSC (which ends with BEL or ST), two-character escapes, and the C1 form of
# CSI.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_TERMINAL_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FORMULA_STARTS = tuple("=+-@＝＋－＠")
"""Characters with which a spreadsheet starts a formula; it reads the full-width ones as the others."""

MAX_REPR = 60
"""Maximum number of characters of a value that a message shows."""


def short_repr(value: object) -> str:
    """Return the repr of a value for a message; a long repr is cut."""
    text = repr(value[:MAX_REPR] if isinstance(value, str) else value)
    return text if len(text) <= MAX_REPR else f"{text[: MAX_REPR - 3]}..."


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def strip_controls(text: str) -> str:
    """Return the text without terminal escapes, control and bidi characters; line ends become line feeds."""
    if text.isprintable():  # most texts are, and this takes a tenth of the time
        return text
    text = _CONTROLS.sub("", _BREAKS.sub("\n", _ANSI.sub("", text)))
    return _NONCHARACTERS.sub("\ufffd", replace_surrogates(text))


def replace_controls(text: str) -> str:
    """Return the text with U+FFFD for each character that controls a terminal, and for lone surrogates."""
    return _TERMINAL_CONTROLS.sub("\ufffd", replace_surrogates(text))


def same_text(text: str, other: str) -> bool:
    """Return whether two texts are equal apart from line ends and control characters, which CSV changes."""
    return len({replace_controls(version).replace("\r\n", "\n") for version in (text, other)}) == 1


def no_formula(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would run it as a formula."""
    is_formula = text[:1] in ("\t", "\n", "\r") or text.lstrip().startswith(_FORMULA_STARTS)
    return f"'{text}" if is_formula else text


def one_line(text: str, width: int = 80) -> str:
    """Return the cleaned text on one line, cut to ``width`` characters."""
    line = " ".join(strip_controls(text).split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def shorten(text: str, limit: int) -> str:
    """Return the text; cut it after ``limit`` characters, and state the number of omitted characters."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… ({len(text) - limit:,} more characters)"


def sanitize(value: Any) -> Any:
    """Replace lone surrogates in every string of JSON data by U+FFFD, because UTF-8 cannot encode them."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, Mapping):
        return {sanitize(key): sanitize(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [sanitize(item) for item in value]
    return value


class Range(Protocol):
    """Ends of the values of a score."""

    @property
    def low(self) -> float:
        """Least value."""

    @property
    def high(self) -> float:
        """Greatest value."""


MAX_REASON = 160
"""Maximum number of characters of a failure's message that is shown."""
NOTHING = "–"
"""Text that is printed if there is no number."""


def decimals_for(scale: Range | None, values: Iterable[float | None] = ()) -> int:
    """Return the number of decimals of a score everywhere, from its scale or its largest value."""
    span = scale.high - scale.low if scale else max((abs(v) for v in values if v is not None), default=0.0)
    steps = ((5000, 0), (20, 1), (0, 2)) if scale else ((1000, 0), (10, 1), (0.1, 2), (0, 3))
    return next(decimals for min_span, decimals in steps if span >= min_span)


def number(value: float | None, decimals: int = 3) -> str:
    """Format a number with fixed decimals, never a negative zero; a dash for None."""
    if value is None:
        return NOTHING
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed_difference(first: float | None, last: float | None, decimals: int = 3) -> str:
    """Format a difference (last - first) with its sign; zero has no sign."""
    if first is None or last is None:
        return NOTHING
    text = number(last - first, decimals)
    return f"+{text}" if last > first and float(text) != 0 else text


def signed(difference: float | None, decimals: int = 3) -> str:
    """Format a difference with its sign; zero has no sign."""
    return signed_difference(None if difference is None else 0.0, difference, decimals)


def minus(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen, as a page prints it."""
    return text.replace("-", "\N{MINUS SIGN}")


def p_number(p: float) -> str:
    """Format a p-value with three decimals, as ``.020``, ``< .001`` or ``1``."""
    if p < 0.001:
        return "< .001"
    return "1" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def p_text(p: float, name: str = "p") -> str:
    """Format a p-value with its name and sign, as ``p = .020``, ``p < .001`` or ``p = 1``."""
    number_text = p_number(p)
    return f"{name} {number_text}" if number_text.startswith("<") else f"{name} = {number_text}"


def level_text(level: float) -> str:
    """Format a significance level, with a fourth decimal below .01, where p-values are compared with it."""
    return f"{level:.{4 if level < 0.01 else 3}f}".removeprefix("0")


def interval(bounds: tuple[float, float] | None, decimals: int = 3) -> str:
    """Format an interval in square brackets; a dash for None."""
    return NOTHING if bounds is None else f"[{number(bounds[0], decimals)}, {number(bounds[1], decimals)}]"


def percent(share: float | None) -> str:
    """Format a share as a percentage, rounded down: only 1.0 is printed as 100%."""
    if share is None:
        return NOTHING
    tenths = floor(share * 1000 + 1e-9)
    return f"{tenths // 10}%" if tenths % 10 == 0 else f"{tenths / 10:.1f}%"


def without_fraction(value: float) -> int | float:
    """Return a number as an int if it is whole."""
    return int(value) if value == int(value) else value


def count(value: float) -> str:
    """Format a count with thousands separators."""
    return f"{value:,}"


def scale_text(scale: Range | None) -> str:
    """Format the ends of a scale; empty for None."""
    return "" if scale is None else f"{scale.low:g}–{scale.high:g}"


def plural(n: int, noun: str, plural_noun: str = "") -> str:
    """Return a count with its noun."""
    return f"{n} {noun if n == 1 else plural_noun or noun + 's'}"


def counted(n: int, noun: str) -> str:
    """Return a count with thousands separators, with its noun."""
    return f"{count(n)} {noun if n == 1 else noun + 's'}"


def failure_texts(failures: Mapping[str, int], first_messages: Mapping[str, str]) -> list[str]:
    """Return a text for each status, the most frequent first, with the message of its first failure."""
    return [
        f"{n} {status}" + (f" (first: {one_line(message, MAX_REASON)})" if message else "")
        for status, n in sorted(failures.items(), key=lambda item: -item[1])
        for message in (first_messages.get(status, ""),)
    ]


def format_timestamp(time: str) -> str:
    """Format an ISO 8601 time in UTC to the second; return other text unchanged."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", time)
    return f"{match[1]} {match[2]} UTC" if match else time
