"""Turn battles into rows of a file, which other programs of rankings (evalica, choix) read too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.importers.verdicts import FIRST

if TYPE_CHECKING:
    from collections.abc import Iterator

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
)


def plain_rows(battles: Battles) -> Iterator[dict[str, Any]]:
    """Yield battles as rows of plain battles, which ``read_battles`` can read."""
    names: dict[float, str | float] = {1.0: "a", 0.0: "b", 0.5: "tie"}
    firsts = {value: name for name, value in FIRST.items()}
    for index in range(len(battles)):
        model_a, model_b = battles.models[battles.model_a[index]], battles.models[battles.model_b[index]]
        row: dict[str, Any] = {
            "model_a": model_a,
            "model_b": model_b,
            "winner": names.get(outcome := float(battles.outcome[index]), outcome),
            "judge": battles.judges[battles.judge[index]],
            "question": battles.questions[battles.question[index]],
            "first": firsts[int(battles.first[index])],
            "turn": int(battles.turn[index]),
        }
        if battles.length_a is not None and battles.length_b is not None:
            row |= {"length_a": float(battles.length_a[index]), "length_b": float(battles.length_b[index])}
        yield row
