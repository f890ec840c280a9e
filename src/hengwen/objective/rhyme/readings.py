"""Determine rhyme classes with pypinyin and the dictionaries of pypinyin-dict.

Loading the dictionaries changes pypinyin for the whole process: use this module in a subprocess.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from hengwen.objective.rhyme.classes import class_of_bopomofo

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALL_HAN = re.compile("[\u4e00-\u9fd5]+")
_MIXED = re.compile("[\u4e00-\u9fd5a-zA-Z0-9+#&._%-]*[\u4e00-\u9fd5]")


class PinyinSource:
    """Source of rhyme classes: pypinyin, with the dictionaries large_pinyin and then cc_cedict loaded."""

    def __init__(self) -> None:
        from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
        from pypinyin_dict.phrase_pinyin_data import large_pinyin
        from pypinyin_dict.pinyin_data import cc_cedict

        large_pinyin.load()
        cc_cedict.load()
        self._phrases = PHRASES_DICT
        self._characters = PINYIN_DICT
        packages = ("pypinyin", "pypinyin-dict", "jieba")
        self.versions = ", ".join(f"{package} {version(package)}" for package in packages)

    def character(self, char: str) -> str:
        """Return the class of the first reading of a character; the character itself if it has no reading."""
        readings = self._characters.get(ord(char))
        return _class_of_pinyin(readings.split(",")[0]) if readings else char

    def words(self) -> Iterator[tuple[str, str]]:
        """Yield (word, rhyme class of its end) for the phrases of pypinyin and for some words of jieba."""
        for word, readings in self._phrases.items():
            if _ALL_HAN.fullmatch(word):
                yield word, _class_of_pinyin(readings[-1][0])
        for word in _mixed_words():
            yield word, self._mixed(word)

    def _mixed(self, word: str) -> str:
        from pypinyin import Style, pinyin

        return class_of_bopomofo(pinyin([word], style=Style.BOPOMOFO, strict=False)[-1][0])


@cache
def _class_of_pinyin(reading: str) -> str:
    from pypinyin.style.bopomofo import converter

    return class_of_bopomofo(converter.to_bopomofo(reading))


def _mixed_words() -> Iterator[str]:
    """Yield the words of jieba's dictionary that mix Han with other characters; pypinyin splits them."""
    import jieba

    with jieba.get_module_res("dict.txt") as lines:
        for line in lines:
            word = line.decode("utf-8").split(" ")[0]
            if _MIXED.fullmatch(word) and not _ALL_HAN.fullmatch(word):
                yield word
