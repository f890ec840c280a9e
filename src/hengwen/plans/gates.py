"""The grammar of gates: conditions on the scores of a run, such as ``lyrics/lyric.total >= 75``.

::

    GATE       := TERM ("and" TERM)*
    TERM       := ADDRESS OP NUMBER
                | coverage(ADDRESS) OP NUMBER
                | calibration(ADDRESS) OP NUMBER
                | noninferior(ADDRESS, BASELINE, MARGIN)
                | no_drop(PATTERN[, BASELINE])
    OP         := >= | > | <= | <
    ADDRESS    := TASK/SCORE
    PATTERN    := an address in which * stands for any text
    BASELINE   := baseline | a run | a checkpoint | git:REF

This module only parses. ``monitoring/gates`` evaluates gates on the runs of a store.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from pydantic import field_validator, model_validator

from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.strict_yaml import StrictModel
from hengwen.score_id import split_address

Tier = Literal["fail", "warn"]
"""``fail``: the gate decides the exit code. ``warn``: the result of the gate is only printed."""
Operator = Literal[">=", ">", "<=", "<"]
Measure = Literal["score", "coverage", "calibration"]
DEFAULT_BASELINE = "baseline"
"""In a gate, the run of ``--baseline``, or else the one that ``hengwen runs pin`` selected."""
MEASURES = ("coverage", "calibration")
FUNCTIONS = (*MEASURES, "noninferior", "no_drop")
_TOKEN = re.compile(r"\s*(?:(>=|<=|>|<|=+|[(),])|([^\s(),<>=]+))")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WIDE = dict(zip("（），＞＜＝≥≤／", ("(", ")", ",", ">", "<", "=", ">=", "<=", "/"), strict=True))
"""Symbols of the grammar, by the character that Chinese input methods type for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdTerm:
    """Limit of a score, of its coverage, or of its judge's agreement with people: ``ADDRESS OP NUMBER``."""

    text: str
    column: int
    """Position of the address in the text of the gate, from 1; for error messages."""
    measure: Measure
    address: str
    operator: Operator
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NonInferiorTerm:
    """``noninferior(ADDRESS, BASELINE, MARGIN)``: the score is at most MARGIN worse than in the baseline."""

    text: str
    column: int
    address: str
    baseline: str
    margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDropTerm:
    """``no_drop(PATTERN[, BASELINE])``: no score is significantly worse than in the baseline."""

    text: str
    column: int
    pattern: str
    baseline: str = DEFAULT_BASELINE


Term = ThresholdTerm | NonInferiorTerm | NoDropTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A parsed gate; it passes if all its conditions (terms) hold."""

    expression: str
    terms: tuple[Term, ...]
    tier: Tier = "fail"


class GateSpec(StrictModel):
    """A gate of a plan: ``"lyrics/lyric.total >= 75"`` or ``{gate: "...", tier: warn}`` in YAML."""

    gate: str
    """Condition, see ``plans/gates.py``."""
    tier: Tier = "fail"

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"gate": data} if isinstance(data, str) else data

    @field_validator("gate")
    @classmethod
    def _can_be_parsed(cls, gate: str) -> str:
        parse_gate(gate)
        return gate

    @property
    def parsed(self) -> Gate:
        """The parsed gate."""
        return parse_gate(self.gate, self.tier)


def parse_gate(expression: str, tier: Tier = "fail") -> Gate:
    """Parse a gate."""
    parser = _Parser(expression)
    terms = [parser.term()]
    while not parser.at_end:
        parser.expect("and", "'and' or the end of the gate")
        terms.append(parser.term())
    return Gate(expression=" ".join(expression.split()), terms=tuple(terms), tier=tier)


def check_addresses(gate: Gate, known: Collection[str], owner: str) -> None:
    """Check that a gate names only known scores."""
    for term in gate.terms:
        if isinstance(term, NoDropTerm):
            if not matching(term.pattern, known):
                hint = did_you_mean(term.pattern, known)
                _fail(gate.expression, term.column, f"no score of {owner} matches {term.pattern!r}{hint}")
        elif term.address not in known:
            hint = did_you_mean(term.address, known)
            _fail(gate.expression, term.column, f"{owner} has no score {term.address!r}{hint}")


def matching(pattern: str, addresses: Collection[str]) -> list[str]:
    """The score addresses (``TASK/SCORE``) that match a pattern such as ``lyrics/*``, in given order."""
    return [address for address in addresses if fnmatchcase(address, pattern)]


class _Token(NamedTuple):
    text: str
    column: int


class _Parser:
    """A recursive-descent parser of one gate."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = list(self._split(expression))
        self._index = 0

    @property
    def at_end(self) -> bool:
        """Whether all tokens are read."""
        return self._index == len(self._tokens)

    def term(self) -> Term:
        """Read one condition (term) of a gate."""
        first = self._next("a score (TASK/SCORE) or a function")
        if not self.at_end and self._tokens[self._index].text == "(":
            return self._function(first)
        if first.text in FUNCTIONS:
            self._fail(first, f"{first.text!r} is a function: write {first.text}(...)")
        return self._threshold(first, self._address(first), "score")

    def expect(self, text: str, description: str) -> None:
        """Read a token with the given text."""
        token = self._next(description)
        if token.text == text:
            return
        if text == "and" and token.text.lower() in ("and", "or", "&&", "||"):
            self._fail(token, "terms are joined by 'and'; alternatives are not possible")
        self._fail(token, f"expected {description}, got {token.text!r}")

    def _function(self, name: _Token) -> Term:
        if name.text not in FUNCTIONS:
            self._fail(name, f"unknown function {name.text!r}{did_you_mean(name.text, FUNCTIONS)}")
        self.expect("(", "'('")
        argument = self._next("a score (TASK/SCORE)")
        if name.text == "no_drop":
            pattern, baseline = self._pattern(argument), DEFAULT_BASELINE
            if self._peek() == ",":
                self.expect(",", "','")
                baseline = self._word("a baseline: a run, a checkpoint or git:REF")
            self.expect(")", "',' or ')'" if baseline == DEFAULT_BASELINE else "')'")
            return NoDropTerm(
                text=self._text_from(name), column=argument.column, pattern=pattern, baseline=baseline
            )
        address = self._address(argument)
        if name.text == "noninferior":
            self.expect(",", "',' and a baseline")
            baseline = self._word("a baseline: a run, a checkpoint or git:REF")
            self.expect(",", "',' and a margin")
            margin_token, margin = self._number("a margin, in units of the score")
            if margin <= 0:
                self._fail(margin_token, f"the margin must be above 0, got {margin_token.text}")
            self.expect(")", "')'")
            text = self._text_from(name)
            return NonInferiorTerm(
                text=text, column=argument.column, address=address, baseline=baseline, margin=margin
            )
        self.expect(")", "')'")
        return self._threshold(name, address, "coverage" if name.text == "coverage" else "calibration")

    def _threshold(self, start: _Token, address: str, measure: Measure) -> ThresholdTerm:
        token = self._next("one of >= > <= <")
        if token.text not in get_args(Operator):
            self._fail(token, f"expected one of >= > <= <, got {token.text!r}")
        operator: Operator = next(item for item in get_args(Operator) if item == token.text)
        number_token, threshold = self._number("a number")
        if measure == "coverage" and not 0 <= threshold <= 1:
            self._fail(number_token, f"a coverage lies in 0..1, got {number_token.text}")
        if measure == "calibration" and not -1 <= threshold <= 1:
            self._fail(number_token, f"an agreement (kappa) lies in -1..1, got {number_token.text}")
        column = start.column if measure == "score" else start.column + len(measure) + 1
        return ThresholdTerm(
            text=self._text_from(start),
            column=column,
            measure=measure,
            address=address,
            operator=operator,
            threshold=threshold,
        )

    def _address(self, token: _Token) -> str:
        if "*" in token.text:
            self._fail(
                token,
                f"expected one score, got the pattern {token.text!r}; patterns are for no_drop",
            )
        if not all(split_address(token.text)):
            self._fail(token, f"expected a score (TASK/SCORE), got {token.text!r}")
        return token.text

    def _pattern(self, token: _Token) -> str:
        if "*" not in token.text:
            return self._address(token)
        if any(char in token.text for char in "[]?"):
            self._fail(token, f"a pattern has no other wildcard than *, got {token.text!r}")
        return token.text

    def _number(self, description: str) -> tuple[_Token, float]:
        token = self._next(description)
        if not _NUMBER.fullmatch(token.text) or not isfinite(float(token.text)):
            share = token.text.removesuffix("%")
            is_share = share != token.text and _NUMBER.fullmatch(share)
            hint = f"; write {float(share) / 100:g}" if is_share else ""
            self._fail(token, f"expected {description}, got {token.text!r}{hint}")
        return token, float(token.text)

    def _word(self, description: str) -> str:
        token = self._next(description)
        if token.text in "(),<=>=":
            self._fail(token, f"expected {description}, got {token.text!r}")
        return token.text

    def _next(self, description: str) -> _Token:
        if self.at_end:
            _fail(self._expression, len(self._expression.rstrip()) + 1, f"expected {description}")
        token = self._tokens[self._index]
        self._index += 1
        return token

    def _peek(self) -> str:
        return "" if self.at_end else self._tokens[self._index].text

    def _text_from(self, start: _Token) -> str:
        """Return the text from a token to the last token that was read, with single spaces."""
        last = self._tokens[self._index - 1]
        text = self._expression[start.column - 1 : last.column - 1 + len(last.text)]
        return " ".join(text.split())

    def _split(self, expression: str) -> list[_Token]:
        for index, char in enumerate(expression):
            if char in _WIDE:
                _fail(expression, index + 1, f"write {_WIDE[char]!r} instead of {char!r}")
        matches = _TOKEN.finditer(expression.rstrip())
        return [_Token(match[1] or match[2], match.start(match.lastindex or 0) + 1) for match in matches]

    def _fail(self, token: _Token, message: str) -> NoReturn:
        _fail(self._expression, token.column, message)


def _fail(expression: str, column: int, message: str) -> NoReturn:
    raise ConfigError(f"column {column} of {expression!r}: {message}")
