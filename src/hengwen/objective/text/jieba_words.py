"""Segment Chinese words with a separate jieba tokenizer, so that words added to jieba change no score."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any


def segment(text: str) -> list[str]:
    """Split a text into words; whitespace and punctuation are kept.

    Examples:
        >>> segment("听音乐！")
        ['听', '音乐', '！']
    """
    words: list[str] = _tokenizer().lcut(text)
    return words


def last_word(run: str) -> str:
    """Return the last word of a run of characters that jieba treats as one block.

    Examples:
        >>> last_word("听音乐")
        '音乐'
    """
    return segment(run)[-1]


@cache
def _tokenizer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer = jieba.Tokenizer()
    # do what Tokenizer.initialize does, but without messages on stderr and a cache file in a shared folder
    with jieba.get_module_res("dict.txt") as lines:
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(lines)
    tokenizer.initialized = True
    return tokenizer
