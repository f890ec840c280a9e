"""jieba's dictionary is parsed in parts, and nothing changes."""

from __future__ import annotations

import warnings

from hengwen.objective.text.jieba_words import _Dictionary, segment

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
