"""How a model weighed the labels of a verdict, read from the log-probabilities of its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.judges.rubric.verdict import ParsedVerdict

TOP_LOGPROBS = 20
"""Alternatives asked for at each token; the most that common endpoints give."""

Token = tuple[bytes, float, tuple[tuple[bytes, float], ...]]
"""(bytes, log-probability, alternatives), as in ``Reply.logprobs``."""

_THOUGHT_END = re.compile(rb"</think(?:ing)?>", re.IGNORECASE)
_CRITERIA = re.compile(rb'"criteria"\s*:\s*\{')


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Probabilities of the labels at one place of a verdict."""

    labels: Mapping[str, float]
    """Sums to 1; only labels that the endpoint listed, in the order of the rubric."""
    off_label: float
    """The probability that was on no label, or on none that was listed."""

    def mean(self, values: Mapping[str, float]) -> float:
        """Return the expected value.

        Examples:
            >>> Weights(labels={"A": 0.75, "B": 0.25}, off_label=0.0).mean({"A": 1, "B": 0})
            0.75
        """
        return fsum(weight * values[label] for label, weight in self.labels.items())


def verdict_weights(
    tokens: Sequence[Token], parsed: ParsedVerdict, labels: Sequence[str]
) -> dict[str, Weights] | None:
    """Return the weights of the level and of each criterion; None where one cannot be told.

    Args:
        tokens: Of the whole reply.
        parsed: The verdict in it.
        labels: All that the rubric has.

    Returns:
        By ``level`` and by criterion.
    """
    body = b"".join(token[0] for token in tokens)
    *_, thought = (None, *_THOUGHT_END.finditer(body))
    start = body.find(b"{", thought.end() if thought else 0)
    found: dict[str, Weights] = {}
    for name, label in (*parsed.criteria.items(), ("level", parsed.level)):
        place = _place(body, start, name, label)
        weights = None if place is None else label_weights(tokens, place, labels)
        if weights is None:
            return None
        found[name] = weights
    return found


def _place(body: bytes, start: int, name: str, label: str) -> int | None:
    """Return where a label stands: a key that is quoted without escapes stands in a JSON object only once."""
    if start < 0:
        return None
    if name != "level":
        criteria = _CRITERIA.search(body, start)
        if criteria is None:
            return None
        start = criteria.end()
    key = re.compile(b'"' + re.escape(name.encode()) + rb'"\s*:\s*"\s*').search(body, start)
    if key is None or body[key.end() :][: len(label.encode())].decode("utf-8", "replace").casefold() != (
        label.casefold()
    ):
        return None
    return key.end()


def label_weights(tokens: Sequence[Token], place: int, labels: Sequence[str]) -> Weights | None:
    """Return the weights of the labels at a place of a reply.

    A label may be several tokens: the path that the model took is followed until only one label fits. What is
    beside the path, and could still become several labels, is on no label.

    Args:
        tokens: Of the whole reply.
        place: Bytes before the label.
        labels: All that may stand there; upper and lower case are the same.

    Returns:
        None where the tokens end before a label does, or no weight is on any.

    Examples:
        >>> half = -0.6931471805599453
        >>> said = [(b'{"level": "', 0.0, ()), (b"B", half, ((b"B", half), (b"A", half)))]
        >>> label_weights(said, 11, ["C", "B", "A"]).labels
        {'B': 0.5, 'A': 0.5}
    """
    names = {label.casefold().encode(): label for label in labels}
    mass = dict.fromkeys(labels, 0.0)
    path, chance = b"", 1.0
    offset = 0
    for token, logprob, alternatives in tokens:
        begin, offset = offset, offset + len(token)
        if offset <= place:
            continue
        lead = token[: max(0, place - begin)]
        chosen: set[str] = set()
        for text, share in {
            text: exp(min(0.0, value)) for text, value in _all(token, logprob, alternatives)
        }.items():
            fitting = _fitting(path, text, lead, names)
            if text == token:
                chosen, taken = fitting, share
            if len(fitting) == 1:
                (label,) = fitting
                mass[label] += chance * share
        if len(chosen) == 1:
            return _normalized(mass)
        if not chosen:
            return None
        path, chance = path + token[len(lead) :], chance * taken
    return None


def _all(
    token: bytes, logprob: float, alternatives: Iterable[tuple[bytes, float]]
) -> Iterable[tuple[bytes, float]]:
    """Yield the alternatives and, whether or not it is among them, the token itself."""
    yield from alternatives
    yield token, logprob


def _fitting(path: bytes, text: bytes, lead: bytes, names: Mapping[bytes, str]) -> set[str]:
    """Return the labels that a token fits, behind a path and behind what the token has before the label."""
    if lead:
        if not text.lstrip().startswith(lead.lstrip()):
            return set()
        text = text.lstrip()[len(lead.lstrip()) :]
    said = _fold((path + text).lstrip())
    if not said:
        return set(names.values())
    name, quote, _ = said.partition(b'"')
    if quote:
        return {label for known, label in names.items() if known == name.rstrip()}
    return {label for known, label in names.items() if known.startswith(said.rstrip())}


def _fold(text: bytes) -> bytes:
    """Fold the case where the bytes are text so far; a character may be cut in two."""
    try:
        return text.decode().casefold().encode()
    except UnicodeDecodeError:
        return text


def _normalized(mass: Mapping[str, float]) -> Weights | None:
    total = fsum(mass.values())
    if not total > 0:
        return None
    return Weights(
        labels={label: share / total for label, share in mass.items() if share > 0},
        off_label=max(0.0, 1.0 - total),
    )
