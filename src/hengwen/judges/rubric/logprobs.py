"""Compute the probability that a model gave each label, from the log-probabilities of tokens in its reply."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.judges.rubric.verdict import ParsedVerdict

TOP_LOGPROBS = 20
"""Number of alternatives that are requested for each token; common endpoints allow no more than this."""

Token = tuple[bytes, float, tuple[tuple[bytes, float], ...]]
"""(bytes, log-probability, alternatives) of a token; the type of ``Reply.logprobs`` items."""

_THOUGHT_END = re.compile(rb"</think(?:ing)?>", re.IGNORECASE)
_CRITERIA = re.compile(rb'"criteria"\s*:\s*\{')


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Probabilities of the labels for one part of a verdict: the overall level or a criterion."""

    labels: Mapping[str, float]
    """Probabilities of the labels that the endpoint listed, in the order of the rubric, scaled to sum to
    1."""
    off_label: float
    """Probability that the model writes something that is not a label of the rubric."""

    def mean(self, values: Mapping[str, float]) -> float:
        """The expected value: the mean of the labels' values, weighted by the labels' probabilities."""
        return fsum(weight * values[label] for label, weight in self.labels.items())


def verdict_weights(
    tokens: Sequence[Token], parsed: ParsedVerdict, labels: Sequence[str]
) -> dict[str, Weights] | None:
    """Return label probabilities for the level and each criterion; None if any of them is unknown."""
    body = b"".join(token[0] for token in tokens)
    *_, thought = (None, *_THOUGHT_END.finditer(body))
    start = body.find(b"{", thought.end() if thought else 0)
    weights_by_part: dict[str, Weights] = {}
    for part, label in (*parsed.criteria.items(), ("level", parsed.level)):
        offset = _label_offset(body, start, part, label)
        weights = None if offset is None else label_weights(tokens, offset, labels)
        if weights is None:
            return None
        weights_by_part[part] = weights
    return weights_by_part


def _label_offset(body: bytes, start: int, part: str, label: str) -> int | None:
    """Return the byte offset of a label in the reply, found by its JSON key, which occurs only once."""
    if start < 0:
        return None
    if part != "level":
        criteria = _CRITERIA.search(body, start)
        if criteria is None:
            return None
        start = criteria.end()
    key = re.compile(b'"' + re.escape(part.encode()) + rb'"\s*:\s*"\s*').search(body, start)
    if key is None or body[key.end() :][: len(label.encode())].decode("utf-8", "replace").casefold() != (
        label.casefold()
    ):
        return None
    return key.end()


def label_weights(tokens: Sequence[Token], offset: int, labels: Sequence[str]) -> Weights | None:
    """Return the probabilities of the labels at an offset of a reply."""
    names = {label.casefold().encode(): label for label in labels}
    mass = dict.fromkeys(labels, 0.0)
    prefix, prefix_probability = b"", 1.0
    end = 0
    for token, logprob, alternatives in tokens:
        begin, end = end, end + len(token)
        if end <= offset:
            continue
        lead = token[: max(0, offset - begin)]
        chosen: set[str] = set()
        probabilities = {
            text: exp(min(0.0, value)) for text, value in _with_token(token, logprob, alternatives)
        }
        for text, probability in probabilities.items():
            fitting = _fitting(prefix, text, lead, names)
            if text == token:
                chosen, chosen_probability = fitting, probability
            if len(fitting) == 1:
                (label,) = fitting
                mass[label] += prefix_probability * probability
        if len(chosen) == 1:
            return _normalized(mass)
        if not chosen:
            return None
        prefix += token[len(lead) :]
        prefix_probability *= chosen_probability
    return None


def _with_token(
    token: bytes, logprob: float, alternatives: Iterable[tuple[bytes, float]]
) -> Iterable[tuple[bytes, float]]:
    """Yield the alternatives of a token, then the token itself, even if it is among the alternatives."""
    yield from alternatives
    yield token, logprob


def _fitting(prefix: bytes, text: bytes, lead: bytes, names: Mapping[bytes, str]) -> set[str]:
    """Return the labels that can begin with a prefix followed by a token."""
    if lead:
        if not text.lstrip().startswith(lead.lstrip()):
            return set()
        text = text.lstrip()[len(lead.lstrip()) :]
    folded = _fold((prefix + text).lstrip())
    if not folded:
        return set(names.values())
    name, quote, _ = folded.partition(b'"')
    if quote:
        return {label for known, label in names.items() if known == name.rstrip()}
    return {label for known, label in names.items() if known.startswith(folded.rstrip())}


def _fold(text: bytes) -> bytes:
    """Convert valid UTF-8 to lower case; return other bytes, such as half a character, unchanged."""
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
