"""Preference pairs: only raters who labelled both answers are compared."""

from __future__ import annotations

import pytest

from hengwen.labels.file import PAIR_FIELDS, preference_pairs
from hengwen.labels.queue import Question
from hengwen.prompts import load_rubric
from hengwen.records import Response, Sample
from hengwen.score_id import ScoreId


def question(text: str, checkpoint: str, *, sample: str = "a") -> Question:
    return Question(
        sample=Sample(id=sample, input="今天好吗？"),
        response=Response(task="live", sample_id=sample, checkpoint=checkpoint, text=text),
        rubric=load_rubric("muice_live"),
        score=ScoreId("live", "muice_live", "level"),
        persona="",
        drawn="",
    )


def test_a_pair_has_the_prompt_and_the_answer_that_raters_of_both_value_more() -> None:
    good, poor, other = question("好呀", "c1"), question("不好", "c2"), question("好呀", "c3")
    labels = [
        good.label(1.0, "ann"),
        poor.label(0.25, "ann"),
        good.label(0.5, "bob"),
        poor.label(0.75, "bob"),
        other.label(0.0, "cyd"),
    ]
    (pair,) = preference_pairs([poor, good, other], labels)
    assert tuple(pair) == PAIR_FIELDS
    assert pair == {
        "prompt": "今天好吗？",
        "chosen": "好呀",
        "rejected": "不好",
        "task": "live",
        "id": "a",
        "score": "muice_live.level",
        "chosen_model": "c1",
        "rejected_model": "c2",
        "margin": pytest.approx(0.25),
        "raters": 2,
        "contaminated_as_test": True,
    }


def test_there_is_no_pair_of_equal_values_equal_texts_other_prompts_or_changed_answers() -> None:
    first, equal, same = question("好呀", "c1"), question("不好", "c2"), question("好呀", "c3")
    elsewhere = question("很好", "c1", sample="b")
    labels = [item.label(value, "ann") for item, value in ((first, 1), (equal, 1), (same, 0), (elsewhere, 0))]
    pairs = list(preference_pairs([first, equal, same, elsewhere], labels))
    assert [(pair["chosen"], pair["rejected"]) for pair in pairs] == [("不好", "好呀")]
    changed = question("好呀！改了", "c1")
    assert not list(preference_pairs([changed, equal], [first.label(1, "ann"), equal.label(0, "ann")]))
