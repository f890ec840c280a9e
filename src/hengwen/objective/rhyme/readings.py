"""What pypinyin reads once pypinyin-dict is loaded.

Loading changes pypinyin's tables for the whole process: to be done in a process of its own.
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
    """Classes of characters and words as pypinyin reads them with large_pinyin and then cc_cedict loaded."""

    def __init__(self) -> None:
        from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
        from pypinyin_dict.phrase_pinyin_data import large_pinyin
        from pypinyin_dict.pinyin_data import cc_cedict

        large_pinyin.load()
        cc_cedict.load()
        self._phrases = PHRASES_DICT
        self._characters = PINYIN_DICT
        self.sources = f"pypinyin {version('pypinyin')}, pypinyin-dict {version('pypinyin-dict')}"
        self.sources += f", jieba {version('jieba')}"

    def character(self, char: str) -> str:
        """Return the class of the first reading; the character itself where there is none."""
        readings = self._characters.get(ord(char))
        return _class_of_pinyin(readings.split(",")[0]) if readings else char

    def words(self) -> Iterator[tuple[str, str]]:
        """Yield each word that a segmenter could give, ending in Han, with the class of its end."""
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
    """Yield the words of jieba's dictionary that mix Han with other signs: pypinyin cuts these again."""
    import jieba

    with jieba.get_module_res("dict.txt") as lines:
        for line in lines:
            word = line.decode("utf-8").split(" ")[0]
            if _MIXED.fullmatch(word) and not _ALL_HAN.fullmatch(word):
                yield word
