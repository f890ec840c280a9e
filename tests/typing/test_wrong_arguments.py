"""What public functions and records say to an argument of a wrong type: one line, a TypeError."""

from __future__ import annotations

import ast
import asyncio
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import hengwen
from hengwen import judges, objective, peer_review, prompts, relevance_metrics
from hengwen.argument_types.kinds import _KINDS, _LISTS, CHOICES, CLASSES, MEMBERS, OTHERS, kind_of

PACKAGES = [hengwen, objective, relevance_metrics, judges, prompts, peer_review]
SCORES = [0.1, 0.3, 0.2, 0.5, 0.4, 0.6]
RUBRIC = prompts.load_rubric("muice_live")
RULES = judges.RulesJudge(rubric=RUBRIC)
T = "(verse)\ncR"
BATTLES = peer_review.Battles.from_columns(model_a=["x"], model_b=["y"], winner=["a"])

TABLE: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (hengwen.run_plan, {"plan": None}, "plan must be a Plan or a path, got None"),
    (hengwen.run_plan, {"plan": 5}, "plan must be a Plan or a path, got 5"),
    (hengwen.run_plan, {"plan": ["p.yaml"]}, "plan must be a Plan or a path, got list"),
    (hengwen.run_plan, {"plan": "p", "store": None}, "store must be a Store or a path, got None"),
    (
        hengwen.run_plan,
        {"plan": "p", "concurrency": "8"},
        "concurrency must be a whole number, got '8'",
    ),
    (
        hengwen.run_plan,
        {"plan": "p", "concurrency": None},
        "concurrency must be a whole number, got None",
    ),
    (hengwen.run_plan, {"plan": "p", "limit": 1.5}, "limit must be a whole number or None, got 1.5"),
    (hengwen.run_plan, {"plan": "p", "repeat": "2"}, "repeat must be a whole number or None, got '2'"),
    (hengwen.run_plan, {"plan": "p", "fresh": 1}, "fresh must be true or false, got 1"),
    (hengwen.run_plan, {"plan": "p", "budget": "1"}, "budget must be a number or None, got '1'"),
    (hengwen.run_plan, {"plan": "p", "time_limit": True}, "time_limit must be a number or None, got True"),
    (hengwen.run_plan, {"plan": "p", "progress": "bar"}, "progress must be a function or None, got 'bar'"),
    (hengwen.run_plan, {"plan": "p", "judge": RULES}, "judge must be text or None, got RulesJudge"),
    (hengwen.run_plan, {"plan": "p", "batch": True}, "batch must be a BatchOptions or None, got True"),
    (hengwen.BatchOptions, {"poll_seconds": "1"}, "poll_seconds must be a number, got '1'"),
    (hengwen.BatchOptions, {"action": 3}, "action must be text, got 3"),
    (hengwen.arun_plan, {"plan": None}, "plan must be a Plan or a path, got None"),
    (hengwen.arun_plan, {"plan": "p", "base_url": 80}, "base_url must be text or None, got 80"),
    (hengwen.load_plan, {"path": None}, "path must be a path, got None"),
    (hengwen.open_store, {"location": 3}, "location must be a path, got 3"),
    (hengwen.collect_view, {"store": "a.db", "runs": []}, "store must be a Store, got 'a.db'"),
    (hengwen.compare_runs, {"store": "a.db"}, "store must be a Store, got 'a.db'"),
    (hengwen.compare_runs, {"before": 1}, "before must be text or None, got 1"),
    (hengwen.compare_runs, {"scores": "t/s"}, "scores must be a list of texts, got 't/s'"),
    (hengwen.compare_runs, {"weights": None}, "weights must be text, got None"),
    (hengwen.plan_power, {"store": None}, "store must be a Store, got None"),
    (hengwen.plan_power, {"plan": 5}, "plan must be a Plan or a path, got 5"),
    (hengwen.plan_power, {"differences": 2.0}, "differences must be a list of numbers, got 2.0"),
    (hengwen.plan_power, {"power": "80"}, "power must be a number, got '80'"),
    (hengwen.plan_power, {"budget": "1"}, "budget must be a number or None, got '1'"),
    (hengwen.drift_report, {"store": "a.db"}, "store must be a Store, got 'a.db'"),
    (hengwen.drift_report, {"runs": "a"}, "runs must be a list of texts, got 'a'"),
    (hengwen.drift_report, {"scores": "t/s"}, "scores must be a list of texts, got 't/s'"),
    (hengwen.drift_report, {"human": 1}, "human must be a path or None, got 1"),
    (hengwen.Monitor, {"baseline": 5}, "baseline must be a list of numbers, got 5"),
    (hengwen.Monitor, {"baseline": [1], "alpha": "0.1"}, "alpha must be a number, got '0.1'"),
    (hengwen.Monitor, {"baseline": [1], "horizon": 1.5}, "horizon must be a whole number, got 1.5"),
    (hengwen.Monitor, {"baseline": [1], "direction": None}, "direction must be text, got None"),
    (hengwen.Monitor, {"baseline": [1], "scale": 5}, "scale must be a list of numbers or None, got 5"),
    (hengwen.Monitor.from_dict, {"data": "{}"}, "data must be a mapping, got '{}'"),
    (hengwen.evaluate_gates, {"store": "a.db"}, "store must be a Store, got 'a.db'"),
    (hengwen.evaluate_gates, {"plan": None}, "plan must be a Plan or a path, got None"),
    (hengwen.evaluate_gates, {"run": 3}, "run must be text or None, got 3"),
    (hengwen.evaluate_gates, {"gates": "t/s >= 1"}, "gates must be a list of texts, got 't/s >= 1'"),
    (
        hengwen.evaluate_gates,
        {"calibrations": ["c.json"]},
        "calibrations must be a list of Calibration objects, got 'c.json' at position 0",
    ),
    (hengwen.judge_drift, {"store": "a.db"}, "store must be a Store, got 'a.db'"),
    (hengwen.judge_drift, {"before": 1}, "before must be text or None, got 1"),
    (hengwen.judge_drift, {"scores": "t/s"}, "scores must be a list of texts, got 't/s'"),
    (hengwen.rejudge, {"plan": None}, "plan must be a Plan or a path, got None"),
    (hengwen.rejudge, {"plan": "p", "after": 3}, "after must be text or None, got 3"),
    (hengwen.rejudge, {"plan": "p", "budget": "2"}, "budget must be a number or None, got '2'"),
    (hengwen.build_view, {"data": {}}, "data must be a ReportData, got dict"),
    (hengwen.write_report, {"view": None, "path": "r.md"}, "view must be a View, got None"),
    (hengwen.Store, {"database": "hengwen.db"}, "database must be a Database, got 'hengwen.db'"),
    (hengwen.ScoreTable, {"rows": None}, "rows must be a list of Row objects, got None"),
    (hengwen.Sample, {"id": 7}, "id must be text, got 7"),
    (hengwen.Sample, {"id": "a", "references": "x"}, "references must be a list of texts, got 'x'"),
    (hengwen.Sample, {"id": "a", "references": None}, "references must be a list of texts, got None"),
    (
        hengwen.Sample,
        {"id": "a", "references": ("x", 3)},
        "references must be a list of texts, got 3 at position 1",
    ),
    (hengwen.Sample, {"id": "a", "metadata": ["x"]}, "metadata must be a mapping, got list"),
    (
        hengwen.Sample,
        {"id": "a", "input": None},
        "input must be text or a list of pairs of role and content, got None",
    ),
    (hengwen.Response, {"sample_id": "a", "text": None}, "text must be text, got None"),
    (
        hengwen.Response,
        {"sample_id": "a", "text": "x", "repeat": "1"},
        "repeat must be a whole number, got '1'",
    ),
    (hengwen.Label, {"task": "t", "id": "a", "score": "s", "value": "1"}, "value must be a number, got '1'"),
    (hengwen.Scale, {"low": None, "high": 1}, "low must be a number, got None"),
    (
        hengwen.Scale,
        {"low": 0, "high": 1, "levels": 3},
        "levels must be a list of numbers or None, got 3",
    ),
    (hengwen.Score, {"name": "s", "value": "1", "signature": "s"}, "value must be a number, got '1'"),
    (hengwen.Score, {"name": None, "value": 1, "signature": "s"}, "name must be text, got None"),
    (
        hengwen.Score,
        {"name": "s", "value": 1, "signature": "s", "scale": (0, 1)},
        "scale must be a Scale or None, got tuple",
    ),
    (
        hengwen.Failure,
        {"name": "s", "status": None, "message": "", "signature": "s"},
        "status must be text, got None",
    ),
    (
        hengwen.Verdict,
        {"outcomes": ("good",)},
        "outcomes must be a list of Score objects or Failure objects, got 'good' at position 0",
    ),
    (hengwen.Usage, {"calls": None}, "calls must be a whole number, got None"),
    (objective.score_lyric, {"lyric": None, "template": T}, "lyric must be text, got None"),
    (objective.score_lyric, {"lyric": "月", "template": [T]}, "template must be text, got list"),
    (
        objective.score_lyric,
        {"lyric": "月", "template": T, "rules": 1},
        "rules must be text, a LyricRules or a mapping, got 1",
    ),
    (
        objective.score_lyrics,
        {"pairs": None},
        "pairs must be a list of pairs of lyric and template, got None",
    ),
    (objective.score_lyrics, {"pairs": [], "workers": "2"}, "workers must be a whole number, got '2'"),
    (objective.check_template, {"template": None}, "template must be text, got None"),
    (objective.to_msstr, {"lyric": 1}, "lyric must be text, got 1"),
    (objective.rhyme_class, {"text": None}, "text must be text, got None"),
    (objective.bleu, {"hypothesis": None, "references": "a"}, "hypothesis must be text, got None"),
    (
        objective.chrf,
        {"hypothesis": "a", "references": "a", "beta": "2"},
        "beta must be a whole number, got '2'",
    ),
    (objective.distinct_n, {"texts": "一首诗"}, "texts must be a list of texts, got '一首诗'"),
    (objective.distinct_n, {"texts": ["a"], "n": "2"}, "n must be a whole number, got '2'"),
    (objective.ngram_entropy, {"texts": None}, "texts must be a list of texts, got None"),
    (objective.compression_ratio, {"texts": "ab"}, "texts must be a list of texts, got 'ab'"),
    (objective.repetition_rate, {"text": ["a"]}, "text must be text, got list"),
    (
        objective.type_token_ratio,
        {"text": "a", "window": "5"},
        "window must be a whole number or None, got '5'",
    ),
    (objective.self_bleu, {"texts": "ab"}, "texts must be a list of texts, got 'ab'"),
    (objective.self_bleu, {"texts": ["a", 1]}, "texts must be a list of texts, got 1 at position 1"),
    (objective.near_duplicates, {"texts": None}, "texts must be a list of texts, got None"),
    (
        objective.near_duplicates,
        {"texts": ["a"], "threshold": "1"},
        "threshold must be a number, got '1'",
    ),
    (objective.TrainingSet, {"turns": "一句话"}, "turns must be a list of texts, got '一句话'"),
    (relevance_metrics.permutation_entropy, {"x": None}, "x must be a list of numbers, got None"),
    (relevance_metrics.permutation_entropy, {"x": "123"}, "x must be a list of numbers, got '123'"),
    (relevance_metrics.permutation_entropy, {"x": SCORES, "m": None}, "m must be a whole number, got None"),
    (
        relevance_metrics.permutation_entropy,
        {"x": ["a", "b"]},
        "scores must be numbers, got 'a'; pass numbers, one for each score",
    ),
    (relevance_metrics.count_inversions, {"x": 5}, "x must be a list of numbers, got 5"),
    (
        relevance_metrics.longest_increasing_subsequence,
        {"x": {1: 2}},
        "x must be a list of numbers, got dict",
    ),
    (relevance_metrics.rolling, {"x": SCORES, "window": "5"}, "window must be a whole number, got '5'"),
    (
        relevance_metrics.rolling,
        {"x": SCORES, "window": 5, "metrics": "pen"},
        "metrics must be a list of texts, got 'pen'",
    ),
    (relevance_metrics.summarize, {"x": SCORES, "top": "1"}, "top must be a number or None, got '1'"),
    (relevance_metrics.significance, {"x": SCORES, "seed": None}, "seed must be a whole number, got None"),
    (relevance_metrics.Stream, {"window": 5.0}, "window must be a whole number, got 5.0"),
    (judges.RulesJudge, {"rubric": "muice_live"}, "rubric must be a Rubric, got 'muice_live'"),
    (judges.RulesJudge, {"rubric": RUBRIC, "markers": "喵"}, "markers must be a list of texts, got '喵'"),
    (
        judges.RubricJudge,
        {"rubric": RUBRIC, "backend": "gpt-4o-mini"},
        "backend must be a Backend, got 'gpt-4o-mini'",
    ),
    (judges.Panel, {"judges": RULES}, "judges must be a list of Judge objects, got RulesJudge"),
    (
        judges.Panel,
        {"judges": [RULES, None]},
        "judges must be a list of Judge objects, got None at position 1",
    ),
    (judges.CappedJudge, {"judge": RULES, "rules": []}, "rules must be a RuleSet, got list"),
    (judges.admission_test, {"judge": None, "rubric": RUBRIC}, "judge must be a Judge, got None"),
    (
        judges.admission_test,
        {"judge": RULES, "rubric": "muice_live"},
        "rubric must be a Rubric, got 'muice_live'",
    ),
    (
        judges.calibrate,
        {"labels": None, "answers": [], "score": "s"},
        "labels must be a list of Label objects, got None",
    ),
    (
        judges.calibrate,
        {"labels": [], "answers": [1], "score": "s"},
        "answers must be a list of JudgedAnswer objects, got 1 at position 0",
    ),
    (judges.compare_pair, {"compare": "x", "a": "", "b": ""}, "compare must be a function, got 'x'"),
    (judges.position_bias, {"pairs": "ab"}, "pairs must be a list of PairOutcome objects, got 'ab'"),
    (judges.length_bias, {"lengths": 3, "scores": [1]}, "lengths must be a list of numbers, got 3"),
    (
        judges.family_bias,
        {"judge": "m", "answers": [()]},
        "answers must be a list of LabelledAnswer objects, got tuple at position 0",
    ),
    (
        judges.ppi_mean,
        {"human": None, "judge": [], "others": []},
        "human must be a list of numbers, got None",
    ),
    (
        judges.is_stale,
        {"calibration": None, "signature": "", "rubric_hash": ""},
        "calibration must be a Calibration, got None",
    ),
    (judges.read_calibrations, {"path": None}, "path must be a path, got None"),
    (
        judges.LabelledAnswer,
        {"target": 1, "judge": 1, "human": 1, "cluster": ""},
        "target must be text, got 1",
    ),
    (judges.PairOutcome, {"forward": 1, "backward": None}, "forward must be text or None, got 1"),
    (prompts.load_rubric, {"name_or_path": None}, "name_or_path must be a path, got None"),
    (peer_review.peer_review, {"battles": "b.jsonl"}, "battles must be a Battles, got 'b.jsonl'"),
    (peer_review.peer_review, {"battles": BATTLES, "method": 3}, "method must be text or None, got 3"),
    (peer_review.read_battles, {"paths": "b.jsonl"}, "paths must be a list of Path objects, got 'b.jsonl'"),
    (
        peer_review.Battles.from_columns,
        {"model_a": "xy", "model_b": ["y"], "winner": ["a"]},
        "model_a must be a list, got 'xy'",
    ),
]


def call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    result = function(**arguments)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    TABLE,
    ids=[f"{function.__name__}-{message.partition(',')[0]}" for function, _, message in TABLE],
)
def test_a_wrong_type_is_a_type_error_of_one_line(
    function: Callable[..., Any], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        call(function, arguments)
    assert str(caught.value) == message


def parameters() -> Iterator[tuple[Callable[..., Any], str, str]]:
    """Yield each parameter of each public function with its annotation."""
    for package in PACKAGES:
        for name in package.__all__:
            function = getattr(package, name)
            if inspect.isfunction(function):
                for parameter in inspect.signature(function).parameters.values():
                    yield function, parameter.name, parameter.annotation


WRONG = (None, 5, 1.5, "text", ["text"], {"a": 1}, object())


@pytest.mark.parametrize(
    ("function", "name", "annotation"),
    [*parameters()],
    ids=[f"{function.__name__}-{name}" for function, name, _ in parameters()],
)
def test_each_parameter_of_each_public_function_is_checked(
    function: Callable[..., Any], name: str, annotation: str
) -> None:
    kind = kind_of(annotation)
    refused = [value for value in WRONG if not kind.accepts(value)]
    assert refused or annotation == "object"
    for value in refused:
        with pytest.raises(TypeError, match=rf"^{name} must be [^\n]+, got [^\n]+$"):
            call(function, {name: value})


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_each_name_in_an_annotation_is_known(package: ModuleType) -> None:
    """An alias or a class that is in no table would not be checked."""
    known = {*CHOICES, *MEMBERS, *OTHERS, *_KINDS, *_LISTS, *CLASSES, "Any", "Awaitable", "Literal"}
    for name in package.__all__:
        value = getattr(package, name)
        function = value if inspect.isfunction(value) else getattr(value, "__init__", None)
        if not hasattr(function, "__wrapped__"):
            continue
        for parameter, annotation in function.__annotations__.items():
            nodes = ast.walk(ast.parse(str(annotation).strip("'\""), mode="eval"))
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            unknown = {name for name in names if name[0].isupper()} - known
            assert parameter == "return" or not unknown, (name, annotation)
