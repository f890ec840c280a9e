"""Chinese words by jieba: one tokenizer of our own, so that words that a user adds to jieba move no score."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any


def last_word(run: str) -> str:
    """Return the last word of a run of characters that jieba takes as one block.

    Examples:
        >>> last_word("听音乐")
        '音乐'
    """
    words: list[str] = _tokenizer().lcut(run)
    return words[-1]


@cache
def _tokenizer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer = jieba.Tokenizer()
    # what Tokenizer.initialize does, without its messages on stderr and its cache file in a public folder
    with jieba.get_module_res("dict.txt") as lines:
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(lines)
    tokenizer.initialized = True
    return tokenizer
