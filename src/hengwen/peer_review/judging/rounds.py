"""Choose the matches of each round: all at once, or adaptively where the ranking is not sure yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.battles.matches import combine_orders
from hengwen.peer_review.battles.verdicts import distinct_verdicts
from hengwen.peer_review.estimates.estimate import drawn_questions
from hengwen.peer_review.estimates.pair_models import PairModel
from hengwen.peer_review.judging.opponents import draw_cells, question_pairs, uncertain_pairs

if TYPE_CHECKING:
    from hengwen.peer_review.judging.match_run import MatchRun
    from hengwen.peer_review.judging.opponents import Pair
    from hengwen.peer_review.judging.stored_answers import Contest

FIRST_OPPONENTS = 2
"""Number of opponents of each model on each question in the first round of an adaptive review."""
RESAMPLES = 100
CONFIDENCE = 0.95


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


def _cells(contest: Contest, opponents: int | None, seed: int) -> list[tuple[int, Pair]]:
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
