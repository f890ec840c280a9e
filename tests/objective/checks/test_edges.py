"""Edges of the small checks: fences, words of any kind, counts, and the defaults of each option."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen import registry
from hengwen.objective import checks
from hengwen.objective.checks import parse_strings
from hengwen.records import Response, Sample

SAMPLE = Sample(id="1", references=("2181", " 七"), metadata={"must": ["ＯＫ", "月"], "one": "月"})


def score(name: str, options: dict, text: str):
    return registry.build("scorers", name, options).score(SAMPLE, Response(sample_id="1", text=text))[0]


@each_row(
    ("name", "defaults"),
    [
        ("exact", {"normalize": "strip"}),
        ("contains", {"field": "", "every": True, "normalize": "none"}),
        ("regex", {"whole": False, "absent": False, "seconds": 1.0}),
        ("json_valid", {"keys": (), "fenced": False}),
        ("length", {"least": None, "most": None, "unit": "characters"}),
    ],
)
def test_scorers_have_documented_defaults(name: str, defaults: dict[str, object]) -> None:
    required = {"contains": {"words": "a"}, "regex": {"pattern": "a"}}.get(name, {})
    scorer = registry.build("scorers", name, required)
    assert {option: getattr(scorer, option) for option in defaults} == defaults


@each_row(
    ("name", "options", "signature"),
    [
        ("exact", {"normalize": "fold"}, "exact|normalize:fold|v:1"),
        ("contains", {"field": "must"}, "contains|field:must|every:yes|normalize:none|v:1"),
        ("contains", {"field": "must", "every": False}, "contains|field:must|every:no|normalize:none|v:1"),
        ("json_valid", {}, "json_valid|keys:any|fenced:no|v:1"),
        ("json_valid", {"keys": [], "fenced": True}, "json_valid|keys:any|fenced:yes|v:1"),
        ("length", {}, "length|least:None|most:None|unit:characters|tok:mixed|v:1"),
    ],
)
def test_every_setting_is_in_the_signature(name: str, options: dict, signature: str) -> None:
    scorer = registry.build("scorers", name, options)
    assert scorer.signature == signature
    assert score(name, options, "OK").signature == signature


def test_patterns_words_and_keys_are_in_the_signature_as_digests() -> None:
    def parts(name: str, options: dict) -> list[str]:
        return registry.build("scorers", name, options).signature.split("|")

    for name, option in (("contains", "words"), ("json_valid", "keys"), ("regex", "pattern")):
        first, same, other = (parts(name, {option: value}) for value in ("a", "a", "b"))
        assert first == same != other
        assert first[1].startswith(f"{option}:")
        assert len(first[1]) == len(option) + 13
    assert parts("regex", {"pattern": "a", "whole": True})[2:] == ["whole:yes", "absent:no", "v:1"]
    assert parts("regex", {"pattern": "a", "absent": True})[2:] == ["whole:no", "absent:yes", "v:1"]
    assert parts("contains", {"words": "a"}) == parts("contains", {"words": ["a"]})


@each_row(
    ("name", "options", "text", "value", "reason"),
    [
        ("exact", {}, "七 ", 1, ""),
        ("exact", {"normalize": "none"}, " 七", 1, ""),
        ("exact", {"normalize": "none"}, "七", 0, "equals no reference"),
        ("exact", {}, "21", 0, "equals no reference"),
        ("contains", {"words": ["月", "星"], "every": False}, "海", 0, "absent: 月, 星"),
        ("contains", {"words": ["月", "星"], "every": False}, "星", 1, "absent: 月"),
        ("contains", {"words": ["月", "星"]}, "星月", 1, ""),
        ("contains", {"words": ("月",)}, "月", 1, ""),
        ("contains", {"field": "must", "normalize": "fold"}, "ok 月", 1, ""),
        ("contains", {"field": "must"}, "ok 月", 0, "absent: ＯＫ"),
        ("contains", {"field": "one"}, "月", 1, ""),
        ("contains", {"words": "月，亮", "normalize": "words"}, "月！亮", 1, ""),
        ("regex", {"pattern": "a+", "whole": True}, "aa", 1, "a+ is found"),
        ("regex", {"pattern": "a+", "whole": True, "absent": True}, "aab", 1, "a+ is not found"),
        ("regex", {"pattern": "a+", "absent": True}, "aab", 0, "a+ is found"),
        ("json_valid", {"keys": "a"}, "7", 0, "the value is not an object"),
        ("json_valid", {}, "7", 1, ""),
        ("json_valid", {}, "Infinity", 0, "Infinity is not JSON"),
        ("json_valid", {"keys": ["b", "a"]}, "{}", 0, "the key 'b' is missing"),
    ],
)
def test_passes_and_reasons(name: str, options: dict, text: str, value: int, reason: str) -> None:
    result = score(name, options, text)
    assert (result.name, result.value, result.reason) == (f"{name}.match", value, reason)
    assert result.scale.levels == (0, 1)


@each_row(
    ("text", "passes"),
    [
        ("```json\n7\n```", True),
        ("\n```\n{\n}\n ``` \n", True),
        ("7", True),
        ("```\n```", False),
        ("```7\n```", False),
        ("7\n8\n```", False),
        ("```\n7\n8", False),
        ("```\n7\n```\n8", False),
        ("```\n7", False),
        ("``\n7\n```", False),
    ],
)
def test_one_fence_around_the_whole_text_may_be_allowed(text: str, passes: bool) -> None:
    assert (checks.json_fault(text, fenced=True) is None) == passes
    assert (checks.json_fault(text) is None) == (text == "7")


def test_functions_have_documented_defaults() -> None:
    assert checks.exact(" a ", ["a"])
    assert checks.matches("ba", "a")
    assert not checks.matches("ba", "a", whole=True)


@each_row(
    ("text", "normalize", "expected"),
    [
        (" Ａ！ ", "none", " Ａ！ "),
        (" Ａ！ ", "strip", "Ａ！"),
        (" Ａ！ ", "fold", "a!"),
        (" Ａ！ ", "words", "a"),
    ],
)
def test_each_normalization(text: str, normalize: str, expected: str) -> None:
    assert checks.normalized(text, normalize) == expected
    assert checks.exact(text, [expected], normalize=normalize)


@each_row(
    ("value", "strings"), [("a", ("a",)), (["a", "b"], ("a", "b")), (("a",), ("a",)), ([], ()), ("", ("",))]
)
def test_a_string_is_a_list_of_one(value: object, strings: tuple[str, ...]) -> None:
    assert parse_strings(value, "x") == strings


@each_row("value", [None, 7, {"a": 1}, {"a"}, [None], ["a", 7]])
def test_anything_else_is_no_list_of_strings(value: object) -> None:
    with pytest.raises(ValueError, match="^x must be a list of strings, got "):
        parse_strings(value, "x")


@each_row(
    ("options", "names"),
    [
        ({}, ["length.characters", "length.words"]),
        ({"least": 0}, ["length.within", "length.characters", "length.words"]),
        ({"most": 0}, ["length.within", "length.characters", "length.words"]),
    ],
)
def test_a_bound_adds_a_score(options: dict, names: list[str]) -> None:
    assert list(registry.build("scorers", "length", options).names) == names


@each_row(
    ("options", "text", "within"),
    [
        ({"least": 2}, "你", 0),
        ({"least": 2}, "你 好", 1),
        ({"most": 2}, "你 好", 1),
        ({"most": 2}, "你好吗", 0),
        ({"most": 0}, "", 1),
        ({"least": 2, "most": 3}, "你好吗啊", 0),
        ({"least": 2, "unit": "words"}, "hello", 0),
        ({"least": 2, "unit": "words"}, "hello, you", 1),
        ({"most": 2, "unit": "words"}, "hello, you", 1),
    ],
)
def test_both_bounds_are_within(options: dict, text: str, within: int) -> None:
    result = score("length", options, text)
    assert (result.name, result.value) == ("length.within", within)
