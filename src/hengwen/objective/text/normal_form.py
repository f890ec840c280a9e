"""Compute Unicode normal forms in linear time, even for texts with thousands of combining marks in a row.

Python sorts the marks after a letter by insertion, in quadratic time. Long runs of marks are sorted here
first, which does not change the result.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

Form = Literal["NFC", "NFKC"]
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
    """Return ``unicodedata.normalize(form, text)``."""
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
