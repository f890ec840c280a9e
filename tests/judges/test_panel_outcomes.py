"""Outcomes of a member's verdict: one for each name that it promises, or a failure in its place."""

from __future__ import annotations

from types import SimpleNamespace

from rows import each_row

from hengwen.judges.panel import outcomes_or_failures
from hengwen.records import Failure, Score, Verdict

JUDGE = SimpleNamespace(signature="tone|rubric:1.aa|a|v:1", names=("tone.level", "tone.wit"))


def _score(name):
    return Score(name=name, value=1.0, signature="s")


@each_row(
    ("names", "failed"),
    [
        (("tone.level",), {"tone.wit"}),
        (("tone.level", "tone.level"), {"tone.level", "tone.wit"}),
        (("tone.level", "tone.wit", "tone.more"), {"tone.level", "tone.wit"}),
        ((), {"tone.level", "tone.wit"}),
    ],
)
def test_a_verdict_that_breaks_its_promise_is_a_failure(names, failed):
    outcomes = outcomes_or_failures(JUDGE, Verdict(outcomes=tuple(map(_score, names))))
    assert {name for name, outcome in outcomes.items() if isinstance(outcome, Failure)} == failed
    assert set(outcomes) == {"tone.level", "tone.wit"}
