"""Detect labels (such as ``【回答】`` or ``Name:``) and markup in a text that should be plain words."""

from __future__ import annotations

import re
from typing import NamedTuple

_SECTION = (
    r"(?:verse|chorus|pre-?chorus|post-?chorus|bridge|intro|outro|hook|refrain|rap|interlude|instrumental|solo|ending"
    r"|主歌|副歌|前奏|间奏|尾奏|桥段|过渡|导歌|说唱|念白|结尾)"
)
_SECTION_TAG = re.compile(
    rf"[(\[【（]\s*{_SECTION}[^)\]】）\n]{{0,16}}[)\]】）]\s*[:：]?|{_SECTION}[\s\d一二三四]{{0,3}}[:：]?",
    re.IGNORECASE,
)
_SECTION_START = re.compile(r"\s*[(\[【（vcpbiohrse主副前间尾桥过导说念结]", re.IGNORECASE)
"""Pattern of the first character of every section tag; it excludes most lines fast."""
_BRACKET_LABEL = re.compile(
    r"\s*(?:【[^】\n]{1,12}】|\[[^\]\n]{1,12}\](?!\()|［[^］\n]{1,12}］|〖[^〗\n]{1,12}〗)"
)
_NAME_LABEL = re.compile(
    r"\s*(?:\*\*)?[“\"「『]?([^\W\d_][\w·]{0,15})[”\"」』]?(?:\*\*)?\s*[:：](?!//)[^\n]?"
)
_LABEL_WORDS = re.compile(
    r"回答|答案|答|回复|答复|回应|输出|结果|正文|标题|题目|歌名|歌词|角色|旁白|内容|推文|文案|解析|说明|助手|ai"
    r"|answer|assistant|bot|character|content|lyrics|narrator|output|reply|response|result|title|user",
    re.IGNORECASE,
)
_SENTENCE_WORDS = re.compile(
    r"[说道想问是了吗的有要会我你他她它咱这那就都很真么如住得着看听记例比注对好先一不没今明昨早晚午]"
    r"|天气|秘密|提示|贴士|大家|各位|总之|结论|最后|首先|原来|其实|因为|所以|但|祝"
)
"""Pattern of characters and words that occur in sentences: a short text before a colon is not taken for a
name if it contains one of them."""
MARK_WORDS = {
    "label": "标签",
    "code fence": "代码块",
    "heading": "标题",
    "bold": "加粗",
    "table": "表格",
    "HTML tag": "HTML 标签",
    "list items": "列表",
}
"""Kinds of markup: the English name of each kind and its Chinese translation."""
_MARKUP = (
    ("code fence", re.compile(r"^[^\S\n]*(?:```|~~~)", re.MULTILINE)),
    ("heading", re.compile(r"^\s{0,3}#{1,6}\s+\S[^\n]{0,20}", re.MULTILINE)),
    ("bold", re.compile(r"\*\*[^*\n]{1,60}\*\*|(?<!\w)__[^_\n]{1,60}__(?!\w)")),
    ("table", re.compile(r"^[^\S\n]*\|[^\n]*\|[^\S\n]*$", re.MULTILINE)),
    (
        "HTML tag",
        re.compile(
            r"</?(?:a|b|big|blockquote|body|br|center|code|div|em|font|h[1-6]|head|hr|html|i|img|li|ol|p|pre|s|script"
            r"|small|span|strong|style|sub|sup|table|td|th|tr|u|ul)(?:\s[^<>\n]{0,120})?/?>",
            re.IGNORECASE,
        ),
    ),
)
_LIST_ITEM = re.compile(r"^[^\S\n]*(?:[-*+•]\s+\S|\d{1,2}[.)、）]\s*[^\d\s.])", re.MULTILINE)


class MarkupHit(NamedTuple):
    """One kind of markup that was found in a text."""

    kind: str
    """A key of ``MARK_WORDS``."""
    evidence: str
    """Description of the markup that was found, with a few characters of the text."""


def find_markup(text: str, names: str = "") -> list[MarkupHit]:
    """Return the label at the start of a text, such as ``【回答】`` or ``Name:``, and each kind of markup."""
    label = _label(text, names)
    hits = [MarkupHit("label", f"label {label}")] if label else []
    for kind, pattern in _MARKUP:
        match = pattern.search(text)
        if match is not None:
            hits.append(MarkupHit(kind, f"{kind} {match.group().strip()[:24]}"))
    items = len(_LIST_ITEM.findall(text))
    if items >= 2:
        hits.append(MarkupHit("list items", f"{items} list items"))
    return hits


def is_section_tag(line: str) -> bool:
    """Return whether a line consists only of a section tag of a lyric."""
    return _SECTION_START.match(line) is not None and _SECTION_TAG.fullmatch(line.strip()) is not None


def _label(text: str, names: str) -> str:
    """Return the label at the start of a text (a name before a colon, or words in brackets), or ""."""
    bracket = _BRACKET_LABEL.match(text)
    if bracket is not None:
        label = bracket.group().strip()
        return "" if is_section_tag(label) else label
    named = _NAME_LABEL.match(text)
    if named is None or is_section_tag(named.group(1)):
        return ""
    return f"{named.group(1)}:" if _is_speaker(named.group(1), names) else ""


def _is_speaker(label: str, names: str) -> bool:
    if _LABEL_WORDS.fullmatch(label):
        return True
    if names:
        return len(label) > 1 and label in names
    is_chinese = all("\u4e00" <= char <= "\u9fff" or char == "·" for char in label)
    return is_chinese and 2 <= len(label) <= 4 and not _SENTENCE_WORDS.search(label)
