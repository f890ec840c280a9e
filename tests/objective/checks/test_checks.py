"""The small checks, and their plug-ins."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen import registry
from hengwen.engine.evaluate import ScorerEvaluator
from hengwen.engine.job import Item
from hengwen.errors import ConfigError
from hengwen.objective import checks
from hengwen.protocols import Scorer
from hengwen.records import Response, Sample

SAMPLE = Sample(id="1", references=("2181",), metadata={"must": ["主人", "月亮"]})


@each_row(
    ("name", "options", "text", "value"),
    [
        ("exact", {}, " 2181\n", 1),
        ("exact", {}, "2181。", 0),
        ("exact", {"normalize": "words"}, "２１８１。", 1),
        ("exact", {"normalize": "none"}, "2181 ", 0),
        ("contains", {"words": ["月亮", "星星"]}, "月亮和星星", 1),
        ("contains", {"words": ["月亮", "星星"]}, "月亮", 0),
        ("contains", {"words": ["月亮", "星星"], "every": False}, "月亮", 1),
        ("contains", {"words": "OK", "normalize": "fold"}, "ｏｋ！", 1),
        ("contains", {"field": "must"}, "主人，月亮", 1),
        ("contains", {"field": "must"}, "", 0),
        ("regex", {"pattern": r"^\d{4}$"}, "2181", 1),
        ("regex", {"pattern": r"\d", "whole": True}, "2181", 0),
        ("regex", {"pattern": r"作为(一个)?AI", "absent": True}, "作为AI，我", 0),
        ("json_valid", {}, '{"a": [1, 2.5e3, null]}', 1),
        ("json_valid", {}, "", 0),
        ("json_valid", {}, '{"a": NaN}', 0),
        ("json_valid", {}, "1" * 5000, 1),
        ("json_valid", {"keys": ["a"]}, '{"b": 1}', 0),
        ("json_valid", {"keys": ["a"]}, "[1]", 0),
        ("json_valid", {}, '```json\n{"a": 1}\n```', 0),
        ("json_valid", {"fenced": True}, '```json\n{"a": 1}\n```', 1),
        ("length", {"most": 4}, "你好， OK", 0),
        ("length", {"least": 5, "most": 5}, "你好， OK", 1),
        ("length", {"unit": "words", "most": 3}, "你好， OK", 1),
        ("length", {"least": 1}, " \n", 0),
        ("length", {"least": 0}, " \n", 1),
        ("length", {"most": 4}, "", 1),
    ],
)
def test_an_answer_passes_or_does_not(name: str, options: dict, text: str, value: int) -> None:
    scorer = registry.build("scorers", name, options)
    assert isinstance(scorer, Scorer)
    outcomes = ScorerEvaluator(scorer).score(Item.build(SAMPLE, Response(sample_id="1", text=text)))
    assert [outcome.name for outcome in outcomes] == list(scorer.names)
    assert outcomes[0].value == value
    assert outcomes[0].scale.levels == (0, 1)
    assert {outcome.signature for outcome in outcomes} == {scorer.signature}


def test_a_length_without_bounds_is_two_counts() -> None:
    scores = registry.build("scorers", "length", {}).score(SAMPLE, Response(sample_id="1", text="你好， OK"))
    assert {score.name: score.value for score in scores} == {"length.characters": 5, "length.words": 3}


LENGTHS = [("length.characters", 5.0, None, ""), ("length.words", 3.0, None, "")]


@each_row(
    ("options", "within", "reason", "bounds"),
    [
        ({"least": 0}, 1.0, "5 characters", "least:0|most:None|unit:characters"),
        ({"least": 5}, 1.0, "5 characters", "least:5|most:None|unit:characters"),
        ({"least": 6}, 0.0, "5 characters", "least:6|most:None|unit:characters"),
        ({"most": 5}, 1.0, "5 characters", "least:None|most:5|unit:characters"),
        ({"most": 0}, 0.0, "5 characters", "least:None|most:0|unit:characters"),
        ({"least": 3, "most": 3, "unit": "words"}, 1.0, "3 words", "least:3|most:3|unit:words"),
        ({"least": 4, "unit": "words"}, 0.0, "3 words", "least:4|most:None|unit:words"),
    ],
)
def test_every_field_of_the_scores_of_a_bounded_length(
    options: dict, within: float, reason: str, bounds: str
) -> None:
    scorer = registry.build("scorers", "length", options)
    scores = scorer.score(SAMPLE, Response(sample_id="1", text="你好， OK"))
    assert [
        (score.name, score.value, score.scale and score.scale.levels, score.reason) for score in scores
    ] == [("length.within", within, (0, 1), reason), *LENGTHS]
    assert {score.signature for score in scores} == {f"length|{bounds}|tok:mixed|v:1"}


@each_row(
    ("options", "message"),
    [
        ({"least": -1}, r"\bleast must be"),
        ({"most": -1}, r"\bmost must be"),
        ({"most": 1.5}, r"\bmost must be"),
        ({"least": True}, r"\bleast must be"),
        ({"unit": "bytes"}, "unit must be characters or words, got 'bytes'"),
    ],
)
def test_a_wrong_bound_of_a_length_is_named(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=f"scorer 'length': .*{message}"):
        registry.build("scorers", "length", options)


@each_row(
    ("name", "options", "text", "reason"),
    [
        ("exact", {}, "2181", ""),
        ("exact", {}, "7", "equals no reference"),
        ("contains", {"words": ["月亮", "星星", "主人"]}, "月亮", "absent: 星星, 主人"),
        ("contains", {"words": ["月亮"]}, "月亮", ""),
        ("regex", {"pattern": r"\d"}, "1", r"\d is found"),
        ("regex", {"pattern": r"\d", "absent": True}, "x", r"\d is not found"),
        ("json_valid", {}, '{"a": NaN}', "NaN is not JSON"),
        ("json_valid", {"keys": "a"}, "[1]", "the value is not an object"),
        ("json_valid", {"keys": ["a", "b"]}, '{"a": 1}', "the key 'b' is missing"),
        ("json_valid", {"keys": ["a"]}, '{"a": 1}', ""),
    ],
)
def test_the_reason_says_why_an_answer_does_not_pass(
    name: str, options: dict, text: str, reason: str
) -> None:
    (score,) = registry.build("scorers", name, options).score(SAMPLE, Response(sample_id="1", text=text))
    assert score.reason == reason


@each_row(("seconds", "message"), [(0, "got 0"), (-1, "got -1"), (60.5, "got 60.5")])
def test_the_seconds_of_a_pattern_are_at_most_sixty(seconds: float, message: str) -> None:
    with pytest.raises(ConfigError, match=f"seconds must be above 0 and at most 60, {message}"):
        registry.build("scorers", "regex", {"pattern": "a", "seconds": seconds})
    assert registry.build("scorers", "regex", {"pattern": "a", "seconds": 60}).seconds == 60


@each_row("pattern", ["", 7, None])
def test_a_pattern_is_a_string_that_is_not_empty(pattern: object) -> None:
    with pytest.raises(ConfigError, match=f"pattern must be a regular expression, got {pattern!r}"):
        registry.build("scorers", "regex", {"pattern": pattern})


@pytest.mark.slow
def test_a_pattern_that_backtracks_is_stopped_after_its_seconds() -> None:
    """Without the limit this match would never end: the work doubles with every character or two."""
    scorer = registry.build("scorers", "regex", {"pattern": r"(a|aa)+$", "seconds": 0.2})
    (failure,) = ScorerEvaluator(scorer).score(
        Item.build(SAMPLE, Response(sample_id="1", text="a" * 5000 + "b"))
    )
    assert "took longer than 0.2 s on a text of 5001 characters" in failure.message


def test_json_that_is_nested_too_deep_is_a_failure() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        checks.json_fault("[" * 100_000)


def test_samples_that_can_never_pass_are_refused_ahead() -> None:
    with pytest.raises(ValueError, match="there is no reference"):
        registry.build("scorers", "exact", {}).check_sample(Sample(id="2"))
    with pytest.raises(ValueError, match="words must be one or more"):
        registry.build("scorers", "contains", {"field": "must"}).check_sample(Sample(id="2"))
    with pytest.raises(ValueError, match="metadata 'must' of sample '2' must be a list of strings, got 7"):
        registry.build("scorers", "contains", {"field": "must"}).check_sample(
            Sample(id="2", metadata={"must": 7})
        )


@each_row(
    ("name", "options", "message"),
    [
        ("exact", {"normalize": "all"}, "normalize must be none, strip, fold or words, got 'all'"),
        ("contains", {}, "needs either words or field"),
        ("contains", {"words": [""]}, "none of them empty"),
        ("regex", {"pattern": "("}, r"pattern '\(' is not a regular expression"),
        ("regex", {"pattern": "a", "seconds": 0}, "seconds must be above 0"),
        ("json_valid", {"keys": 3}, "keys must be a list of strings, got 3"),
        ("length", {"least": 5, "most": 4}, "least must not be above most, got 5 and 4"),
        ("length", {"unit": "bytes"}, "unit must be characters or words"),
    ],
)
def test_wrong_options_name_the_plugin(name: str, options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=f"scorer '{name}': .*{message}"):
        registry.build("scorers", name, options)


def test_the_signature_tells_lists_apart() -> None:
    signatures = {
        registry.build("scorers", "contains", {"words": words}).signature
        for words in ("a", ["b"], ["a", "b"])
    }
    assert len(signatures) == 3


@each_row(
    ("normalize", "text"),
    [("none", " ＯＫ！\n"), ("strip", "ＯＫ！"), ("fold", "ok!"), ("words", "ok")],
)
def test_each_normalization_leaves_less_of_a_text(normalize: str, text: str) -> None:
    assert checks.normalized(" ＯＫ！\n", normalize) == text


@each_row("words", [[], [""], ["a", ""]])
def test_a_search_needs_words_that_are_not_empty(words: list[str]) -> None:
    with pytest.raises(ValueError, match="^words must be one or more, none of them empty$"):
        checks.Contains(field="words").check_sample(Sample(id="1", metadata={"words": words}))


@each_row("pattern", ["(?R)?a", "(a(?1)?b)", "(?P<x>a(?&x)?)", "((a{1000}){1000}){1000}", "a" * 10_001])
def test_a_pattern_that_could_take_all_memory_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is too costly: at most 10,000 characters"):
        checks.matches("aaa", pattern)


def test_usual_repetitions_are_allowed() -> None:
    assert checks.matches("2026-11-22 12:00", r"\d{4}-\d{2}-\d{2} .{2,500}")
