"""The packaged cases are good answers, and every degraded copy is worse in a known way."""

from __future__ import annotations

import asyncio
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.judges import RulesJudge
from hengwen.judges.trust.admission_plan import (
    DEGRADATIONS,
    DUPLICATE_COUNT,
    MIN_CUT_LENGTH,
    TRUNCATED_SHARE,
    degrade,
    load_cases,
)
from hengwen.objective.detectors import find_markup
from hengwen.objective.duplicates.similarity import similarity
from hengwen.prompts import load_rubric
from hengwen.records import Response, Sample

CASES = load_cases()
ANSWERS = [
    pytest.param(character, key, language, id=f"{character.id}.{key}.{language}")
    for character in CASES.personas
    for key in character.answers
    for language in ("zh", "en")
]


def test_every_character_answers_every_question():
    for character in CASES.personas:
        assert list(character.answers) == list(CASES.inputs)
    texts = [
        text
        for character in CASES.personas
        for answer in character.answers.values()
        for text in (answer.zh, answer.en)
    ]
    assert len(set(texts)) == len(texts) == 16


@each_row(("character", "key", "language"), ANSWERS)
def test_an_answer_is_in_its_language_and_long_enough_to_degrade(character, key, language):
    text = character.answers[key].in_language(language)
    assert bool(re.search("[\u4e00-\u9fff]", text)) == (language == "zh")
    assert all(degrade(text, how, language) for how in DEGRADATIONS)
    assert not find_markup(text)


@pytest.mark.slow
@each_row("rubric", ["persona_generic", "muice_live", "muice_new_topic"])
@each_row(("character", "key", "language"), ANSWERS)
def test_no_rule_caps_an_answer(rubric, character, key, language):
    judge = RulesJudge(rubric=load_rubric(rubric))
    sample = Sample(id="1", input=CASES.inputs[key].in_language(language))
    answer = Response(sample_id="1", text=character.answers[key].in_language(language))
    level = asyncio.run(judge.judge(sample, answer)).outcomes[0]
    assert level.details["caps"] == {}


def test_the_same_question_is_answered_quite_differently():
    first, second = CASES.personas
    for key in CASES.inputs:
        for language in ("zh", "en"):
            texts = [character.answers[key].in_language(language) for character in (first, second)]
            assert similarity(*texts) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "en"])
@settings(deadline=None, max_examples=200)
@given(text=st.text(max_size=60) | st.text(alphabet="山水 a。\n{}", max_size=60))
def test_a_copy_is_another_text_the_same_each_time_or_none(language, text):
    for how in DEGRADATIONS:
        copy = degrade(text, how, language)
        assert copy == degrade(text, how, language)
        assert copy != text
        if not text.strip():
            assert copy is None
        elif how in ("duplicated", "labelled"):
            assert text in copy


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(text=st.text(alphabet="山水人家,。 ab", min_size=1, max_size=80))
def test_what_each_copy_is(text):
    short = len("".join(text.split())) < MIN_CUT_LENGTH
    for how in ("truncated", "scrambled"):
        assert not (short and degrade(text, how))
    if (cut := degrade(text, "truncated")) is not None:
        assert text.strip().startswith(cut)
        assert len(cut) <= TRUNCATED_SHARE * len(text.strip())
    if (mixed := degrade(text, "scrambled")) is not None:
        assert Counter("".join(mixed.split())) == Counter("".join(text.split()))
    if text.strip():
        assert degrade(text, "duplicated").count(text) >= DUPLICATE_COUNT
        assert degrade(text, "off_topic") == CASES.off_topic.zh
        assert find_markup(degrade(text, "labelled"))


def test_the_other_text_is_good_writing_about_something_else():
    for language in ("zh", "en"):
        text = CASES.off_topic.in_language(language)
        assert len(text) > 40
        assert degrade(text, "off_topic", language) is None, "it is no worse copy of itself"


def test_the_hash_follows_the_cases():
    other = CASES.model_copy(update={"version": CASES.version + 1})
    assert other.hash != CASES.hash
    assert re.fullmatch("[0-9a-f]{8}", CASES.hash)
