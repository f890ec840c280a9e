"""jieba's dictionary is parsed in parts, and nothing changes."""

from __future__ import annotations

import threading
import warnings

import pytest

from hengwen.objective.text import _Dictionary, segment

pytestmark = pytest.mark.slow

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the first compilation of jieba
    import jieba


def test_the_parts_of_the_dictionary_are_those_that_jieba_parses_at_once() -> None:
    with jieba.get_module_res("dict.txt") as lines:
        text = lines.read().decode("utf-8")
    with jieba.get_module_res("dict.txt") as lines:
        frequencies, total = jieba.Tokenizer().gen_pfdict(lines)
    dictionary = _Dictionary(text)
    assert not dictionary.frequencies
    for char in {word[0] for word in frequencies}:
        dictionary.parse_words_of(char)
    assert (dictionary.frequencies, dictionary.total) == (frequencies, total)


def test_words_are_those_of_jieba() -> None:
    tokenizer = jieba.Tokenizer()
    with jieba.get_module_res("dict.txt") as lines:
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(lines)
    tokenizer.initialized = True
    for text in ("我们在听音乐，T恤和卡拉OK！", "南京市长江大桥", "𠮷野家2024年の歌", ""):
        assert segment(text) == tokenizer.lcut(text)


def test_a_thread_waits_for_words_that_another_thread_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    dictionary = _Dictionary("风 3 n\n风吹 2 v\n水 1 n\n风声 4 n\n")
    frequencies: list[dict[str, int]] = []

    def parse() -> None:
        dictionary.parse_words_of("风")
        frequencies.append(dict(dictionary.frequencies))

    second = threading.Thread(target=parse)
    parse_lines = _Dictionary._parse_lines

    def parse_while_second_starts(self: _Dictionary, begin: int, end: int) -> None:
        if second.ident is None:
            second.start()
            second.join(0.1)  # it ends here only if it does not wait
        parse_lines(self, begin, end)

    monkeypatch.setattr(_Dictionary, "_parse_lines", parse_while_second_starts)
    dictionary.parse_words_of("风")
    second.join()
    assert frequencies == [{"风": 3, "风吹": 2, "风声": 4}]
