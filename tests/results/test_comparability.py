"""Two series are comparable where their samples of answers are: section by section of the key."""

from __future__ import annotations

from typing import Any

from rows import each_row
from score_rows import row_of, series_of

from hengwen.records import Failure, Row, Sample, Score
from hengwen.results.comparability import (
    UNKNOWN,
    UNSCORED,
    ComparabilityKey,
    comparability_conflict,
    comparability_of,
)
from hengwen.results.score_table import ScoreTable
from hengwen.runs.task_scores import sample_hashes

SAMPLES = [Sample(id=name, input="问", references=("答",), metadata={"k": 1}) for name in "ab"]
OTHER_INPUT = [Sample(id=name, input="另一题", references=("答",), metadata={"k": 1}) for name in "ab"]
OTHER_METADATA = [Sample(id=name, input="问", references=("答",), metadata={"k": 2}) for name in "ab"]
OTHER_REFERENCES = [Sample(id=name, input="问", references=("别的",), metadata={"k": 1}) for name in "ab"]


def facts(
    samples: list[Sample] = SAMPLES,
    *,
    repeats: int = 3,
    reducer: str = "mean",
    endpoint: str = "https://a.example/v1",
    anchors: str = "anchors of spring",
    **versions: str,
) -> dict[str, Any]:
    """Return the facts of a run with one task and one judge."""
    hashes = sample_hashes(samples)
    task = {
        "samples": hashes["samples"],
        "references": hashes["references"],
        "samples_total": len(samples),
        "samples_taken": len(samples),
        "repeats": str(repeats),
        "reducer": reducer,
        "anchors": anchors,
        "judges": {
            "craft": {"endpoints": [endpoint], "rules": False},
            "checks": {"endpoints": [], "rules": False},
        },
    }
    return {"versions": {"jieba": "0.42.1", "unicode": "14.0.0", **versions}, "tasks": {"t": task}}


def key_of(
    run_facts: dict[str, Any],
    name: str = "craft.level",
    kind: Any = "judge",
    *,
    sample_id: str | None = "a",
    repeat: int | None = 1,
    **details: Any,
) -> ComparabilityKey:
    """Return the key of a series with one score."""
    details = {"model": "gpt-4o", "form": "json_schema", "method": "logprobs", **details}
    score = Score(name=name, value=0.5, signature="s", kind=kind, details=details if kind == "judge" else {})
    row = row_of("r", "t", "c", sample_id, repeat, "a", score)
    return comparability_of(series_of("r", "t", name, kind), ScoreTable([row]), run_facts)


CODE = {"name": "rouge.f", "kind": "scorer"}
SET = {"name": "distinct_n.distinct_2", "kind": "scorer", "sample_id": None, "repeat": None}
ANCHOR = {"name": "anchor.craft.level"}


@each_row(
    ("this", "that", "part"),
    [
        (key_of(facts()), key_of(facts(), method="samples"), "method"),
        *(
            (key_of(facts(reducer="worst", repeats=n)), key_of(facts(reducer="worst", repeats=m)), "repeats")
            for n, m in [(1, 3), (1, 5), (1, 10), (3, 5), (3, 10), (5, 10)]
        ),
        (key_of(facts()), key_of(facts(reducer="worst")), "reducer"),
        (key_of(facts(), **SET), key_of(facts(repeats=5), **SET), "set size"),
        (key_of(facts(), **CODE), key_of(facts(OTHER_REFERENCES), **CODE), "references"),
        (key_of(facts(), **CODE), key_of(facts(OTHER_INPUT), **CODE), "samples"),
        (key_of(facts(), **CODE), key_of(facts(OTHER_METADATA), **CODE), "samples"),
        (key_of(facts(), **CODE), key_of(facts(SAMPLES[:1]), **CODE), "samples"),
        (key_of(facts()), key_of(facts(endpoint="https://b.example/v1")), "endpoint"),
        (key_of(facts()), key_of(facts(), model="gpt-4o-mini"), "model"),
        (key_of(facts()), key_of(facts(), form="text"), "form"),
        (key_of(facts(), **ANCHOR), key_of(facts(anchors="of autumn"), **ANCHOR), "anchors"),
        (key_of(facts(), **CODE), key_of(facts(jieba="0.43"), **CODE), "jieba"),
        (key_of(facts(), **CODE), key_of(facts(unicode="15.0.0"), **CODE), "unicode"),
        (key_of(facts(), "checks.level"), key_of(facts(jieba="0.43"), "checks.level"), "jieba"),
    ],
)
def test_whatever_moves_the_numbers_makes_another_key(
    this: ComparabilityKey, that: ComparabilityKey, part: str
) -> None:
    assert part in [difference.part for difference in this.differences(that)]
    assert this.digest != that.digest
    assert comparability_conflict(["a", "b"], [this, that]).startswith("a and b differ in ")


@each_row("series", [{}, CODE, SET, ANCHOR, {"name": "craft.final"}])
def test_equal_settings_have_equal_keys(series: dict[str, Any]) -> None:
    this, that = key_of(facts(), **series), key_of(facts(list(reversed(SAMPLES))), **series)
    assert this == that
    assert this.digest == that.digest
    assert comparability_conflict(["a", "b"], [this, that]) == ""


def test_a_language_model_does_not_depend_on_the_packages_that_score() -> None:
    assert key_of(facts()) == key_of(facts(jieba="0.43"))


def test_anchors_do_not_depend_on_the_prompts_of_the_run() -> None:
    assert key_of(facts(), **ANCHOR) == key_of(facts(OTHER_INPUT, repeats=5), **ANCHOR)


def test_a_run_without_facts_is_compared_by_signatures_alone() -> None:
    old = key_of({})
    assert old == UNKNOWN
    assert old.parts == {"run": "unknown"}
    assert comparability_conflict(["a", "b", "c"], [old, key_of(facts()), None]) == ""


def test_a_series_without_a_score_says_so() -> None:
    failure = Failure(name="rouge.f", status="timeout", message="slow", signature="s")
    table = ScoreTable([row_of("r", "t", "c", "a", 1, "a", failure)])
    assert comparability_of(series_of("r", "t", "rouge.f", "scorer"), table, facts()) == UNSCORED


def rows_by(models: list[str]) -> list[Row]:
    scores = [
        Score(name="craft.level", value=0.5, signature="s", kind="judge", details={"model": model})
        for model in models
    ]
    return [row_of("r", "t", "c", str(i), 1, str(i), score) for i, score in enumerate(scores)]


@each_row(("second", "model"), [(1, "old"), (5, "new + old")])
def test_a_model_counts_from_a_twentieth_of_the_scores_on(second: int, model: str) -> None:
    table = ScoreTable(rows_by(["old"] * (100 - second) + ["new"] * second))
    key = comparability_of(series_of("r", "t", "craft.level", "judge"), table, facts())
    assert key.parts["model"] == model


def test_derived_scores_have_the_provenance_of_the_level() -> None:
    final = Score(name="craft.final", value=0.5, signature="f", kind="judge", details={"raw": 0.5})
    table = ScoreTable([*rows_by(["gpt"]), row_of("r", "t", "c", "0", 1, "0", final)])
    key = comparability_of(series_of("r", "t", "craft.final", "judge"), table, facts())
    assert key.parts["model"] == "gpt"


def test_a_conflict_names_one_run_of_each_group() -> None:
    keys = [key_of(facts(repeats=n)) for n in (1, 2, 1, 3, 4, 5)]
    assert comparability_conflict(list("abcdef"), keys) == "a, b, d and 2 more differ in repeats"
