"""Replace each traditional character by one simplified character, with OpenCC."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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
