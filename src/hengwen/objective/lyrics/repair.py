"""Remove what models add to a lyric (code fences, rulers like ``---``, timestamps); list each change."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hengwen.objective.text import simplify

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


_FENCE = re.compile(r"(?:```|~~~)[\w-]*")
_RULE = re.compile(r"-{3,}|\*{3,}|_{3,}|={3,}|—{2,}")
_METADATA = re.compile(r"\[(?:ti|ar|al|by|offset|length|re|ve|au):[^\]]*\]", re.IGNORECASE)
_STAMP = re.compile(r"(?:\[\d{1,3}:\d{1,2}(?:[.:]\d{1,3})?\][ \t]*)+")
_MARKUP = re.compile(r"\*\*|__|`|\A(?:>|[-*+•])\s|\A#{1,6}\s")
_TITLE = re.compile(
    r"《[^》]*》|(?:歌名|歌曲名|标题|题目|歌词|作词|作曲|演唱|title|lyrics?|song)\s*[:：].*", re.IGNORECASE
)
_CHATTER = re.compile(
    r"好的|当然|没问题|以下|下面|这是|这首歌|希望|祝你|如果|如有|如需|注[:：]|说明[:：]"
    r"|sure|certainly|of course|here|i hope|hope you|let me know|note:",
    re.IGNORECASE,
)
_SENTENCE_ENDS = tuple("。！!.~～:：?？)）")
_INVISIBLE = re.compile("[\ufeff\u200b-\u200d\u2060\u00ad]+")
_WIDE = {ord(char): ord(char) - 0xFEE0 for char in map(chr, range(0xFF10, 0xFF5B)) if char.isalnum()}
_PUNCTUATION = re.compile('[，。！？、；：…—～·“”‘’「」『』《》〈〉,.!?;:~"]+')
_SPACES = re.compile(r"\s+")


class Repaired(NamedTuple):
    """A repaired text, which can be parsed exactly, and notes on its repairs."""

    text: str
    repairs: tuple[str, ...]


class _Row(NamedTuple):
    number: int
    raw: str
    """The line without its timestamp; empty if dropped (blank line, code fence, ruler or metadata)."""
    text: str
    is_tag: bool
    notes: tuple[str, ...]


def repair(text: str, *, keep_ahead: bool = False) -> Repaired:
    """Repair a lyric or a template so that it can be parsed exactly."""
    notes: list[str] = ["read CR as line ends"] if "\r" in text else []
    lines = _only_fenced([(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)], notes)
    rows = _without_frame([_row(number, line) for number, line in lines], keep_ahead)
    notes += [f"line {row.number}: {note}" for row in rows for note in row.notes]
    blank = sum(not line for _, line in lines)
    if blank:
        notes.append(f"dropped {blank} blank lines" if blank > 1 else "dropped a blank line")
    return Repaired("\n".join([row.text for row in rows if row.text]), tuple(notes))


def _only_fenced(lines: list[tuple[int, str]], notes: list[str]) -> list[tuple[int, str]]:
    """Return only the lines inside the code fence if all other lines can be dropped, otherwise all lines."""
    fences = [index for index, (_, line) in enumerate(lines) if _FENCE.fullmatch(line)]
    if len(fences) != 2:
        return lines
    inside = lines[fences[0] + 1 : fences[1]]
    around = [line for _, line in lines[: fences[0]] + lines[fences[1] + 1 :] if line]
    if not any(read_tag(line) for _, line in inside) or not around:
        return lines
    notes.append(
        f"kept the fenced lines {inside[0][0]} to {inside[-1][0]}, dropped {len(around)} lines around them"
    )
    return inside


def _row(number: int, line: str) -> _Row:
    for pattern, name in ((_FENCE, "a code fence"), (_RULE, "a rule"), (_METADATA, "metadata")):
        if pattern.fullmatch(line):
            return _Row(number, "", "", False, (f"dropped {name}",))
    notes: list[str] = []
    visible = _INVISIBLE.sub("", line)
    if visible != line:
        notes.append("dropped invisible characters")
    if stamp := _STAMP.match(visible):
        notes.append(f"dropped the timestamp {stamp[0].strip()}")
        visible = visible[stamp.end() :].strip()
    tag = read_tag(visible)
    if tag and tag != visible:
        notes.append(f"read {visible!r} as {tag}")
    text = tag or _plain(visible, notes)
    return _Row(number, visible, text, tag is not None, tuple(notes))


def _plain(line: str, notes: list[str]) -> str:
    """Return a line without markup and punctuation, in simplified characters; append the repairs to notes."""
    text = _MARKUP.sub("", line)
    narrow = text.translate(_WIDE)
    marks = " ".join(dict.fromkeys(_PUNCTUATION.findall(narrow)))
    bare = _SPACES.sub(" ", _PUNCTUATION.sub(" ", narrow)).strip()
    simple = simplify(bare)
    for changed, note in (
        (text != line, "dropped markup"),
        (narrow != text, "read full-width letters as ASCII"),
        (marks, f"dropped punctuation {marks}"),
        (simple != bare, "read traditional characters as simplified"),
    ):
        if changed:
            notes.append(note)
    return simple


def _without_frame(rows: list[_Row], keep_ahead: bool) -> list[_Row]:
    """Return the rows; rows that are not part of the lyric become empty."""
    tags = [index for index, row in enumerate(rows) if row.is_tag]
    head, tail = 0, len(rows)
    if tags and not keep_ahead:
        head = tags[0]
    else:
        while head < len(rows) and _is_title(rows[head].raw):
            head += 1
    while tail > head and not rows[tail - 1].raw:
        tail -= 1
    if tail > head + 1 and not rows[tail - 2].raw and _is_chatter(rows[tail - 1].raw):
        tail -= 1
    return [*map(_dropped, rows[:head]), *rows[head:tail], *map(_dropped, rows[tail:])]


def _dropped(row: _Row) -> _Row:
    if not row.raw:
        return row
    return row._replace(text="", notes=(f"dropped {row.raw[:40]!r}",))


def _is_title(raw: str) -> bool:
    return not raw or bool(_TITLE.fullmatch(raw)) or (_is_chatter(raw) and raw.endswith((":", "：")))


def _is_chatter(raw: str) -> bool:
    return bool(_CHATTER.match(raw)) and raw.endswith(_SENTENCE_ENDS)
