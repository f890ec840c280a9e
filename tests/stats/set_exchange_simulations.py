"""Answers of two sets to the same prompts: how often the exchange of prompts rejects, and coverage.

The slow tests assert these figures, and ``benchmarks/bench_monitoring.py`` prints them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hengwen.stats.exchange import distinct_share, jackknife_interval, set_exchange_test

VOCABULARY = 4000
TOPIC = 400
"""Number of words that a prompt favours."""
LEVEL = 0.05


def draw_answers(
    rng: np.random.Generator,
    words: NDArray[np.intp],
    collapse: float = 0.0,
    breadths: NDArray[np.intp] | None = None,
) -> list[NDArray[np.intp]]:
    """Return the words of the answer to each prompt.

    Words follow a power law; half come from the topic of the prompt, which is up to four times as narrow as
    that of another. A share ``collapse`` comes from 20 words that all prompts share.
    """
    answers = []
    narrow = 1 + np.arange(len(words)) % 4 if breadths is None else breadths
    for prompt, size in enumerate(words.tolist()):
        common = rng.zipf(1.3, size).clip(max=VOCABULARY) - 1
        breadth = TOPIC // int(narrow[prompt])
        topic = VOCABULARY + prompt * TOPIC + rng.integers(0, breadth, size)
        chosen = np.where(rng.random(size) < 0.5, topic, common)
        answers.append(np.where(rng.random(size) < collapse, rng.integers(0, 20, size), chosen))
    return answers


def counts_of(answers: list[NDArray[np.intp]]) -> sparse.csr_array:
    """Return the counts of words, of shape (prompts, words)."""
    rows = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
    shape = len(answers), VOCABULARY + TOPIC * len(answers)
    ones = np.ones(len(rows), dtype=np.float32)
    return sparse.coo_array((ones, (rows, np.concatenate(answers))), shape=shape).tocsr()


def rejections(
    prompts: int, samples: int, *, longer: float = 1.0, collapse: float = 0.0, cut: bool = True
) -> float:
    """Return how often two sets of answers are said to differ; those of the second are longer."""
    rng, rejected = np.random.default_rng(prompts), 0
    for _ in range(samples):
        sizes = rng.integers(100, 300, prompts)
        first = draw_answers(rng, sizes)
        second = draw_answers(rng, (sizes * longer).astype(np.intp), collapse)
        if cut:
            pairs = [(one[: len(other)], other[: len(one)]) for one, other in zip(first, second, strict=True)]
            first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        test = set_exchange_test(counts_of(first), counts_of(second), distinct_share, draws=299)
        assert test is not None
        rejected += test.p <= LEVEL
    return rejected / samples


def coverage(prompts: int, samples: int) -> float:
    """Return how often the jackknife interval holds the mean of the statistic over sets of this size."""
    rng = np.random.default_rng(prompts)
    values, intervals = [], []
    for _ in range(samples):
        sizes = rng.integers(100, 300, prompts)
        counts = counts_of(draw_answers(rng, sizes, breadths=rng.integers(1, 5, prompts)))
        total = np.asarray(counts.sum(axis=0)).ravel()
        value = float(distinct_share(total[None])[0])
        dense = counts.toarray()
        without = distinct_share(total - dense)
        interval = jackknife_interval(value, without.tolist())
        assert interval is not None
        values.append(value)
        intervals.append(interval)
    truth = float(np.mean(values))
    return float(np.mean([low <= truth <= high for low, high in intervals]))
