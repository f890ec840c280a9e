"""Recognise section tags as models write them: ``[Verse 1]``, ``（主歌）``, ``**Chorus**``, ``Verse 1:``."""

from __future__ import annotations

import re
from functools import lru_cache

from hengwen.objective.text.normal_form import simplify

_EXACT = re.compile(r"\([\w-]+\)")
_MAX_TAG_CHARACTERS = 40
_BRACKETS = {
    "(": ")",
    "（": "）",
    "[": "]",
    "［": "］",
    "【": "】",
    "〔": "〕",
    "<": ">",
    "{": "}",
    "「": "」",
}
_DECORATION = "*_#`> \t"
_COLONS = ":："
_REMARK = re.compile(r"\s+[-–—]\s.*|[:：|,，/—–].*")
_REPEAT = re.compile(r"\s*[x×*]\s*\d{1,2}\Z")
_NUMBER = re.compile(
    r"[\s_-]*(?:\d{1,2}|[一二三四五六七八九十]{1,2}|(?<=[\s_-])(?:[ivx]{1,4}|[a-d]|one|two|three|four))\Z"
)
_ORDINAL = re.compile(r"\A第[一二三四五六七八九十\d]{1,2}段?")

_NAMES = {
    name: section
    for section, names in {
        "intro": "intro introduction 前奏 引子 序曲",
        "verse": "verse 主歌",
        "pre-chorus": "pre-chorus prechorus 导歌 预副歌 前副歌 副歌前",
        "chorus": "chorus 副歌",
        "post-chorus": "post-chorus postchorus 后副歌",
        "hook": "hook",
        "refrain": "refrain",
        "bridge": "bridge 桥段 过渡段",
        "interlude": "interlude 间奏",
        "instrumental": "instrumental",
        "rap": "rap 说唱",
        "break": "break",
        "outro": "outro 尾奏",
        "ending": "ending 结尾 尾声",
    }.items()
    for name in names.split()
}
_TAG_WITHOUT_BRACKETS = frozenset({"intro", "verse", "pre-chorus", "chorus", "bridge", "interlude", "outro"})
"""Section names that count as tags even without brackets or markup, with or without a number."""


@lru_cache(maxsize=4096)
def read_tag(line: str) -> str | None:
    """Return the tag that a stripped line represents, such as ``(verse)``; None if it is a line of text."""
    if len(line) > _MAX_TAG_CHARACTERS:
        return None
    if _EXACT.fullmatch(line):
        section = _section(line[1:-1])
        return f"({section})" if section and not line.isascii() else line
    inner, enclosed, marked = _undress(line)
    if enclosed:
        inner = _REMARK.sub("", inner)
    section = _section(inner)
    if section and (enclosed or marked or section in _TAG_WITHOUT_BRACKETS):
        return f"({section})"
    return None


def _undress(line: str) -> tuple[str, bool, bool]:
    """Return the text without brackets and markup, whether it had brackets, and whether it was changed."""
    inner, enclosed, marked = line, False, False
    while inner:
        bare = inner.strip(_DECORATION).rstrip(_COLONS)
        closing = _BRACKETS.get(bare[:1])
        if closing and len(bare) > 1 and bare.endswith(closing):
            bare, enclosed = bare[1:-1], True
        if bare == inner:
            break
        inner, marked = bare, True
    return inner, enclosed, marked


def _section(name: str) -> str | None:
    plain = _REPEAT.sub("", simplify(name).casefold().strip())
    plain = _NUMBER.sub("", _ORDINAL.sub("", plain))
    return _NAMES.get(re.sub(r"[\s_]+", "-", plain.strip(" _-")))
