"""Compute Unicode normal forms in linear time, even for texts with thousands of combining marks in a row.

Python sorts the marks after a letter by insertion, in quadratic time. Long runs of marks are sorted here
first, which does not change the result.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Form = Literal["NFC", "NFKC"]
MAX_EXPANDED = 4_000_000
"""Maximum number of characters of a normal form that is more than twice as long as its text: NFKC makes up
to 18 characters of one."""
_DECOMPOSED: dict[Form, Literal["NFD", "NFKD"]] = {"NFC": "NFD", "NFKC": "NFKD"}
_MAX_RUN = 64
"""Runs of at least this many combining marks are sorted before Python normalises them, which is faster."""
_MAYBE_MARKS = re.compile(
    r"[^\0-\u02ff\u0370-\u0482\u2000-\u20cf\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ufb1d\ufe30-\uff9d]"
    rf"{{{_MAX_RUN},}}"
)
"""Pattern of long stretches that may consist of combining marks; it excludes most characters that are not
marks."""


def normal_form(text: str, form: Form = "NFKC") -> str:
    """Return ``unicodedata.normalize(form, text)``.

    Raises:
        ValueError: The normal form is too long because single characters become many.
    """
    if form == "NFKC" and len(text) > MAX_EXPANDED // 18:
        expanded = len(text) + 17 * text.count("\ufdfa") + 7 * text.count("\ufdfb")
        if expanded > max(MAX_EXPANDED, 2 * len(text)):
            raise ValueError(f"a text of {len(text):,} characters becomes {expanded:,} in NFKC: too long")
    if _MAYBE_MARKS.search(text):
        text = _runs_of_marks(form).sub(lambda run: _sorted_marks(run[0], form), text)
    return unicodedata.normalize(form, text)


def _sorted_marks(run: str, form: Form) -> str:
    marks = "".join(unicodedata.normalize(_DECOMPOSED[form], mark) for mark in run)
    return "".join(sorted(marks, key=unicodedata.combining))


@cache
def _runs_of_marks(form: Form) -> re.Pattern[str]:
    marks = "".join(char for char in map(chr, range(0x300, 0x1F000)) if _begins_with_mark(char, form))
    return re.compile(f"[{marks}]{{{_MAX_RUN},}}")


def _begins_with_mark(char: str, form: Form) -> bool:
    return unicodedata.combining(unicodedata.normalize(_DECOMPOSED[form], char)[0]) > 0


_PRONOUNS = str.maketrans("妳祂牠", "你他它")
"""Pronouns that OpenCC does not replace, with the pronouns that mainland China uses for them."""
_ZHE = re.compile("(?<![名巨原土显编论遗昭卓专拙译])著(?!名(?![著字单片])|作(?![业文])|称|述)")
"""Pattern of 著 where it must become 着 (everywhere except in words about writing or fame); OpenCC does not
replace it."""
_RARE = re.compile("[\u3400-\u4dbf\U00020000-\U0003ffff]")
_SURROGATES = re.compile("([\ud800-\udfff]+)")


def simplify(text: str) -> str:
    """Return the text in simplified characters; the number of characters does not change."""
    if text.isascii():
        return text
    convert = _converter()
    try:
        simplified = convert(text)
    except UnicodeEncodeError:  # a lone surrogate (half of a character above U+FFFF) has no UTF-8 form
        parts = _SURROGATES.split(text)
        simplified = "".join(part if i % 2 else convert(part) for i, part in enumerate(parts))
    if _RARE.search(simplified):
        pairs = zip(text, simplified, strict=True)
        simplified = "".join(old if _RARE.match(new) and not _RARE.match(old) else new for old, new in pairs)
    return _ZHE.sub("着", simplified.translate(_PRONOUNS))


@cache
def _converter() -> Callable[[str], str]:
    import opencc

    # an absolute path, because OpenCC("t2s") prefers a file t2s.json in the working folder
    config = Path(opencc.__file__).parent / "clib" / "share" / "opencc" / "t2s.json"
    convert: Callable[[str], str] = opencc.OpenCC(str(config)).convert
    return convert
