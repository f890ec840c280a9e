"""The plug-in: names, scales, signature, and what it says of a sample before anything is paid for."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pytest
from rows import each_row

from hengwen.objective.lyrics.rules import LyricOptions
from hengwen.objective.lyrics.scorer import Lyric
from hengwen.protocols import SampleValidator, Scorer
from hengwen.records import Response, Sample

TEMPLATE = "(verse)\nccR\nccR\nccc"
ANSWER = Response(sample_id="1", text="(verse)\n明月光\n望故乡\n起西风")


def sample(template: object = TEMPLATE) -> Sample:
    return Sample(id="1", metadata={} if template is None else {"template": template})


def test_it_is_a_scorer_that_checks_samples() -> None:
    assert isinstance(Lyric(), Scorer)
    assert isinstance(Lyric(), SampleValidator)


def test_every_name_gets_one_score_with_the_headline_first() -> None:
    scores = Lyric().score(sample(), ANSWER)
    assert [score.name for score in scores] == list(Lyric().names)
    assert Lyric().names[:3] == ["lyric.total", "lyric.base", "lyric.bonus"]
    assert [score.value for score in scores] == pytest.approx([110, 100, 10, 10, 32.5, 17.5, 20, 20])


def test_each_score_has_its_scale_its_signature_and_a_reason() -> None:
    scores = Lyric(rules="muchin").score(sample(), ANSWER)
    assert [score.scale.high for score in scores if score.scale] == [110, 100, 10, 10, 32.5, 17.5, 20, 20]
    assert {score.name: score.scale for score in scores} == Lyric(rules="muchin").scales
    assert {score.signature for score in scores} == {Lyric(rules="muchin").signature}
    assert all(score.reason for score in scores)


def test_the_headline_carries_every_number() -> None:
    details = Lyric().score(sample(), ANSWER)[0].details
    assert (details["p3_cr"], details["rc_ino"], details["msstr"]) == (1.0, 2, TEMPLATE)


def test_every_option_is_in_the_signature() -> None:
    options = [
        Lyric(),
        Lyric(rules="muchin"),
        Lyric(carry_phase1=True),
        Lyric(strict_count=True),
        Lyric(rhyme_scope="whole"),
        Lyric(parse="lenient"),
    ]
    assert len({scorer.signature for scorer in options}) == len(options)
    assert Lyric().signature == "lyric|rules:document|carry:no|strict:no|scope:matched|parse:exact|v:1"


@each_row(
    ("options", "message"),
    [
        ({"rules": "documents"}, "rules must be one of document, muchin"),
        ({"strict_count": 1}, "strict_count must be true or false, got 1"),
        ({"parse": None}, "parse must be exact or lenient, got None"),
    ],
)
def test_a_bad_option_fails_where_the_scorer_is_made(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Lyric(**options)


@each_row(
    ("template", "message"),
    [
        (None, "sample '1' has no template"),
        (" \n", "the template of sample '1' is empty"),
        (3, "the template of sample '1' must be a string, got int"),
    ],
)
def test_a_sample_without_template_can_never_be_scored(template: object, message: str) -> None:
    for act in (Lyric().check_sample, lambda bad: Lyric().score(bad, ANSWER)):
        with pytest.raises(ValueError, match=message):
            act(sample(template))


def test_a_template_without_sections_is_warned_of() -> None:
    assert any("no section tag" in warning for warning in Lyric().check_sample(sample("ccR\nccR")))
    assert list(Lyric().check_sample(sample())) == []


def test_its_fields_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Lyric().rules = "muchin"  # type: ignore[misc]


def test_options_are_checked_once_and_not_for_every_response(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = Lyric(rules={"reading": "document", "band_low": 0.5})

    def fail(_: object) -> None:
        raise AssertionError("the options are checked again")

    monkeypatch.setattr(LyricOptions, "__post_init__", fail)
    assert scorer.score(sample(), ANSWER)[0].value == pytest.approx(110)


def test_equal_options_make_equal_scorers_that_can_be_pickled() -> None:
    scorer = Lyric(rules="muchin")
    assert scorer == Lyric(rules="muchin") != Lyric()
    assert pickle.loads(pickle.dumps(scorer)).signature == scorer.signature
