"""The eighteen rhyme classes (十八韵) of Mandarin, each with its finals (endings of syllables).

五支 and 七齐 are separate classes, although the final of both is written ``i`` in pinyin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


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


_TONES = str.maketrans("", "", "ˊˇˋ˙")
_FINALS = "ㄚ01M ㄛ02B ㄜ03G ㄝ04J ㄦ06E ㄧ07Q ㄟ08W ㄞ09K ㄨ10G ㄩ11Y ㄡ12H ㄠ13H ㄢ14H ㄣ15H ㄤ16T"
_BY_SYMBOL = {**dict.fromkeys("ㄓㄔㄕㄖㄗㄘㄙ", "05Z"), **{item[0]: item[1:] for item in _FINALS.split()}}


def class_of_bopomofo(reading: str) -> str:
    """The rhyme class of a syllable in bopomofo; its last symbol if the syllable belongs to no class."""
    plain = reading.translate(_TONES)
    if plain.endswith("ㄥ"):
        return "18D" if plain.endswith("ㄩㄥ") or re.search("[^ㄨ]ㄨㄥ$", plain) else "17G"
    return _BY_SYMBOL.get(plain[-1:], plain[-1:])
