"""Segment Chinese words with a separate jieba tokenizer, so that words added to jieba change no score."""

from __future__ import annotations

import re
import threading
import warnings
from functools import cache
from typing import Any


def segment(text: str) -> list[str]:
    """Split a text into words; whitespace and punctuation are kept."""
    words: list[str] = _tokenizer().lcut(text)
    return words


def last_word(run: str) -> str:
    """Return the last word of a run of characters that jieba treats as one block."""
    return segment(run)[-1]


@cache
def _tokenizer() -> Any:
    """Return a jieba tokenizer that parses only the dictionary words that it needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer = jieba.Tokenizer()
    with jieba.get_module_res("dict.txt") as lines:
        dictionary = _Dictionary(lines.read().decode("utf-8"))
    # do what Tokenizer.initialize does, but without messages on stderr and a cache file in a shared folder
    tokenizer.FREQ, tokenizer.total = dictionary.frequencies, dictionary.total
    tokenizer.initialized = True
    find_words = tokenizer.get_DAG

    def get_dag(sentence: str) -> Any:
        dictionary.parse_words_of(sentence)
        return find_words(sentence)

    tokenizer.get_DAG = get_dag
    return tokenizer


class _Dictionary:
    """The words of jieba's dictionary with their frequencies.

    All words with the same first character are parsed when a text contains this character.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: dict[str, list[tuple[int, int]]] = {}
        """Begin and end of the dictionary lines that are not parsed yet, by the first character of a line."""
        for lines in re.finditer(r"^(.).*\n?(?:^\1.*\n?)*", text, re.MULTILINE):
            self._spans.setdefault(lines[1], []).append(lines.span())
        self.total = sum(map(int, re.findall(r" (\d+) ", text)))
        """Sum of the frequencies of all words."""
        self.frequencies: dict[str, int] = {}
        """Frequency of each parsed word; 0 for a prefix of a word that is not a word itself."""
        self._lock = threading.Lock()

    def parse_words_of(self, sentence: str) -> None:
        """Parse the words that begin with any character of a sentence; several threads may call this."""
        if self._spans.keys().isdisjoint(sentence):
            return
        with self._lock:
            for char in self._spans.keys() & set(sentence):
                for begin, end in self._spans[char]:
                    self._parse_lines(begin, end)
                del self._spans[char]  # delete this last: it lets other threads skip the lock

    def _parse_lines(self, begin: int, end: int) -> None:
        for line in self._text[begin:end].splitlines():
            word, frequency, *_ = line.split(" ")
            self.frequencies[word] = int(frequency)
            for length in range(1, len(word)):
                self.frequencies.setdefault(word[:length], 0)
