"""Confidence interval of a number for a whole set of answers: the jackknife over prompts."""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import TYPE_CHECKING, Any

from hengwen.objective.text import mixed_tokens
from hengwen.stats.set_exchange import jackknife_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hengwen.records import Response, Sample

    Items = Sequence[tuple[Sample, Response]]

CONFIDENCE = 0.95
MAX_RESCORED = 10_000
"""Largest number of answers that is scored again for an interval: answers times prompts."""
MAX_ANSWERS = 20_000
"""Largest number of answers whose n-grams are counted prompt by prompt for an interval."""


def interval_details(items: Items, value: float, statistic: Callable[[Items], float]) -> dict[str, Any]:
    """Return the interval of a statistic as details of its score; empty if there is none."""
    # The statistic is computed without each prompt in turn. Prompts are not drawn with replacement, because a
    # prompt that is drawn twice would repeat itself.
    prompts = _by_prompt(items)
    if len(items) * len(prompts) > MAX_RESCORED:
        return {}
    try:
        without = [statistic([item for item in items if item[0].cluster != name]) for name in prompts]
    except ValueError:  # without a prompt, too little is left
        return {}
    return _details(value, without)


def ngram_details(items: Items, value: float, n: int, statistic: str) -> dict[str, Any]:
    """Return the interval of ``distinct_n`` or of ``ngram_entropy`` as details of its score."""
    if len(items) > MAX_ANSWERS:
        return {}
    by_prompt = [_count(texts, n) for texts in _by_prompt(items).values()]
    counts: Counter[tuple[str, ...]] = Counter()
    for of_prompt in by_prompt:
        counts.update(of_prompt)
    leave_out = _distinct_without if statistic == "distinct_n" else _entropy_without
    try:
        return _details(value, [leave_out(counts, of_prompt) for of_prompt in by_prompt])
    except (ValueError, ZeroDivisionError):
        return {}


def _details(value: float, without: Sequence[float]) -> dict[str, Any]:
    interval = jackknife_interval(value, without, CONFIDENCE)
    return {} if interval is None else {"ci": list(interval), "level": CONFIDENCE}


def _by_prompt(items: Items) -> dict[str, list[str]]:
    prompts: dict[str, list[str]] = {}
    for sample, response in items:
        prompts.setdefault(sample.cluster, []).append(response.text)
    return prompts


def _count(texts: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        tokens = mixed_tokens(text)
        counts.update(zip(*(tokens[start:] for start in range(n)), strict=False))
    return counts


def _distinct_without(counts: Counter[tuple[str, ...]], prompt: Counter[tuple[str, ...]]) -> float:
    only_here = sum(counts[gram] == number for gram, number in prompt.items())
    return (len(counts) - only_here) / (counts.total() - prompt.total())


def _entropy_without(counts: Counter[tuple[str, ...]], prompt: Counter[tuple[str, ...]]) -> float:
    rest = counts - prompt
    total = rest.total()
    return (log2(total) - sum(count * log2(count) for count in rest.values()) / total) / log2(total)
