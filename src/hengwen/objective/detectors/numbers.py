"""Find the numbers in a text, whether written in half-width digits, full-width digits or Chinese numerals."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Literal

from hengwen.objective.text.normal_form import normal_form

NumberVerdict = Literal["right", "wrong", "none", "unclear"]

_WIDE_SEPARATOR = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")
_NUMBER = re.compile(
    r"(?:(?<![A-Za-z0-9_.)\]])[-+−])?(?:(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,]*\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?![A-Za-z0-9_]))?"
)
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万亿]{1,30}")
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}


def find_numbers(text: str) -> list[Decimal]:
    """Return the numbers that a text contains as digits (half-width or full-width), in the order of the text.

    Args:
        text: Any text.

    Examples:
        >>> [str(n) for n in find_numbers("３^7 是 2,187，减6得２，１８１。约 -1.5 度")]
        ['3', '7', '2187', '6', '2181', '-1.5']
    """
    plain = _WIDE_SEPARATOR.sub(",", text).replace("，", " ")
    plain = normal_form(plain)
    return [Decimal(digits.replace(",", "").replace("−", "-")) for digits in _NUMBER.findall(plain)]


def find_chinese_numbers(text: str) -> list[tuple[int, str]]:
    """Return each number that is written in Chinese numerals, together with its characters.

    Args:
        text: Any text.

    Examples:
        >>> find_chinese_numbers("答案是两千一百八十一，也就是二一八一，一起")
        [(2181, '两千一百八十一'), (2181, '二一八一'), (1, '一')]
    """
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
    """Return a value from a sample's metadata as a number; None if it is not a single number.

    Args:
        value: Any value from JSON.

    Examples:
        >>> as_number("2,181"), as_number(0.5), as_number("上海"), as_number(True)
        (Decimal('2181'), Decimal('0.5'), None, None)
    """
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
    """Return whether a text contains the right number, in digits or in Chinese numerals.

    Args:
        text: An answer.
        expected: The right number.
        question: Text that the answer responds to. If all numbers of the answer occur in this text, the
            result is ``none``, not ``wrong``.

    Returns:
        ``right`` if the answer contains the right number; ``wrong`` if it contains only other numbers;
        ``none`` if it contains no number; ``unclear`` if the right number occurs only as a single Chinese
        numeral, which may also be part of a word.

    Examples:
        >>> [number_verdict(text, Decimal(2181)) for text in ("是两千一百八十一", "2187-6=2180", "不会算")]
        ['right', 'wrong', 'none']
        >>> number_verdict("3 的 7 次方？太难啦", Decimal(2181), question="3^7-6=?")
        'none'
        >>> number_verdict("我们一起走", Decimal(1))
        'unclear'
    """
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
    """Return the numbers written in digits, then those written with two or more Chinese numerals.

    A single Chinese numeral does not count, because it may be part of a word.

    Args:
        text: Any text.

    Examples:
        >>> [str(number) for number in numbers_in("3 加十二，一共十五")]
        ['3', '12', '15']
    """
    chinese = [Decimal(value) for value, run in find_chinese_numbers(text) if len(run) > 1]
    return find_numbers(text) + chinese


def _equal(a: Decimal, b: Decimal) -> bool:
    return abs(a - b) <= Decimal("1e-9") * max(abs(a), abs(b))
