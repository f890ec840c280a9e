"""Turn battles into rows of a file, and into preference pairs (prompt, chosen, rejected) for training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.importers.verdicts import FIRST
from hengwen.peer_review.verdicts import combine_orders, distinct_verdicts, judged_pairs
from hengwen.stats.rankings.codes import group_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.peer_review.battles import Battles


PreferencePair = dict[str, Any]
PAIR_FIELDS = (
    "prompt",
    "chosen",
    "rejected",
    "question",
    "turn",
    "chosen_model",
    "rejected_model",
    "votes_chosen",
    "votes_rejected",
    "contaminated_as_test",
)


def preference_pairs(
    battles: Battles,
    prompts: Mapping[tuple[str, int], str],
    answers: Mapping[tuple[str, int, str], str],
    weights: Mapping[str, float] | None = None,
) -> Iterator[PreferencePair]:
    """Yield a preference pair for each question and pair of models on which the judges prefer one answer.

    Verdicts of judges on their own answers do not count, nor do verdicts that name different winners in the
    two orders of the answers. Pairs whose texts are unknown or equal are left out.

    Args:
        battles: The battles.
        prompts: Prompt of each question and turn.
        answers: Answer to each question and turn by each model.
        weights: Weight of each judge, such as its discrimination (how strongly its verdicts depend on
            quality); negative weights count as 0. By default, all judges count alike.

    Yields:
        A row with ``prompt``, ``chosen``, ``rejected``, ``question`` and ``turn``. The row also has the names
        of the two models and the weighted votes for each answer. ``contaminated_as_test`` is always true,
        because a model that is trained on the pair has seen the question.

    Examples:
        >>> from hengwen.peer_review import Battles
        >>> battles = Battles.from_columns(
        ...     model_a=["x"], model_b=["y"], winner=["b"], judge=["j"], question=["q"]
        ... )
        >>> texts = {("q", 1, "x"): "short", ("q", 1, "y"): "better"}
        >>> pair = next(preference_pairs(battles, {("q", 1): "Why?"}, texts))
        >>> pair["chosen"], pair["rejected"], pair["contaminated_as_test"]
        ('better', 'short', True)
    """
    verdicts = distinct_verdicts(battles)
    matches = combine_orders(verdicts, "abstain")
    own = np.array([battles.models.index(j) if j in battles.models else -1 for j in battles.judges])
    judge_model = own[matches.judge]
    matches = matches.only((judge_model != matches.low) & (judge_model != matches.high))
    if not len(matches):
        return
    weight = np.array([1.0 if weights is None else max(0.0, weights.get(j, 0.0)) for j in battles.judges])
    models = len(battles.models)
    position, group = judged_pairs(matches, models)
    by_judge = weight[matches.judge]
    for_low = group_sums(group, by_judge * matches.outcome, len(position))
    for_high = group_sums(group, by_judge * (1 - matches.outcome), len(position))
    for index in np.argsort(matches.position[position], kind="stable").tolist():
        row = position[index]
        battle = matches.position[row]
        item = (battles.questions[battles.question[battle]], int(battles.turn[battle]))
        low, high = battles.models[matches.low[row]], battles.models[matches.high[row]]
        votes = {low: float(for_low[index]), high: float(for_high[index])}
        texts = [answers.get((*item, model), "") for model in (low, high)]
        if votes[low] == votes[high] or item not in prompts or not all(texts) or texts[0] == texts[1]:
            continue
        chosen, rejected = (low, high) if votes[low] > votes[high] else (high, low)
        yield {
            "prompt": prompts[item],
            "chosen": answers[*item, chosen],
            "rejected": answers[*item, rejected],
            "question": item[0],
            "turn": item[1],
            "chosen_model": chosen,
            "rejected_model": rejected,
            "votes_chosen": votes[chosen],
            "votes_rejected": votes[rejected],
            "contaminated_as_test": True,
        }


FIELDS = (
    "model_a",
    "model_b",
    "winner",
    "judge",
    "question",
    "first",
    "turn",
    "length_a",
    "length_b",
    "prompt",
    "answer_a",
    "answer_b",
)


def plain_rows(
    battles: Battles,
    prompts: Mapping[tuple[str, int], str],
    answers: Mapping[tuple[str, int, str], str],
) -> Iterator[dict[str, Any]]:
    """Yield battles as rows of plain battles, which ``read_battles`` can read."""
    names: dict[float, str | float] = {1.0: "a", 0.0: "b", 0.5: "tie"}
    firsts = {value: name for name, value in FIRST.items()}
    for index in range(len(battles)):
        model_a, model_b = battles.models[battles.model_a[index]], battles.models[battles.model_b[index]]
        item = (battles.questions[battles.question[index]], int(battles.turn[index]))
        row: dict[str, Any] = {
            "model_a": model_a,
            "model_b": model_b,
            "winner": names.get(outcome := float(battles.outcome[index]), outcome),
            "judge": battles.judges[battles.judge[index]],
            "question": item[0],
            "first": firsts[int(battles.first[index])],
            "turn": item[1],
        }
        if battles.length_a is not None and battles.length_b is not None:
            row |= {"length_a": float(battles.length_a[index]), "length_b": float(battles.length_b[index])}
        a, b = answers.get((*item, model_a)), answers.get((*item, model_b))
        if item in prompts and a is not None and b is not None:
            row |= {"prompt": prompts[item], "answer_a": a, "answer_b": b}
        yield row
