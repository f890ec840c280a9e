"""Battles as rows of a file: one verdict of a judge in each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.importers.verdicts import FIRST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.peer_review.battles import Battles

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
