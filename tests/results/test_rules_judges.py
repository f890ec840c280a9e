"""Scores that derive from the levels of a rules judge: those of the same run, task and judge."""

from __future__ import annotations

from typing import Any

from rows import each_row
from score_rows import row_of

from hengwen.records import Row, Score
from hengwen.results.aggregate import aggregate
from hengwen.results.score_table import ScoreTable, SeriesKey

RULES = {"model": "rules", "clauses": {}}


def row(name: str, kind: Any = "judge", *, run: str = "r", task: str = "t", **details: Any) -> Row:
    score = Score(name=name, value=1, signature="s", kind=kind, details=details)
    return row_of(run, task, "c", "a", 1, "a", score)


@each_row(
    ("other", "by_rules"),
    [
        (row("craft.final"), True),
        (row("anchor.craft.level"), True),
        (row("craft"), True),
        (row("crafts.final"), False),
        (row("craft.final", "scorer"), False),
        (row("craft.final", run="another"), False),
        (row("craft.final", task="another"), False),
    ],
    ids=["derived", "anchor", "without a part", "another judge", "scorer", "another run", "another task"],
)
@each_row("level", ["craft.level", "anchor.craft.level"])
def test_a_score_is_by_rules_where_a_level_of_its_judge_is(level: str, other: Row, by_rules: bool) -> None:
    summaries = aggregate(ScoreTable([other, row(level, **RULES)]))
    key = SeriesKey(other.run_id, other.score, other.outcome.kind)
    assert summaries[key].judged_by_rules == by_rules
