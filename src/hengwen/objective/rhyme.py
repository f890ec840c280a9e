"""The rhyme class of a line: the class of its last Han character, as pronounced in the line's last word.

A table (built by ``rhyme_table.py``) holds the rhyme class of each character, and the words whose last
character has another class in the word than on its own. jieba (word segmentation) is used only if a line ends
in a listed word.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from hengwen.errors import did_you_mean

SCHEMES = ("eighteen",)

_FIRST = 0x4E00
_MAX_CACHED_CHARACTERS = 64
"""Maximum length of a cached run of characters; longer runs take memory and hardly ever repeat."""

_LAST_HAN = re.compile("[\u4e00-\u9fff](?=[^\u4e00-\u9fff]*\\Z)")
_RUN_BACKWARDS = re.compile("[\u4e00-\u9fd5a-zA-Z0-9+#&._%-]*")


def rhyme_class(text: str, *, scheme: str = "eighteen") -> str | None:
    """Return the rhyme class of the last Han character of a line.

    Args:
        text: A line; everything after its last Han character is ignored.
        scheme: Name of the table of classes; ``eighteen`` is the only one.

    Returns:
        A code of ``RHYME_CLASSES``, such as ``17G``. If the character has no reading, the result is the
        character itself. If its reading belongs to no class, the result is the last bopomofo (phonetic)
        symbol of the reading. The result is None if the line has no Han character (U+4E00..U+9FFF).

    Raises:
        ValueError: The scheme is unknown.

    Notes:
        Tones are ignored. 儿 is a syllable of its own: a line that ends in 花儿 has the class of 儿, 06E. The
        readings come from pypinyin with the dictionaries large_pinyin and cc_cedict of pypinyin-dict; jieba
        segments the words.

    Examples:
        >>> rhyme_class("梦里的风"), rhyme_class("他写的歌。")
        ('17G', '03G')
        >>> rhyme_class("oh yeah") is None
        True
    """
    if scheme not in SCHEMES:
        raise ValueError(f"unknown rhyme scheme {scheme!r}{did_you_mean(scheme, SCHEMES)}")
    end = last_han(text)
    return None if end < 0 else class_of_ending(text, end)


def last_han(text: str) -> int:
    """Return the index of the last Han character (U+4E00..U+9FFF), -1 if there is none."""
    match = _LAST_HAN.search(text)
    return match.start() if match else -1


def class_of_ending(text: str, end: int) -> str:
    """Return the rhyme class of the Han character at index ``end``, as read in the word that ends there."""
    run = _run(text, end)
    return _class_of_run(run) if len(run) > _MAX_CACHED_CHARACTERS else _class_of_short_run(run)


def _run(text: str, end: int) -> str:
    """Return the characters, up to the one at index ``end``, that jieba segments as one block."""
    match = _RUN_BACKWARDS.match(text[end::-1])
    length = match.end() if match else 0
    return text[end - length + 1 : end + 1] if length else text[end]


def _class_of_run(run: str) -> str:
    table = _table()
    if not table.is_ambiguous(run):
        return table.character(run[-1])
    from hengwen.objective.text import last_word

    word = last_word(run)
    return table.words.get(word) or table.character(run[-1])


_class_of_short_run = lru_cache(maxsize=1 << 15)(_class_of_run)


class _Table(NamedTuple):
    """Rhyme classes of Han characters, and of words whose last character has an unusual class."""

    marks: str
    """One letter, which stands for a rhyme class, for each Han character from U+4E00 on; a dot (``.``) for a
    character without a reading."""
    codes: dict[str, str]
    """Rhyme class, such as ``17G``, by the letter that stands for it in ``marks``."""
    words: dict[str, str]
    """Rhyme class of each word whose last character has a different class in the word than on its own."""
    lengths: dict[str, tuple[int, ...]]
    """Lengths of the words in ``words``, by their last character."""

    def character(self, char: str) -> str:
        """Return the rhyme class of a character on its own; the character itself if it has no reading."""
        return self.codes.get(self.marks[ord(char) - _FIRST], char)

    def is_ambiguous(self, run: str) -> bool:
        """Return whether a run of characters may end in one of ``words``, so that it must be segmented."""
        return any(run[-length:] in self.words for length in self.lengths.get(run[-1], ()))


@cache
def _table() -> _Table:
    text = files("hengwen.objective").joinpath("rhyme_table.txt").read_text(encoding="utf-8")
    _, legend, *rows = text.splitlines()
    codes = dict(item.split("=") for item in legend.split(" "))
    marks = [row for row in rows if " " not in row]
    words: dict[str, str] = {}
    lengths: dict[str, set[int]] = defaultdict(set)
    for row in rows[len(marks) :]:
        letter, *members = row.split(" ")
        words.update(dict.fromkeys(members, codes[letter]))
        lengths[members[0][-1]].update(map(len, members))
    return _Table(
        "".join(marks), codes, words, {char: tuple(sorted(sizes)) for char, sizes in lengths.items()}
    )


@dataclass(frozen=True, slots=True)
class RhymeClass:
    """A rhyme class: syllables rhyme if their finals (endings) belong to one class, whatever their tones."""

    code: str
    name: str
    finals: tuple[str, ...]
    """Finals (endings of syllables) of the class in pinyin, with ``v`` for ü. The final ``i`` belongs to
    class 05Z after zh, ch, sh, r, z, c and s, and to class 07Q after all other initials."""


_CLASSES = (
    RhymeClass("01M", "一麻", ("a", "ia", "ua")),
    RhymeClass("02B", "二波", ("o", "uo")),
    RhymeClass("03G", "三歌", ("e",)),
    RhymeClass("04J", "四皆", ("ie", "ve", "ê")),
    RhymeClass("05Z", "五支", ("i",)),
    RhymeClass("06E", "六儿", ("er",)),
    RhymeClass("07Q", "七齐", ("i",)),
    RhymeClass("08W", "八微", ("ei", "uei")),
    RhymeClass("09K", "九开", ("ai", "uai")),
    RhymeClass("10G", "十姑", ("u", "m")),
    RhymeClass("11Y", "十一鱼", ("v",)),
    RhymeClass("12H", "十二侯", ("ou", "iou")),
    RhymeClass("13H", "十三豪", ("ao", "iao")),
    RhymeClass("14H", "十四寒", ("an", "ian", "uan", "van")),
    RhymeClass("15H", "十五痕", ("en", "in", "uen", "vn", "n")),
    RhymeClass("16T", "十六唐", ("ang", "iang", "uang")),
    RhymeClass("17G", "十七庚", ("eng", "ing", "ueng")),
    RhymeClass("18D", "十八东", ("ong", "iong")),
)

RHYME_CLASSES: Mapping[str, RhymeClass] = MappingProxyType({item.code: item for item in _CLASSES})
"""Rhyme classes by code, in the order of their numbers: from ``01M`` (一麻) to ``18D`` (十八东)."""


def rhyme_name(code: str) -> str:
    """Return the Chinese name of a class; the code itself if no class has this code."""
    rhyme_class = RHYME_CLASSES.get(code)
    return rhyme_class.name if rhyme_class else code


Line = TypeVar("Line")


def mark_rhymes(readings: Sequence[tuple[str, Line, Line]]) -> tuple[Line, ...]:
    """Return the lines of one section, with a mark on each line that shares its rhyme class with another."""
    sizes: dict[str, int] = {}
    for code, _, _ in readings:
        sizes[code] = sizes.get(code, 0) + 1
    sizes[""] = 0
    return tuple([marked if sizes[code] > 1 else plain for code, plain, marked in readings])


TABLE = Path(__file__).with_name("rhyme_table.txt")
_FIRST_RHYME_TABLE, _LAST = 0x4E00, 0x9FFF
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
    base = {chr(code): source.character(chr(code)) for code in range(_FIRST_RHYME_TABLE, _LAST + 1)}
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
