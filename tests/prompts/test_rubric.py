"""Rubric files: what is read, what is refused and where."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from rows import each_row

from hengwen.errors import ConfigError
from hengwen.judges.rules.judge import CLAUSES_BY_NAME
from hengwen.prompts import Rubric, load_rubric
from hengwen.prompts.rubric import CLAUSES, ClauseName, packaged_rubrics
from hengwen.records import Scale

GOOD = """\
name: tone
version: 3
title: {zh: 语气, en: Tone}
instructions: {zh: 只看语气, en: Look at the tone}
levels:
  5: {label: good, zh: 好, en: fine}
  1: {label: bad, zh: 差, en: poor}
  3: {label: so-so, zh: 中, en: mixed}
criteria:
  warmth: {zh: 温度, en: warmth}
  wit: {zh: 机智, en: wit}
examples:
  - {input: hi, response: {zh: 嗨, en: hey}, level: 5, reason: warm}
uses: [input, response]
rules:
  plain_text: true
  length: {min: 2, max: 9}
  criteria: {warmth: [taboo, markers]}
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "tone.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_file_becomes_a_rubric_with_levels_in_ascending_order(write):
    rubric = load_rubric(write(GOOD))
    assert rubric.scale == Scale(low=1, high=5, levels=(1, 3, 5))
    assert rubric.labels == {"bad": 1, "so-so": 3, "good": 5}
    assert list(rubric.criteria) == ["warmth", "wit"]
    assert rubric.examples[0].input.zh == rubric.examples[0].input.en == "hi"
    assert (rubric.better_than_reference, rubric.rules.length.max) == (False, 9)


def test_the_hash_ignores_the_order_of_keys_and_the_rules_but_no_text(write):
    first = load_rubric(write(GOOD)).hash
    assert re.fullmatch(r"[0-9a-f]{8}", first)
    moved = GOOD.replace("  5: {label: good, zh: 好, en: fine}\n", "")
    moved = moved.replace("levels:\n", "levels:\n  5.0: {en: fine, zh: 好, label: good}\n")
    assert load_rubric(write(moved)).hash == first
    assert load_rubric(write(GOOD.replace("max: 9", "max: 8"))).hash == first
    for old, new in [
        ("fine", "Fine"),
        ("version: 3", "version: 4"),
        ("机智", "幽默"),
        ("label: bad", "label: b"),
    ]:
        assert load_rubric(write(GOOD.replace(old, new))).hash != first


def test_number_labels_and_negative_levels_are_fine(write):
    text = GOOD.replace("5: {label: good", "2.5: {label: 5").replace("1: {label: bad", "-1: {label: 1")
    rubric = load_rubric(write(text.replace("level: 5", "level: 2.5")))
    assert rubric.labels == {"1": -1, "5": 2.5, "so-so": 3}


@each_row(
    ("old", "new", "line", "message"),
    [
        ("version: 3", "versoin: 3", 2, "unknown key 'versoin'; did you mean 'version'?"),
        ("version: 3", "version: 0", 2, "greater than or equal to 1"),
        ("name: tone", "name: 'to ne'", 1, "a name starts with a letter"),
        ("label: bad", "label: Good", 5, "label 'Good' is used twice"),
        ("label: bad", "label: ''", 7, "a label has 1 to 20 characters"),
        ("label: bad", "label: no", 7, "valid string"),
        ("1: {label: bad", "x: {label: bad", 7, "a level must be a number, got 'x'"),
        ("1: {label: bad", "yes: {label: bad", 7, "a level must be a number, got 'yes'"),
        ("1: {label: bad", "5.0: {label: bad", 5, "two keys are the same number"),
        ("1: {label: bad", ".nan: {label: bad", 7, "input should be a valid number"),
        ("1: {label: bad", "1.0e+400: {label: bad", 5, "level inf is not finite"),
        ("zh: 差, en: poor", "zh: 差", 7, "levels.1.en: field required"),
        ("zh: 差, en: poor", "zh: 差, en: ' '", 7, "a text is empty"),
        ("level: 5", "level: 4", 1, "example 1 has level 4, which is none of 1, 3, 5"),
        ("uses: [input, response]", "uses: [input, answer]", 14, "uses.1"),
        ("uses: [input, response]", "uses: [input]", 1, "uses must name 'response'"),
        ("  wit:", "  level:", 1, "may not be called 'level'"),
        ("taboo, markers", "tabu, markers", 18, "unknown clause 'tabu'; did you mean 'taboo'?"),
        ("{warmth: [taboo", "{warmht: [taboo", 1, "no criterion; did you mean 'warmth'?"),
        ("min: 2", "min: 20", 17, "length.min 20 is above length.max 9"),
        ("uses:", "levels: {}\nuses:", 14, "key 'levels' repeats, first seen on line 5"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, old, new, line, message):
    assert old in GOOD
    path = write(GOOD.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_rubric(path)
    assert str(caught.value).startswith(f"{path}:{line}:")
    assert message in str(caught.value)


def test_one_level_is_no_scale(write):
    text = re.sub(r"  [13]: .*\n", "", GOOD)
    with pytest.raises(ConfigError, match="at least 2 items"):
        load_rubric(write(text))


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "levels: 5\n", "levels:\n"])
def test_what_is_no_rubric_at_all_is_refused(write, text):
    with pytest.raises(ConfigError):
        load_rubric(write(text))


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown rubric 'lyric_crft'; did you mean 'lyric_craft'\?"):
        load_rubric("lyric_crft")


@each_row("name", ["../rubrics/lyric_craft", "lyric_craft.yaml"])
def test_a_name_is_no_path(name):
    with pytest.raises(ConfigError):
        load_rubric(name)


@each_row("name", packaged_rubrics())
def test_a_packaged_rubric_is_complete_in_both_languages(name):
    rubric = load_rubric(name)
    assert isinstance(rubric, Rubric)
    assert rubric.name == name
    texts = [rubric.title, rubric.instructions, *rubric.levels.values(), *rubric.criteria.values()]
    texts += [
        text for example in rubric.examples for text in (example.input, example.response, example.reason)
    ]
    for text in texts:
        assert re.search(r"[\u4e00-\u9fff]", text.zh)
        assert not re.search(r"[\u4e00-\u9fff]", text.en)
    assert len({level.zh for level in rubric.levels.values()}) == len(rubric.levels)
    assert len({level.en for level in rubric.levels.values()}) == len(rubric.levels)
    assert 2 <= len(rubric.examples) <= 3


@each_row("name", ["lyric_craft", "persona_generic"])
def test_the_packaged_rubrics_share_the_quarter_scale(name):
    assert load_rubric(name).labels == {"E": 0, "D": 0.25, "C": 0.5, "B": 0.75, "A": 1}


def test_every_clause_that_a_rubric_may_name_exists():
    assert set(CLAUSES) == set(get_args(ClauseName)) == set(CLAUSES_BY_NAME)


def test_a_rubric_in_one_language_is_the_rubric_with_that_text_twice(write):
    both = "name: wit\nversion: 1\ntitle: {zh: T, en: T}\ninstructions: {zh: J, en: J}\n"
    both += "levels:\n  0: {label: a, zh: bad, en: bad}\n  1: {label: b, zh: good, en: good}\n"
    both += "criteria: {tone: {zh: tone, en: tone}}\n"
    complete = load_rubric(write(both))
    english = re.sub(r"zh: \w+, ", "", both)
    only_english = load_rubric(write(english))
    plain_text = load_rubric(write(re.sub(r"\{en: (\w+)\}", r"\1", english)))
    assert not complete.is_in_one_language
    for rubric in (only_english, plain_text):
        assert rubric.is_in_one_language
        assert (rubric.model_dump(), rubric.hash) == (complete.model_dump(), complete.hash)


def test_a_text_that_only_one_level_lacks_is_a_mistake(write):
    with pytest.raises(ConfigError, match=r":7: levels.1.zh: field required"):
        load_rubric(write(GOOD.replace("zh: 差, en: poor", "en: poor")))


def test_a_plain_text_stands_for_both_languages_beside_texts_in_two(write):
    plain = GOOD.replace("{zh: 语气, en: Tone}", "Tone").replace("{zh: 温度, en: warmth}", "warmth")
    twice = GOOD.replace("zh: 语气", "zh: Tone").replace("温度", "warmth")
    rubric = load_rubric(write(plain))
    assert rubric.hash == load_rubric(write(twice)).hash
    assert not rubric.is_in_one_language
