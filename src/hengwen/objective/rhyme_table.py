"""Build ``rhyme_table.txt`` from pypinyin and pypinyin-dict.

``python -m hengwen.objective.rhyme_table`` prints the table; with ``--write`` it writes it into the package.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import defaultdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("rhyme_table.txt")
_FIRST, _LAST = 0x4E00, 0x9FFF
_NO_READING = "."
"""Mark of a character without a reading; such a character rhymes only with itself."""
_TONES = str.maketrans("", "", "ˊˇˋ˙")
_FINALS = "ㄚ01M ㄛ02B ㄜ03G ㄝ04J ㄦ06E ㄧ07Q ㄟ08W ㄞ09K ㄨ10G ㄩ11Y ㄡ12H ㄠ13H ㄢ14H ㄣ15H ㄤ16T"
_BY_SYMBOL = {**dict.fromkeys("ㄓㄔㄕㄖㄗㄘㄙ", "05Z"), **{item[0]: item[1:] for item in _FINALS.split()}}


def class_of_bopomofo(reading: str) -> str:
    """The rhyme class of a syllable in bopomofo; its last symbol if the syllable belongs to no class."""
    plain = reading.translate(_TONES)
    if plain.endswith("ㄥ"):
        return "18D" if plain.endswith("ㄩㄥ") or re.search("[^ㄨ]ㄨㄥ$", plain) else "17G"
    return _BY_SYMBOL.get(plain[-1:], plain[-1:])


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba

    with jieba.get_module_res("dict.txt") as lines:
        for line in lines:
            word = line.decode("utf-8").split(" ")[0]
            if _MIXED.fullmatch(word) and not _ALL_HAN.fullmatch(word):
                yield word


def build() -> str:
    """Return the text of the table; loading the dictionaries changes pypinyin for the whole process."""
    source = PinyinSource()
    base = {chr(code): source.character(chr(code)) for code in range(_FIRST, _LAST + 1)}
    words: dict[str, list[str]] = defaultdict(list)
    for word, code in source.words():
        if code != base[word[-1]]:
            words[code].append(word)
    return "".join(f"{line}\n" for line in _lines(base, words, source.versions))


def _lines(base: dict[str, str], words: dict[str, list[str]], versions: str) -> Iterator[str]:
    codes = sorted({code for char, code in base.items() if code != char} | set(words))
    letters = {code: chr(ord("A") + index) for index, code in enumerate(codes)}
    yield f"# rhyme classes of U+4E00..U+9FFF, and the words that end in another class; from {versions}"
    yield " ".join(f"{letter}={code}" for code, letter in letters.items())
    marks = "".join(_NO_READING if code == char else letters[code] for char, code in base.items())
    yield from (marks[start : start + 128] for start in range(0, len(marks), 128))
    for code in codes:
        by_end: dict[str, list[str]] = defaultdict(list)
        for word in words.get(code, []):
            by_end[word[-1]].append(word)
        yield from (f"{letters[code]} {' '.join(sorted(by_end[end]))}" for end in sorted(by_end))


def main() -> None:
    """Print the table of rhyme classes; with ``--write``, write the table into the package."""
    text = build()
    if "--write" in sys.argv:
        TABLE.write_text(text, encoding="utf-8", newline="\n")
    else:
        sys.stdout.buffer.write(text.encode())


if __name__ == "__main__":
    main()
