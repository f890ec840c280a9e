"""``compare_groups``: test scores of whole sets of answers, such as diversity, between checkpoints."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen.objective.text.tokenize import mixed_tokens
from hengwen.results.score_table import SeriesKey
from hengwen.stats.paired import holm
from hengwen.stats.set_exchange import distinct_share, exchange_test, normalised_entropy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hengwen.records import Run, Scale
    from hengwen.results.score_table import ScoreTable
    from hengwen.score_id import ScoreId
    from hengwen.stats.set_exchange import ExchangeTest, Statistic
    from hengwen.store import Store

ALPHA = 0.05
MAX_ALL_PAIRS = 8
"""Largest number of checkpoints of which all pairs are tested; of more, the newest is tested against the
first and against the one before."""
MAX_ANSWERS = 20_000
"""Largest number of answers of a run whose scores of the whole set are tested."""
GroupVerdict = Literal["better", "worse", "no difference seen"]

_NGRAMS = re.compile(r"(distinct_n|ngram_entropy)\|n:(\d+)\|scope:checkpoint\|")
_STATISTICS: Mapping[str, Statistic] = {"distinct_n": distinct_share, "ngram_entropy": normalised_entropy}
Texts = dict[tuple[str, int], list[str]]
"""Tokens of each answer, by sample id and repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison:
    """A score of a whole set of answers, compared between two checkpoints at equal numbers of tokens."""

    address: str
    earlier: int
    """Index of the earlier run."""
    later: int
    values: tuple[float | None, float | None]
    """Stored values of the earlier and the later run."""
    scale: Scale | None
    test: ExchangeTest
    """Test of the answers to common prompts, each cut to the tokens that both runs have."""
    p_adjusted: float = 1.0
    """p-value corrected by Holm's method for all tested pairs of all scores of whole sets."""

    @property
    def verdict(self) -> GroupVerdict:
        """Verdict on the later checkpoint."""
        if self.p_adjusted > ALPHA:
            return "no difference seen"
        higher_is_better = self.scale is None or self.scale.higher_is_better
        return "better" if (self.test.difference > 0) == higher_is_better else "worse"


def compare_groups(
    store: Store, runs: Sequence[Run], table: ScoreTable | None = None, *, used: Collection[str] = ()
) -> tuple[GroupComparison, ...]:
    """Compare the scores of whole sets of answers between runs.

    The scores are shares of distinct n-grams and entropies of n-grams. All pairs of up to 8 runs are tested;
    of more runs, the newest against the first and against the one before.

    Args:
        store: Store with the runs and their answers.
        runs: The runs in training order.
        table: Scores of the runs; by default, the needed ones are read.
        used: Addresses of the only scores to compare; default: all.
    """
    if table is None:
        table = _read(store, runs)
    scores = {} if table is None else dict(_testable(runs, table))
    if used:
        scores = {score: settings for score, settings in scores.items() if score.address in used}
    if table is None or not scores:
        return ()
    last = len(runs) - 1
    pairs = list(combinations(range(len(runs)), 2))
    if len(runs) > MAX_ALL_PAIRS:
        pairs = [(0, last), (last - 1, last)]
    tested = {index for pair in pairs for index in pair}
    texts = {
        task: {index: _texts(store, runs[index], task) for index in sorted(tested)}
        for task in {score.task for score in scores}
    }
    draws = max(1999, round(20 * len(pairs) * len(scores) / ALPHA))
    compared: list[GroupComparison] = []
    for score, (name, n) in scores.items():
        of_task = texts[score.task]
        clusters = _clusters(score.task, table)
        for earlier, later in pairs:
            values = tuple(_value(runs[i], score, table) for i in (earlier, later))
            if None in values or not _same_prompts(runs[earlier], runs[later], score.task):
                continue
            counts = _counts(of_task[earlier], of_task[later], n, clusters)
            test = counts and exchange_test(*counts, _STATISTICS[name], draws=draws)
            if test:
                column = table.series[SeriesKey(runs[later].id, score, "scorer")]
                compared.append(
                    GroupComparison(
                        address=score.address,
                        earlier=earlier,
                        later=later,
                        values=(values[0], values[1]),
                        scale=column.scale,
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
        match = _NGRAMS.match(next(iter(of_score))) if len(of_score) == 1 else None
        if match is not None:
            yield score, (match[1], int(match[2]))


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


def _read(store: Store, runs: Sequence[Run]) -> ScoreTable | None:
    """Return the scores of whole sets, and for each task a score of answers, which has the clusters."""
    newest = [score for score in store.statuses(runs[-1:]) if score.role == "answer"]
    groups = [score for score in newest if score.part == "checkpoint"]
    if not groups:
        return None
    table = store.table(runs, groups)
    tasks = {score.task for score in groups}
    singles = {score.task: score for score in newest if score.task in tasks and score not in groups}
    table.series |= store.table(runs[-1:], list(singles.values())).series if singles else {}
    return table


def _texts(store: Store, run: Run, task: str) -> Texts:
    """Return the tokens of the answers of a run to a task; none if there are too many answers."""
    texts: Texts = {}
    for response in store.responses(run):
        if response.task == task:
            texts[response.sample_id, response.repeat] = list(mixed_tokens(response.text))
            if len(texts) > MAX_ANSWERS:
                return {}
    return texts


def _clusters(task: str, table: ScoreTable) -> dict[str, str]:
    """Return the cluster of each prompt, where it is not the prompt itself."""
    clusters: dict[str, str] = {}
    for key, column in table.series.items():
        if key.task == task and key.score.is_of_run and column.clusters != column.sample_ids:
            pairs = zip(column.sample_ids, column.clusters, strict=True)
            clusters |= {sample: cluster for sample, cluster in pairs if sample is not None}
    return clusters


def _counts(first: Texts, second: Texts, n: int, clusters: Mapping[str, str]) -> tuple[Any, Any] | None:
    """Return the n-grams of two runs by prompt, of answers that both have, cut to equal numbers of tokens."""
    from scipy import sparse

    common = sorted(first.keys() & second.keys())
    prompts: dict[str, int] = {}
    grams: dict[tuple[str, ...], int] = {}
    cells: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for key in common:
        row = prompts.setdefault(clusters.get(key[0], key[0]), len(prompts))
        size = min(len(first[key]), len(second[key]))
        for side, tokens in zip(cells, (first[key][:size], second[key][:size]), strict=True):
            for gram in zip(*(tokens[start:] for start in range(n)), strict=False):
                side.append((row, grams.setdefault(gram, len(grams))))
    if not grams:
        return None
    shape = len(prompts), len(grams)
    matrices = []
    for side in cells:
        rows, columns = np.array(side, dtype=np.intp).T
        ones = np.ones(len(side), dtype=np.float32)
        matrices.append(sparse.coo_array((ones, (rows, columns)), shape=shape).tocsr())
    return matrices[0], matrices[1]
