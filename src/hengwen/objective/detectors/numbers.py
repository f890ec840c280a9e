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
