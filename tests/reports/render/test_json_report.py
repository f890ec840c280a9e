"""The JSON report and its published schema."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator, ValidationError
from rows import each_row

from hengwen.records import Scale
from hengwen.reports import build_view, to_json
from hengwen.reports.render.json_report import json_schema
from hengwen.reports.render.write import render


def test_the_fixed_report_satisfies_the_published_schema(data):
    Draft202012Validator.check_schema(json_schema())
    Draft202012Validator(json_schema()).validate(to_json(build_view(data)))


@each_row(
    "values",
    [{}, {"a": []}, {"a": [None]}, {"a": [1.0]}, {"a": [1.0, 2.0], "b": [None, None], "c": [-0.0, 1.0]}],
    ids=["no-runs", "no-rows", "all-failed", "one-prompt", "mixed"],
)
def test_poor_reports_satisfy_the_schema_too(table_of, values):
    Draft202012Validator(json_schema()).validate(json.loads(render(build_view(table_of(values)), "json")))


def test_the_schema_refuses_what_is_not_published(data):
    report = to_json(build_view(data))
    report["runs"][0]["scores"]["lyrics/lyric.total"]["mean"] = "85"
    with pytest.raises(ValidationError):
        Draft202012Validator(json_schema()).validate(report)


def test_the_object_has_exactly_these_keys(data):
    report = to_json(build_view(data))
    assert list(report) == ["schema", "plan", "runs", "summary", "sequences", "usage", "warnings"]
    assert list(report["runs"][0]) == ["id", "checkpoint", "step", "status", "scores"]
    assert set(report["runs"][0]["scores"]["lyrics/lyric.total"]) == {
        *("n", "mean", "ci", "coverage", "failures", "signature", "comparability"),
        *("prompts", "not_applicable", "method", "kind", "scale"),
        *("prompts_expected", "prompt_coverage", "first_messages"),
    }
    assert report["usage"] == {"judge": {"calls": 1234, "input_tokens": 56789, "output_tokens": 10}}


def test_what_has_no_interval_has_null(data):
    score = to_json(build_view(data))["runs"][0]["scores"]["lyrics/distinct_n.distinct_2"]
    assert (score["mean"], score["ci"], score["method"]) == (0.5, None, "none")


def test_human_and_anchor_rows_keep_their_names(data):
    scores = to_json(build_view(data))["runs"][0]["scores"]
    assert scores["lyrics/human.lyric_craft.level"]["kind"] == "human"
    assert scores["lyrics/anchor.lyric_craft.level"]["mean"] == 0.125


def test_a_sequence_that_cannot_be_has_its_reason(data):
    sequence = to_json(build_view(data))["sequences"]["lyrics/distinct_n.distinct_2"]
    assert sequence["cin"] is None
    assert sequence["reason"] == "signatures differ: v:1 (base, sft); v:2 (rl, rl-long)"


def test_lone_surrogates_do_not_stop_the_file(make):
    text = render(build_view(make("\ud800")), "json")
    assert json.loads(text.encode("utf-8"))["plan"] == "songs\ufffd"


def test_every_paired_test_is_in_the_json_with_its_p_interval_and_smallest_detectable_difference(table_of):
    before = [0.2, 0.4, 0.3, 0.5, 0.1, 0.6, 0.2, 0.3]
    values = {"a": before, "b": [value + 0.3 + i / 100 for i, value in enumerate(before)]}
    data = replace(table_of(values), baseline="r0")
    document = to_json(build_view(data))
    (comparison,) = document["summary"]["comparisons"]
    assert (comparison["earlier"], comparison["later"]) == ("r0", "r1")
    assert (comparison["address"], comparison["outcome"]) == ("t/a.x", "better")
    assert (comparison["p"], comparison["p_adjusted"]) == (2 / 256, 2 / 256)
    assert comparison["ci"][0] < comparison["difference"] < comparison["ci"][1]
    assert comparison["detectable"] == pytest.approx(0.028, abs=0.002)
    assert document["summary"]["baseline"] == "r0"
    assert document["summary"]["tests"] == 1
    Draft202012Validator(json_schema()).validate(document)


@pytest.mark.parametrize(("higher", "outcome"), [(True, "worse"), (False, "better")])
def test_the_outcome_of_a_fall_depends_on_the_scale(table_of, higher: bool, outcome: str):
    scale = Scale(low=0, high=1, higher_is_better=higher)
    data = table_of({"a": [0.9] * 8, "b": [0.1] * 8, "c": [0.1] * 8}, scale=scale)
    comparisons = to_json(build_view(data))["summary"]["comparisons"]
    assert [item["outcome"] for item in comparisons] == [outcome, "no difference seen", outcome]
