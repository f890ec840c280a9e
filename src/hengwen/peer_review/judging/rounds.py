"""Choose the matches of a plan, and judge them in rounds."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.method import drawn_questions
from hengwen.peer_review.estimates.pair_models import PairModel
from hengwen.peer_review.verdicts import combine_orders, distinct_verdicts
from hengwen.records import digest
from hengwen.stats.rankings.rank_intervals import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hengwen.peer_review.judging.match_run import MatchRun, ModelPair
    from hengwen.peer_review.judging.stored_answers import Contest

FIRST_OPPONENTS = 2
"""Number of opponents of each model on each question in the first round of an adaptive review."""
RESAMPLES = 100
CONFIDENCE = 0.95


def question_pairs(models: int, opponents: int | None, question: str, seed: int) -> list[ModelPair]:
    """Return the pairs of models that are compared on a question."""
    if opponents is None or opponents >= models - 1:
        return list(combinations(range(models), 2))
    order = np.random.default_rng(int(digest(seed, question)[:16], 16)).permutation(models).tolist()
    # the models stand on a circle in random order; opponents are the nearest models on both sides
    steps = range(1, opponents // 2 + 1)
    pairs = [(order[i], order[(i + step) % models]) for step in steps for i in range(models)]
    if opponents % 2:
        half = models // 2
        pairs += [(order[i], order[i + half]) for i in range(half)]
    return sorted({(min(pair), max(pair)) for pair in pairs})


def uncertain_pairs(
    scores: NDArray[np.float64], resamples: NDArray[np.float64], confidence: float
) -> NDArray[np.float64]:
    """Return for each pair of models the chance that their order is wrong (upper triangle)."""
    scores, resamples = np.round(scores, DECIMALS), np.round(resamples, DECIMALS)
    sign = np.sign(scores[:, None] - scores)
    drawn = np.sign(resamples[:, :, None] - resamples[:, None, :])
    wrong = np.minimum((drawn != sign).mean(axis=0), 0.5)
    wrong[wrong < (1 - confidence) / 2] = 0.0
    wrong[sign == 0] = 0.5  # equal scores have no order
    return np.asarray(np.triu(wrong, 1))


def draw_cells(
    chances: NDArray[np.float64],
    free: Sequence[tuple[int, ModelPair]],
    count: int,
    rng: np.random.Generator,
) -> list[tuple[int, ModelPair]]:
    """Draw matches that were not judged yet; a pair is drawn more often if its order is less sure."""
    weights = np.array([chances[pair] for _, pair in free])
    possible = np.flatnonzero(weights)
    if not len(possible):
        return []
    chosen = rng.choice(
        possible,
        size=min(count, len(possible)),
        replace=False,
        p=weights[possible] / weights[possible].sum(),
    )
    return [free[index] for index in sorted(chosen.tolist())]


async def judge_fixed(run: MatchRun, contest: Contest, opponents: int | None, seed: int) -> None:
    """Judge matches that are all chosen before the first verdict."""
    await run.judge(_cells(contest, opponents, seed))


async def judge_adaptively(run: MatchRun, contest: Contest, matches: int, seed: int) -> bool:
    """Judge matches in rounds until the order of every pair is sure, or the number of matches is reached."""
    rng = np.random.default_rng(seed)
    cells = _cells(contest, FIRST_OPPONENTS, seed)
    if len(cells) > matches:
        cells = [cells[index] for index in sorted(rng.choice(len(cells), matches, replace=False).tolist())]
    judged = set(cells)
    everything = _cells(contest, None, seed)
    await run.judge(cells)
    while True:
        chances = _chances(run, contest)
        if not chances.any():
            return True
        free = [cell for cell in everything if cell not in judged]
        count = min(len(contest.questions), matches - len(judged))
        chosen = draw_cells(chances, free, count, rng) if free and count > 0 else []
        if not chosen:
            return False
        judged.update(chosen)
        await run.judge(chosen)


def _cells(contest: Contest, opponents: int | None, seed: int) -> list[tuple[int, ModelPair]]:
    """Return the question and the pair of models of each match; both models have answered the question."""
    cells = []
    for number, question in enumerate(contest.questions):
        present = sorted(question.answers)
        name = f"{question.name}/{question.repeat}"
        for i, j in question_pairs(len(present), opponents, name, seed):
            cells.append((number, (present[i], present[j])))
    return cells


def _chances(run: MatchRun, contest: Contest) -> np.ndarray:
    """Return for each pair of models the chance that their order is wrong."""
    models = len(contest.models)
    chances = np.triu(np.full((models, models), 0.5), 1)
    if len(run.columns.winner) == 0:
        return chances
    battles = run.columns.battles()
    if len(battles.questions) < 2:  # one question has only one possible resample
        return chances
    matches = combine_orders(distinct_verdicts(battles), "tie")
    model = PairModel(matches, len(battles.models), len(battles.questions))
    weights = drawn_questions(len(battles.questions), RESAMPLES, seed=0)
    known = uncertain_pairs(model.scores, model.resample(weights), CONFIDENCE)
    known = known + known.T
    position = [contest.models.index(name) for name in battles.models]
    full = np.full((models, models), 0.5)  # the order of a model without verdicts is unknown
    full[np.ix_(position, position)] = known
    return np.asarray(np.triu(full, 1))
