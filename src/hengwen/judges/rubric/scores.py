"""Convert verdicts (the labels that a model gave) to values, also by the probabilities of the labels."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import exp, fsum
from typing import TYPE_CHECKING, Any

from hengwen.errors import JudgeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.judges.rubric.model_judge import JudgedReply
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


MODEL_FAILURES = ("parse_error", "off_scale", "truncated", "refused")
"""Statuses of failures that the model causes. A later run would get the same failures, so the score is
computed without the failed tries (requests that gave no verdict)."""


def split_verdicts(
    results: Sequence[JudgedReply | BaseException],
) -> tuple[list[JudgedReply], Counter[str]]:
    """Return the verdicts, and the number of failed tries by failure status."""
    verdicts: list[JudgedReply] = []
    errors: list[JudgeError] = []
    for result in results:
        if not isinstance(result, BaseException):
            verdicts.append(result)
        elif isinstance(result, JudgeError) and result.status in MODEL_FAILURES:
            errors.append(result)
        else:
            raise result
    statuses = Counter(error.status for error in errors)
    if 2 * len(verdicts) > len(results):
        return verdicts, statuses
    (status, _), *_ = statuses.most_common(1)
    typical = next(error for error in errors if error.status == status)
    if len(results) == 1:
        raise typical
    message = f"{len(errors)} of {len(results)} samples gave no verdict: {typical}"
    raise JudgeError(message, status=status, raw=typical.raw) from None


def most_common_label(labels: Sequence[str]) -> tuple[str, float]:
    """Return the most common label and its share; of equally common labels, return the first."""
    if len(labels) == 1:
        return labels[0], 1.0
    (label, count), *_ = Counter(labels).most_common(1)
    return label, count / len(labels)


ValueWithDetails = tuple[float, dict[str, Any]]
"""A value, and details on how it was computed."""


def score_from_reply(judged: JudgedReply, values: Mapping[str, float], part: str) -> ValueWithDetails:
    """Return the value of one verdict."""
    label = judged.parsed.label(part)
    return values[label], judged.details(label)


def score_from_logprobs(
    judged: JudgedReply, values: Mapping[str, float], weights: Mapping[str, Weights], part: str
) -> ValueWithDetails:
    """Return the expected value of the labels under the probabilities that the model gave them."""
    part_weights = weights[part]
    details = {
        "label": judged.parsed.label(part),
        "method": "logprobs",
        "weights": {label: round(weight, 6) for label, weight in part_weights.labels.items()},
        "off_label_mass": round(part_weights.off_label, 6),
    }
    return part_weights.mean(values), {**details, **judged.reply_details}


def score_from_samples(
    verdicts: Sequence[JudgedReply], values: Mapping[str, float], failed: Mapping[str, int], part: str
) -> ValueWithDetails:
    """Return the mean value of several verdicts."""
    first = verdicts[0]
    if len(verdicts) == 1 and not failed:
        value, details = score_from_reply(first, values, part)
        return value, {**details, "method": "single"}
    labels = [verdict.parsed.label(part) for verdict in verdicts]
    details = {
        "labels": labels,
        "method": "samples",
        "self_consistency": round(most_common_label(labels)[1], 6),
        "attempts": [verdict.attempt for verdict in verdicts],
        **({"failed": dict(failed)} if failed else {}),
        "model": first.reply.model,
        **({"form": first.reply.response_format} if first.reply.response_format else {}),
    }
    return fsum(values[label] for label in labels) / len(labels), details
