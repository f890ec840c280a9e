"""``compare_sets``: test scores of whole sets of answers, such as diversity, between checkpoints."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from hengwen.objective.diversity.metrics import TokenChunk, first_rows
from hengwen.objective.text import mixed_tokens
from hengwen.records import Response, Run, Sample
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.score_id import ScoreId
from hengwen.stats.exchange import (
    SetStatistic,
    distinct_share,
    jackknife_interval,
    normalised_entropy,
    set_exchange_test,
)
from hengwen.stats.paired import holm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Items = Sequence[tuple[Sample, Response]]


ALPHA = 0.05
MAX_ALL_PAIRS = 8
"""Largest number of checkpoints of which all pairs are tested; of more, the newest is tested against the
first, against the one before, and against the best seen before it."""
MAX_PROMPTS = 100
"""Largest number of prompts (clusters) whose answers are exchanged; of more prompts, 100 are drawn."""
MAX_DRAWS = 9999
"""Largest number of random exchanges of a pair."""

_NGRAMS = re.compile(r"(distinct_n|ngram_entropy)\|n:(\d+)\|scope:checkpoint\|tok:mixed\|v:\d+")
"""Signatures of the scores whose tokens are counted here as they were for the score."""
_STATISTICS: Mapping[str, SetStatistic] = {"distinct_n": distinct_share, "ngram_entropy": normalised_entropy}
Texts = dict[tuple[str, int], "Ints"]
"""Codes of the tokens, or of the n-grams, of each answer, by sample id and repeat."""


def compare_sets(
    responses: Callable[[Run], Iterable[Response]],
    runs: Sequence[Run],
    table: ScoreTable,
    *,
    used: Collection[str] = (),
) -> tuple[GroupComparison, ...]:
    """Compare the scores of whole sets of answers between runs.

    The scores are shares of distinct n-grams and entropies of n-grams. All pairs of up to 8 runs are tested;
    of more runs, the newest against the first, the one before, and the best seen before it.

    Args:
        responses: Function that returns the answers of a run.
        runs: The runs in training order.
        table: Scores of the runs.
        used: Addresses of the only scores to compare; default: all.
    """
    scores = {
        score: settings for score, settings in _testable(runs, table) if not used or score.address in used
    }
    pairs = {score: _pairs(runs, score, table) for score in scores}
    tests = sum(map(len, pairs.values()))
    if not tests:
        return ()
    draws = min(MAX_DRAWS, max(1999, round(5 * tests / ALPHA)))
    compared: list[GroupComparison] = []
    for task in sorted({score.task for score in scores}):
        of_task = [score for score in scores if score.task == task]
        clusters = _clusters(task, table)
        tested = sorted({index for score in of_task for pair in pairs[score] for index in pair}, reverse=True)
        texts = _texts(responses, {index: runs[index] for index in tested}, task, clusters)
        for score in of_task:
            name, n = scores[score]
            grams = _grams(texts, n)
            for earlier, later in pairs[score]:
                counts = _counts(grams[earlier], grams[later], clusters)
                test = counts and set_exchange_test(*counts, _STATISTICS[name], draws=draws)
                if test:
                    compared.append(
                        GroupComparison(
                            address=score.address,
                            earlier=earlier,
                            later=later,
                            values=(_value(runs[earlier], score, table), _value(runs[later], score, table)),
                            scale=table.series[SeriesKey(runs[later].id, score, "scorer")].scale,
                            test=test,
                        )
                    )
    adjusted = holm({str(i): item.test.p for i, item in enumerate(compared)})
    return tuple(replace(item, p_adjusted=adjusted[str(i)]) for i, item in enumerate(compared))


def _testable(runs: Sequence[Run], table: ScoreTable) -> Iterator[tuple[ScoreId, tuple[str, int]]]:
    """Yield the scores of whole sets that can be tested, with the statistic and the length of its n-grams."""
    known = {run.id for run in runs}
    signatures: dict[ScoreId, set[str]] = {}
    for key, column in table.series.items():
        if key.run_id in known and key.kind == "scorer":
            signatures.setdefault(key.score, set()).update(column.signatures)
    for score, of_score in signatures.items():
        match = _NGRAMS.fullmatch(next(iter(of_score))) if len(of_score) == 1 else None
        if match is not None:
            yield score, (match[1], int(match[2]))


def _pairs(runs: Sequence[Run], score: ScoreId, table: ScoreTable) -> list[tuple[int, int]]:
    """Return the pairs of runs to test by a score."""
    values = [_value(run, score, table) for run in runs]
    last = len(runs) - 1
    pairs = set(combinations(range(len(runs)), 2))
    if len(runs) > MAX_ALL_PAIRS:
        known = [index for index in range(last) if values[index] is not None]
        best = max(known, key=lambda index: (values[index], index), default=0)
        pairs = {(0, last), (last - 1, last), (best, last)}
    return sorted(
        (earlier, later)
        for earlier, later in pairs
        if values[earlier] is not None
        and values[later] is not None
        and _same_prompts(runs[earlier], runs[later], score.task)
    )


def _value(run: Run, score: ScoreId, table: ScoreTable) -> float | None:
    column = table.series.get(SeriesKey(run.id, score, "scorer"))
    return column.values[0] if column is not None and len(column) == 1 else None


def _same_prompts(first: Run, second: Run, task: str) -> bool:
    """Return whether two runs have the same prompts of a task, as far as that is known."""
    hashes = []
    for run in (first, second):
        facts: Mapping[str, Any] = run.facts
        hashes.append(facts.get("tasks", {}).get(task, {}).get("samples"))
    return None in hashes or hashes[0] == hashes[1]


def _texts(
    responses: Callable[[Run], Iterable[Response]],
    runs: Mapping[int, Run],
    task: str,
    clusters: Mapping[str, str],
) -> dict[int, Texts]:
    """Return the tokens of the answers of runs to a task, of the prompts that are drawn in the first run."""
    texts: dict[int, Texts] = {}
    codes: dict[str, int] = {}
    drawn: set[str] | None = None
    for index, run in runs.items():
        answers = {
            (item.sample_id, item.repeat): item.text
            for item in responses(run)
            if item.task == task
            if drawn is None or clusters.get(item.sample_id, item.sample_id) in drawn
        }
        if drawn is None:
            names = {clusters.get(sample, sample) for sample, _ in answers}
            drawn = set(sorted(names, key=lambda name: (crc32(name.encode()), name))[:MAX_PROMPTS])
        texts[index] = {
            key: np.array([codes.setdefault(token, len(codes)) for token in mixed_tokens(text)], np.int64)
            for key, text in answers.items()
            if clusters.get(key[0], key[0]) in drawn
        }
    return texts


def _clusters(task: str, table: ScoreTable) -> dict[str, str]:
    """Return the cluster of each prompt, where it is not the prompt itself."""
    clusters: dict[str, str] = {}
    for key, column in table.series.items():
        if key.task == task and key.score.is_of_run and column.clusters != column.sample_ids:
            pairs = zip(column.sample_ids, column.clusters, strict=True)
            clusters |= {sample: cluster for sample, cluster in pairs if sample is not None}
    return clusters


def _grams(texts: Mapping[int, Texts], n: int) -> dict[int, Texts]:
    """Return the codes of the n-grams of each answer, the same codes in all runs."""
    windows = {
        (index, key): np.lib.stride_tricks.sliding_window_view(tokens, n)
        for index, answers in texts.items()
        for key, tokens in answers.items()
        if len(tokens) >= n
    }
    grams = {index: dict.fromkeys(answers, np.empty(0, np.int64)) for index, answers in texts.items()}
    if not windows:
        return grams
    codes, *others = np.concatenate([*windows.values()]).T
    for tokens in others:  # faster than sorting rows
        codes = np.unique(codes * (tokens.max() + 1) + tokens, return_inverse=True)[1]
    ends = np.cumsum([len(window) for window in windows.values()])
    for (index, key), of_answer in zip(windows, np.split(codes, ends[:-1]), strict=True):
        grams[index][key] = of_answer
    return grams


def _counts(first: Texts, second: Texts, clusters: Mapping[str, str]) -> tuple[Any, Any] | None:
    """Return the n-grams of two runs by prompt, of answers that both have, cut to equal numbers of tokens."""
    from scipy import sparse

    prompts: dict[str, int] = {}
    rows: list[int] = []
    sides: tuple[list[Ints], list[Ints]] = ([], [])
    for key in sorted(first.keys() & second.keys()):
        size = min(len(first[key]), len(second[key]))
        rows += [prompts.setdefault(clusters.get(key[0], key[0]), len(prompts))] * size
        for side, codes in zip(sides, (first[key], second[key]), strict=True):
            side.append(codes[:size])
    if not rows:
        return None
    codes = np.concatenate([*sides[0], *sides[1]])
    columns = (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    ones, shape = np.ones(len(rows), dtype=np.float32), (len(prompts), int(columns.max()) + 1)
    halves = np.split(columns, 2)
    before, after = (sparse.coo_array((ones, (rows, half)), shape=shape).tocsr() for half in halves)
    return before, after


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
