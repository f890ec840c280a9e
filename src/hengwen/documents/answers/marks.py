"""Mark in two answers where they differ or, if they have little in common, what stands in a reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from hengwen.documents.blocks import Marked
from hengwen.objective.matching import Block, matching_blocks

MAX_TOKENS = 3000
"""Maximum number of words or Chinese characters of a text in which differences are searched."""
ALIKE = 0.5
"""Share of common words or characters from which differences are marked; below, all of a text would be."""
MIN_PASSAGE = 4
"""Minimum number of characters of a passage that is marked because it stands in a reference."""
_TOKEN = re.compile(r"[^\W\d_\u2e80-\U0003ffff]+|\d+|\s+|.", re.DOTALL)
"""A word of letters, a number, white space, or one character such as a Chinese one."""
_FIRST_SIGN = 0xE000
"""Tokens become characters from here on, so that the matching sees one character for each token."""


def mark_pair(
    before: str, after: str, references: Sequence[str] = ()
) -> tuple[tuple[Marked, ...], tuple[Marked, ...]]:
    """Return both texts with marks."""
    tokens = _TOKEN.findall(before), _TOKEN.findall(after)
    if before == after or max(map(len, tokens)) > MAX_TOKENS:
        return _plain(before), _plain(after)
    blocks = _blocks(*tokens)
    common = sum(size for _, _, size in blocks)
    if 2 * common > ALIKE * sum(map(len, tokens)):
        return (
            _marked(tokens[0], [(i, i + size) for i, _, size in blocks]),
            _marked(tokens[1], [(j, j + size) for _, j, size in blocks]),
        )
    return mark_references(before, references), mark_references(after, references)


def mark_references(text: str, references: Sequence[str]) -> tuple[Marked, ...]:
    """Return a text with marks on its passages of four or more characters that stand in a reference."""
    grams = {
        reference[i : i + MIN_PASSAGE]
        for reference in references
        for i in range(len(reference) - MIN_PASSAGE + 1)
    }
    if not grams or len(text) > MAX_TOKENS:
        return _plain(text)
    is_copied = [False] * len(text)
    for i in range(len(text) - MIN_PASSAGE + 1):
        gram = text[i : i + MIN_PASSAGE]
        if gram in grams and not gram.isspace():
            is_copied[i : i + MIN_PASSAGE] = [True] * MIN_PASSAGE
    return tuple(
        Marked("".join(char for char, _ in group), "reference" if copied else "")
        for copied, group in groupby(zip(text, is_copied, strict=True), key=lambda item: item[1])
    )


def _plain(text: str) -> tuple[Marked, ...]:
    return (Marked(text),) if text else ()


def _blocks(before: Sequence[str], after: Sequence[str]) -> list[Block]:
    signs: dict[str, str] = {}
    for token in (*before, *after):
        signs.setdefault(token, chr(_FIRST_SIGN + len(signs)))
    texts = ["".join(map(signs.__getitem__, tokens)) for tokens in (before, after)]
    return matching_blocks(*texts)


def _marked(tokens: Sequence[str], common: Iterable[tuple[int, int]]) -> tuple[Marked, ...]:
    pieces: list[Marked] = []
    end = 0
    for start, stop in (*common, (len(tokens), len(tokens))):
        if start > end:
            pieces.append(Marked("".join(tokens[end:start]), "differs"))
        if stop > start:
            pieces.append(Marked("".join(tokens[start:stop])))
        end = stop
    return tuple(pieces)
