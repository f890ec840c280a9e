"""Compute the probabilities that a model gave each label, from the log-probabilities of its tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.judges.rubric.verdict import ParsedVerdict

TOP_LOGPROBS = 20
"""Number of alternatives requested for each token; common endpoints allow no more."""

Token = tuple[bytes, float, tuple[tuple[bytes, float], ...]]
"""(bytes, log-probability, alternatives), as in ``Reply.logprobs``."""

_THOUGHT_END = re.compile(rb"</think(?:ing)?>", re.IGNORECASE)
_CRITERIA = re.compile(rb'"criteria"\s*:\s*\{')


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Probabilities of the labels of one part of a verdict: the level, or a criterion."""

    labels: Mapping[str, float]
    """Weights of the labels that the endpoint listed, in the order of the rubric; they sum to 1."""
    off_label: float
    """Probability of all text that is not one of these labels."""

    def mean(self, values: Mapping[str, float]) -> float:
        """Return the expected value.

        Args:
            values: Values by label.

        Examples:
            >>> Weights(labels={"A": 0.75, "B": 0.25}, off_label=0.0).mean({"A": 1, "B": 0})
            0.75
        """
        return fsum(weight * values[label] for label, weight in self.labels.items())


def verdict_weights(
    tokens: Sequence[Token], parsed: ParsedVerdict, labels: Sequence[str]
) -> dict[str, Weights] | None:
    """Return the weights of the level and of each criterion; None if any of them is unknown.

    Args:
        tokens: Tokens of the whole reply.
        parsed: Verdict in the reply.
        labels: All labels of the rubric.

    Returns:
        Weights by part: ``level`` or the name of a criterion.
    """
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
    """Return the byte offset of a label; its key, if it has no escapes, occurs once in the JSON object."""
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
    """Return the weights of the labels at an offset of a reply.

    A label may have several tokens. The function follows the tokens that the model chose until only one label
    fits. An alternative that still fits several labels counts as text that is no label (``off_label``).

    Args:
        tokens: Tokens of the whole reply.
        offset: Number of bytes before the label.
        labels: Possible labels, compared without regard to case.

    Returns:
        None if the tokens end before the label does, or no label has any probability.

    Examples:
        >>> half = -0.6931471805599453
        >>> tokens = [(b'{"level": "', 0.0, ()), (b"B", half, ((b"B", half), (b"A", half)))]
        >>> label_weights(tokens, 11, ["C", "B", "A"]).labels
        {'B': 0.5, 'A': 0.5}
    """
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
    """Yield the alternatives, then the token itself, which may not be among them."""
    yield from alternatives
    yield token, logprob


def _fitting(prefix: bytes, text: bytes, lead: bytes, names: Mapping[bytes, str]) -> set[str]:
    """Return the labels that may begin with a prefix and a token.

    Args:
        prefix: Beginning of the label in earlier tokens.
        text: Candidate token.
        lead: Bytes before the label in the token that the model chose; a candidate must begin with them.
        names: Labels by their bytes in lower case.
    """
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
