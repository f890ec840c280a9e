"""The parts of a comparability key, series by series, and the text of a conflict between keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from rows import each_row
from score_rows import row_of

from hengwen.records import Outcome, Row, Run, Score, digest
from hengwen.results.comparability import (
    HASH_LENGTH,
    UNKNOWN,
    UNSCORED,
    ComparabilityKey,
    Difference,
    comparability_conflict,
    comparability_of,
    provenance_of,
    same_prompts,
)
from hengwen.results.score_table import ScoreTable, SeriesKey

VERSIONS = {"jieba": "0.42.1"}
SAMPLE = {"samples": "1f" * 32, "repeats": "3", "reducer": "worst"}
REFERENCES = {"references": "2e" * 32}
TASK = {
    **SAMPLE,
    **REFERENCES,
    "anchors": "3d" * 32,
    "samples_total": 7,
    "samples_taken": 6,
    "judges": {
        "craft": {"endpoints": ["https://a.example", "https://b.example"], "rules": True},
        "checks": {"endpoints": [], "rules": False},
    },
}
FACTS = {"versions": VERSIONS, "tasks": {"t": TASK}}
ENDPOINT = {"endpoint": "https://a.example + https://b.example"}
SHORT_SAMPLE = {**SAMPLE, "samples": ("1f" * 32)[:HASH_LENGTH]}
SHORT_REFERENCES = {"references": ("2e" * 32)[:HASH_LENGTH]}
SHORT_ANCHORS = {"anchors": ("3d" * 32)[:HASH_LENGTH]}
MODEL = {"model": "gpt"}


def row(
    name: str, kind: Any = "scorer", *, sample: str | None = "a", repeat: int | None = 1, **details: Any
) -> Row:
    score: Outcome = Score(name=name, value=1, signature="s", kind=kind, details=details)
    return row_of("r", "t", "c", sample, repeat, sample or "t", score)


def parts_of(item: Row, *others: Row, facts: Mapping[str, Any] = FACTS) -> dict[str, str]:
    """Return the parts of the key of a row's series, in a table that has other rows too."""
    series = SeriesKey(item.run_id, item.score, item.outcome.kind)
    return dict(comparability_of(series, ScoreTable([item, *others]), facts).parts)


@each_row(
    ("item", "parts"),
    [
        pytest.param(row("rouge.f"), {**SHORT_SAMPLE, **SHORT_REFERENCES, **VERSIONS}, id="scorer"),
        pytest.param(row("human.taste", "human"), SHORT_SAMPLE, id="people see no references"),
        pytest.param(row("anchor.length"), {**SHORT_ANCHORS, **VERSIONS}, id="anchors of code"),
        pytest.param(row("human.anchor.taste", "human"), SHORT_ANCHORS, id="anchors of people"),
        pytest.param(
            row("craft.level", "judge", **MODEL),
            {**SHORT_SAMPLE, **SHORT_REFERENCES, **ENDPOINT, **MODEL},
            id="a model",
        ),
        pytest.param(
            row("craft.final", "judge", **MODEL),
            {**SHORT_SAMPLE, **SHORT_REFERENCES, **ENDPOINT, **VERSIONS, **MODEL},
            id="rules over a model",
        ),
        pytest.param(
            row("anchor.craft.final", "judge", **MODEL),
            {**SHORT_ANCHORS, **ENDPOINT, **VERSIONS, **MODEL},
            id="anchors of a model",
        ),
        pytest.param(
            row("checks.level", "judge"),
            {**SHORT_SAMPLE, **SHORT_REFERENCES, **VERSIONS},
            id="a judge without endpoints",
        ),
        pytest.param(
            row("later.level", "judge"),
            {**SHORT_SAMPLE, **SHORT_REFERENCES, **VERSIONS},
            id="a judge that the facts do not name",
        ),
    ],
)
def test_a_key_has_the_parts_that_move_its_series(item: Row, parts: dict[str, str]) -> None:
    assert parts_of(item) == parts


@each_row(
    ("item", "size"),
    [
        (row("s.set", sample=None, repeat=None), "6 prompts, repeats 3"),
        (row("s.set", sample=None, repeat=None, answers=30, prompts=10), "30 answers to 10 prompts"),
        (row("s.set", repeat=None), "3"),
        (row("s.set"), None),
    ],
    ids=["all answers", "answers that the details count", "all repeats of a prompt", "one answer"],
)
def test_a_score_of_several_answers_names_the_size_of_the_set(item: Row, size: str | None) -> None:
    assert parts_of(item).get("set size") == size


@each_row("facts", [{}, {"tasks": {}}, {"tasks": {"other": TASK}, "versions": VERSIONS}])
def test_a_task_without_facts_has_an_unknown_key(facts: dict[str, Any]) -> None:
    assert parts_of(row("rouge.f"), facts=facts) == UNKNOWN.parts


def test_anchors_have_the_provenance_of_their_own_level() -> None:
    final = row("anchor.craft.final", "judge", model="of the final")
    anchor_level = row("anchor.craft.level", "judge", model="of the anchors")
    level = row("craft.level", "judge", model="of the answers")
    assert parts_of(final, level, anchor_level)["model"] == "of the anchors"
    assert parts_of(final, level)["model"] == "of the final"


def test_all_members_of_a_panel_are_named_in_the_order_of_their_names() -> None:
    panel = row("craft.level", "judge", method="logprobs", model=["gpt", "glm", "gpt"], form=["text", "text"])
    parts = parts_of(panel)
    assert list(parts.items())[-3:] == [("model", "glm + gpt"), ("form", "text"), ("method", "logprobs")]


def test_provenance_is_read_from_texts_and_lists_alone() -> None:
    details = {"model": ["gpt", 4, "gpt"], "form": "", "method": None, "label": "A"}
    assert list(provenance_of(details)) == [("model", "gpt"), ("model", "4")]
    assert list(provenance_of({"model": "", "form": "text"})) == [("form", "text")]


def test_a_part_that_one_key_lacks_is_none_there() -> None:
    this, that = ComparabilityKey({"a": "1", "b": "2"}), ComparabilityKey({"b": "2", "c": "3"})
    assert this.differences(that) == [Difference("a", "1", "none"), Difference("c", "none", "3")]


@each_row("unknown", [UNKNOWN, UNSCORED])
def test_an_unknown_key_differs_from_none(unknown: ComparabilityKey) -> None:
    known = ComparabilityKey({"a": "1"})
    assert known.is_known
    assert not unknown.is_known
    assert known.differences(unknown) == unknown.differences(known) == []


def test_the_digest_of_a_key_covers_its_parts_whatever_their_order() -> None:
    key = ComparabilityKey({"a": "1", "b": "2"})
    assert key.digest == digest({"a": "1", "b": "2"})
    assert key.digest == ComparabilityKey({"b": "2", "a": "1"}).digest


@each_row(
    ("groups", "text"),
    [
        (1, ""),
        (2, "a and b differ in n"),
        (3, "a, b and c differ in n"),
        (4, "a, b, c and d differ in n"),
        (5, "a, b, c and 2 more differ in n"),
        (6, "a, b, c and 3 more differ in n"),
    ],
)
def test_a_conflict_names_up_to_four_runs(groups: int, text: str) -> None:
    keys = [ComparabilityKey({"n": str(group), "same": "x"}) for group in range(groups)]
    assert comparability_conflict("abcdef"[:groups], keys) == text


def test_a_conflict_names_each_part_once() -> None:
    keys = [ComparabilityKey({"x": str(n), "y": str(n % 2)}) for n in range(3)]
    assert comparability_conflict("abc", keys) == "a, b and c differ in x, y"


def test_a_run_without_the_score_does_not_hide_a_conflict() -> None:
    keys = [None, UNKNOWN, ComparabilityKey({"x": "1"}), ComparabilityKey({"x": "2"})]
    assert comparability_conflict("abcd", keys) == "c and d differ in x"
    with pytest.raises(ValueError, match="zip"):
        comparability_conflict("abc", keys)


def run(name: str, prompts: str | None) -> Run:
    facts = {} if prompts is None else {"prompts": prompts}
    return Run(id=name, plan="p", plan_hash="", checkpoint=name, facts=facts)


def test_runs_are_split_by_the_prompts_of_the_first_run_with_facts() -> None:
    runs = [run("a", None), run("b", "1"), run("c", "2"), run("d", None), run("e", "1")]
    same, others = same_prompts(runs)
    assert ([item.id for item in same], [item.id for item in others]) == (["a", "b", "d", "e"], ["c"])


def test_runs_without_facts_are_taken_to_have_the_same_prompts() -> None:
    runs = [run("a", None), run("b", None)]
    assert same_prompts(runs) == (runs, [])
    assert same_prompts([]) == ([], [])
