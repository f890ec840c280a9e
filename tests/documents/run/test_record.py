"""The record of runs and its published schema."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator, ValidationError
from rows import each_row

from hengwen.documents.render.write import schema_text, to_json
from hengwen.documents.run.document import run_document
from hengwen.records import Scale

SCHEMA = json.loads(schema_text("run"))


def record_of(data):
    return json.loads(to_json(run_document(data)))


@each_row(
    "values",
    [{}, {"a": []}, {"a": [None]}, {"a": [1.0]}, {"a": [1.0, 2.0], "b": [None, None], "c": [-0.0, 1.0]}],
    ids=["no-runs", "no-rows", "all-failed", "one-prompt", "mixed"],
)
def test_poor_reports_satisfy_the_schema_too(table_of, values):
    Draft202012Validator(SCHEMA).validate(record_of(table_of(values)))


def test_the_schema_refuses_what_is_not_published(data):
    report = record_of(data)
    report["runs"][0]["scores"]["lyrics/lyric.total"]["mean"] = "85"
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMA).validate(report)


def test_the_object_has_exactly_these_keys(data):
    report = record_of(data)
    assert list(report) == [
        *(
            "schema",
            "plan",
            "runs",
            "decision",
            "summary",
            "sequences",
            "usage",
            "groups",
            "judges",
            "warnings",
        )
    ]
    assert list(report["runs"][0]) == ["id", "checkpoint", "step", "status", "scores"]
    assert set(report["runs"][0]["scores"]["lyrics/lyric.total"]) == {
        *(
            "n",
            "mean",
            "ci",
            "ends",
            "outside",
            "coverage",
            "bounds",
            "failures",
            "signature",
            "comparability",
        ),
        *("prompts", "not_applicable", "method", "kind", "scale"),
        *("prompts_expected", "prompt_coverage", "first_messages"),
    }
    assert report["usage"] == {"judge": {"calls": 1234, "input_tokens": 56789, "output_tokens": 10}}


def test_what_has_no_interval_has_null(data):
    score = record_of(data)["runs"][0]["scores"]["lyrics/distinct_n.distinct_2"]
    assert (score["mean"], score["ci"], score["method"]) == (0.5, None, "none")


def test_human_and_anchor_rows_keep_their_names(data):
    scores = record_of(data)["runs"][0]["scores"]
    assert scores["lyrics/human.lyric_craft.level"]["kind"] == "human"
    assert scores["lyrics/anchor.lyric_craft.level"]["mean"] == 0.125


def test_a_sequence_that_cannot_be_has_its_reason(data):
    sequence = record_of(data)["sequences"]["lyrics/distinct_n.distinct_2"]
    assert sequence["cin"] is None
    assert sequence["reason"] == "signatures differ: v:1 (base, sft); v:2 (rl, rl-long)"


def test_lone_surrogates_do_not_stop_the_file(make):
    text = to_json(run_document(make("\ud800")))
    assert json.loads(text.encode("utf-8"))["plan"] == "songs\ufffd"


def test_every_paired_test_is_in_the_json_with_its_p_interval_and_smallest_detectable_difference(table_of):
    before = [0.2, 0.4, 0.3, 0.5, 0.1, 0.6, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3]
    values = {"a": before, "b": [value + 0.3 + i / 100 for i, value in enumerate(before)]}
    data = replace(table_of(values), baseline="r0")
    document = record_of(data)
    (comparison,) = document["summary"]["comparisons"]
    assert (comparison["earlier"], comparison["later"]) == ("r0", "r1")
    assert (comparison["address"], comparison["outcome"]) == ("t/a.x", "better")
    assert (comparison["p"], comparison["p_adjusted"]) == (2 / 4096, 2 / 4096)
    assert comparison["ci"][0] < comparison["difference"] < comparison["ci"][1]
    assert comparison["detectable"] == pytest.approx(0.032, abs=0.002)
    assert document["summary"]["baseline"] == "r0"
    assert document["summary"]["tests"] == 1
    Draft202012Validator(SCHEMA).validate(document)


@pytest.mark.parametrize(("higher", "outcome"), [(True, "worse"), (False, "better")])
def test_the_outcome_of_a_fall_depends_on_the_scale(table_of, higher: bool, outcome: str):
    scale = Scale(low=0, high=1, higher_is_better=higher)
    data = table_of({"a": [0.9] * 8, "b": [0.1] * 8, "c": [0.1] * 8}, scale=scale)
    comparisons = record_of(data)["summary"]["comparisons"]
    assert [item["outcome"] for item in comparisons] == [outcome, outcome, "no difference seen"]
