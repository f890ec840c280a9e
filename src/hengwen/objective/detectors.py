"""Find in a text what breaks it: thinking, numbers, markup and damaged passages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

from hengwen.objective.text import normal_form

_OPEN = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONE_CLOSE = re.compile(r"</think(?:ing)?>[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)


def strip_thinking(text: str) -> str | None:
    """Return a text without a leading ``<think>…</think>``; None if the block is not closed."""
    opened = _OPEN.match(text)
    if opened is None:
        return text
    closed = _CLOSE.search(text, opened.end())
    return None if closed is None else text[closed.end() :]


def after_thinking(text: str) -> str | None:
    """Return the text after the last ``</think>``; None if there is no such tag."""
    *_, last = (None, *_CLOSE.finditer(text)) if "</" in text else (None,)
    return None if last is None else text[last.end() :]


def answer_without_thinking(text: str) -> str | None:
    """Return an answer without the thinking block before it; None if the block is not closed."""
    if "<" not in text:
        return text
    answer = strip_thinking(text)
    if answer is text:
        closed = _LONE_CLOSE.search(text)
        answer = text if closed is None else text[closed.end() :]
    return answer if answer is None or answer is text else answer.lstrip()


NumberVerdict = Literal["right", "wrong", "none", "unclear"]

_WIDE_SEPARATOR = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")
_NUMBER = re.compile(
    r"(?:(?<![A-Za-z0-9_.)\]])[-+−])?(?:(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,]*\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?![A-Za-z0-9_]))?"
)
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万亿]{1,30}")
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}


def find_numbers(text: str) -> list[Decimal]:
    """The numbers that a text contains as digits (half-width or full-width), in the order of the text."""
    plain = _WIDE_SEPARATOR.sub(",", text).replace("，", " ")
    plain = normal_form(plain)
    return [Decimal(digits.replace(",", "").replace("−", "-")) for digits in _NUMBER.findall(plain)]


def find_chinese_numbers(text: str) -> list[tuple[int, str]]:
    """Return each number that is written in Chinese numerals, together with its characters."""
    return [(_chinese_value(run), run) for run in _CHINESE.findall(text)]


def _chinese_value(run: str) -> int:
    if all(char in _DIGITS for char in run):
        return int("".join(str(_DIGITS[char]) for char in run))
    total = myriads = section = digit = 0
    for char in run:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        elif char == "万":
            myriads, section, digit = (section + digit) * 10**4, 0, 0
        else:
            total, myriads, section, digit = (total + myriads + section + digit) * 10**8, 0, 0, 0
    return total + myriads + section + digit


def as_number(value: object) -> Decimal | None:
    """Return a value from a sample's metadata as a number; None if it is not a single number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = normal_form(str(value)).strip()
    if re.search(r"\d,\d", text):
        text = text.replace(",", "")
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= 400 else None


def number_verdict(text: str, expected: Decimal, *, question: str = "") -> NumberVerdict:
    """Return whether a text contains the right number, in digits or in Chinese numerals."""
    numbers = numbers_in(text)
    if any(_equal(number, expected) for number in numbers):
        return "right"
    single = [value for value, run in find_chinese_numbers(text) if len(run) == 1]
    if any(_equal(Decimal(value), expected) for value in single):
        return "unclear"
    if not numbers or (question and set(numbers) <= set(numbers_in(question))):
        return "none"
    return "wrong"


def numbers_in(text: str) -> list[Decimal]:
    """Return the numbers written in digits, then those written with two or more Chinese numerals."""
    chinese = [Decimal(value) for value, run in find_chinese_numbers(text) if len(run) > 1]
    return find_numbers(text) + chinese


def _equal(a: Decimal, b: Decimal) -> bool:
    return abs(a - b) <= Decimal("1e-9") * max(abs(a), abs(b))


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


MAX_PIECE = 60
"""Maximum number of characters of a piece of text whose repetition can count as a loop."""
MIN_COPIES = 5
"""Minimum number of adjacent copies of a piece of text that can count as a loop."""
_LOOP = re.compile(rf"(.{{1,{MAX_PIECE}}}?)\1{{{MIN_COPIES - 1},}}")
MIN_LOOP_CHARACTERS = 24
"""Minimum number of characters that a repetition must cover to count as a loop; a shorter repetition may be
laughter (哈哈哈)."""
MIN_LOOP_SHARE = 0.5
"""Minimum share of a text that a repeated piece must cover to count as a loop."""
MAX_CONTROL_SHARE = 0.5
"""A text counts as broken if its share of control characters is above this value."""
_USUAL_SPACES = ("\n", "\r", "\t", "\u3000")
MIN_LOST_SHARE = 0.01
"""Minimum share of replacement characters (U+FFFD) at which a text counts as unreadable. A text with a
smaller share of such characters is only slightly damaged."""


class Corruption(NamedTuple):
    """Description, in English and in Chinese, of what is broken in a text."""

    en: str
    zh: str
    slight: bool = False
    """Whether the damage is slight, so that the rest of the text is readable."""
    unit: str = ""
    """The repeated piece that the description quotes; empty if the description quotes no piece."""

    @property
    def unquoted(self) -> tuple[str, str]:
        """Description in English and Chinese that does not quote the text."""
        return ("stuck in a loop", "陷入循环") if self.unit else (self.en, self.zh)


def find_breakage(text: str) -> Corruption | None:
    """Return what makes a text unusable or damages it; None if nothing is broken."""
    answer = strip_thinking(text)
    if answer is None:
        return Corruption("thinks without end", "思考未结束")
    if not answer.strip():
        return Corruption("empty", "空白")
    if _control_share(answer) > MAX_CONTROL_SHARE:
        return Corruption("mostly control characters", "多为控制字符")
    if not any(unicodedata.category(char)[0] in "LN" for char in answer):
        return Corruption("no letter or digit", "没有任何文字")
    unit = find_loop(answer)
    if unit:
        return Corruption(f"loops on {unit[:12]!r}", f"陷入循环：{unit[:12]}", unit=unit)
    lost = answer.count("\ufffd")
    slight = lost < MIN_LOST_SHARE * len(answer)
    return Corruption(f"{lost} garbled (U+FFFD)", f"{lost} 处乱码（U+FFFD）", slight) if lost else None


def _control_share(text: str) -> float:
    bare = text
    for space in _USUAL_SPACES:
        bare = bare.replace(space, "")
    if bare.isprintable():  # so there is no control character to count
        return 0.0
    controls = sum(
        unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") and char not in "\n\r\t" for char in text
    )
    return controls / len(text)


def find_loop(text: str) -> str:
    """Return the piece (up to 60 characters) that a text repeats over at least half of its length, or ""."""
    bare = "".join(text.split())
    min_length = max(MIN_LOOP_CHARACTERS, MIN_LOOP_SHARE * len(bare))
    if not _has_long_period(bare, min_length):
        return ""
    for match in _LOOP.finditer(bare):
        if match.end() - match.start() >= min_length:
            return match.group(1)
    return ""


def _has_long_period(text: str, min_length: float) -> bool:
    """Return whether a part of the text repeats a piece, and is long enough to be a loop."""
    length = len(text)
    longest = min(MAX_PIECE, length // MIN_COPIES)
    if not longest:
        return False
    for middle in {(length - 1) // 2, length // 2}:
        for start, period in _repeats(text, middle, longest):
            if _run_length(text, start, period) >= max(MIN_COPIES * period, min_length) - period:
                return True
    return False


def _repeats(text: str, middle: int, longest: int) -> Iterator[tuple[int, int]]:
    """Yield (start, period) for pairs of equal characters: at ``start``, and ``period`` characters later."""
    char = text[middle : middle + 1]
    index = text.find(char, middle + 1, middle + longest + 1)
    while index > 0:
        yield middle, index - middle
        index = text.find(char, index + 1, middle + longest + 1)
    index = text.rfind(char, max(middle - longest, 0), middle)
    while index >= 0:
        yield index, middle - index
        index = text.rfind(char, max(middle - longest, 0), index)


def _run_length(text: str, start: int, period: int) -> int:
    """Return how many adjacent characters around ``start`` occur again ``period`` characters later."""
    if start < 0 or start + period >= len(text) or text[start] != text[start + period]:
        return 0
    first, end = start, start + 1
    while first > 0 and text[first - 1] == text[first - 1 + period]:
        first -= 1
    while end + period < len(text) and text[end] == text[end + period]:
        end += 1
    return end - first


def repeated_share(text: str) -> tuple[float, int]:
    """Return the share of lines that repeat an earlier line, and the number of lines."""
    from hengwen.objective.duplicates.similarity import normalize_text  # numpy, which judges do without

    raw_lines = [line for line in text.splitlines() if not is_section_tag(line)]
    normalized = {line: normalize_text(line) for line in set(raw_lines)}
    lines = [normalized[line] for line in raw_lines if normalized[line]]
    return (1 - len(set(lines)) / len(lines), len(lines)) if lines else (0.0, 0)
