"""Confidence interval of a number for a whole set of answers: the jackknife over prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.objective.diversity.packed_ngrams import TokenChunk, first_rows
from hengwen.objective.text import mixed_tokens
from hengwen.stats.exchange import jackknife_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

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
    prompts = dict.fromkeys(sample.cluster for sample, _ in items)
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
    prompts, grams = _ngrams(items, n)
    totals, size = np.bincount(grams), len({sample.cluster for sample, _ in items})
    rest = len(grams) - np.bincount(prompts, minlength=size)  # n-grams left without each prompt
    if rest.min() < (1 if statistic == "distinct_n" else 2):
        return {}
    pairs, counts = np.unique(prompts * len(totals) + grams, return_counts=True)
    prompt, gram = np.divmod(pairs, len(totals))

    def by_prompt(weights: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(prompt, weights, minlength=size)

    left = totals[gram] - counts
    if statistic == "distinct_n":
        without = (len(totals) - by_prompt(left == 0)) / rest
    else:
        terms = totals * np.log(totals)
        lost = terms[gram] - left * np.log(np.maximum(left, 1))
        without = 1 - (terms.sum() - by_prompt(lost)) / rest / np.log(rest)
    return _details(value, without.tolist())


def _details(value: float, without: Sequence[float]) -> dict[str, Any]:
    interval = jackknife_interval(value, without, CONFIDENCE)
    return {} if interval is None else {"ci": list(interval), "level": CONFIDENCE}


def _ngrams(items: Items, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the number of the prompt of each n-gram, and its code; no code up to the largest is unused."""
    prompts: dict[str, int] = {}
    chunk = TokenChunk()
    for sample, response in items:
        chunk.add(mixed_tokens(response.text), prompts.setdefault(sample.cluster, len(prompts)))
    ((grams, owners),) = chunk.take([n])
    order = np.lexsort(grams.T)
    starts = first_rows(grams[order])
    codes = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(grams)))
    return owners[order].astype(np.int64), codes
