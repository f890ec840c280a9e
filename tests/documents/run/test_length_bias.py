"""A judge whose levels go with length is named; one that cannot be told is not."""

from __future__ import annotations

import random

from rows import each_row
from score_rows import by_score

from hengwen.documents.answers.sources import AnswerList, AnswerRecord
from hengwen.documents.run.judge_notes import LengthBiasDetector
from hengwen.records import Failure, Score


def answer(i, length, value, *, checkpoint="c", signature="s", human=None, name="j.level", kind="judge"):
    outcomes = [Score(name=name, value=value, signature=signature, kind=kind)]
    if human is not None:
        outcomes.append(Score(name=f"human.{name}", value=human, signature="h", kind="human"))
    return AnswerRecord(
        run_id=checkpoint,
        task="t",
        checkpoint=checkpoint,
        sample_id=str(i),
        repeat=1,
        input="?",
        text="字 " * length,
        outcomes=by_score(*outcomes),
    )


def length_findings(records):
    detector = LengthBiasDetector()
    for streamed in AnswerList(records).stream():
        detector.add(streamed)
    return detector.findings()


def noisy(i):
    return i + random.Random(i).uniform(-8, 8)


def test_a_lover_of_length_is_named_in_both_languages():
    (finding,) = length_findings([answer(i, i + 1, noisy(i)) for i in range(40)])
    assert (finding.address, finding.is_alarm) == ("t/j.level", False)
    assert finding.text.en.startswith("longer answers score higher: Spearman 0.9")
    assert "40 answers to 40 prompts" in finding.text.en
    assert finding.text.en.endswith("compare with human labels")
    assert finding.text.zh.startswith("回答越长，得分越高：Spearman 0.9")
    assert finding.text.zh.endswith("请与人工标注比较")


def test_a_lover_of_brevity_is_named_too():
    (finding,) = length_findings([answer(i, 50 - i, noisy(i)) for i in range(40)])
    assert finding.text.en.startswith("shorter answers score higher: Spearman -0.9")


def test_human_labels_stand_beside_where_there_are_some():
    rows = [answer(i, i + 1, noisy(i), human=float(-i) if i % 4 == 0 else None) for i in range(40)]
    (finding,) = length_findings(rows)
    assert "on the 10 answers with human labels it is 0.87 for the judge and -1.00" in finding.text.en
    assert finding.text.en.endswith("for the judge and -1.00 for the humans")


@each_row(
    "rows",
    [
        [],
        [answer(i, i + 1, 0.5) for i in range(40)],
        [answer(i, 7, noisy(i)) for i in range(40)],
        [answer(i % 9, i + 1, noisy(i)) for i in range(40)],
        [answer(i, random.Random(i).randrange(1, 99), random.Random(-i - 1).random()) for i in range(40)],
        [answer(i, i + 1, noisy(i), signature=f"s{i % 2}") for i in range(40)],
        [answer(i, i + 1, noisy(i), kind="scorer") for i in range(40)],
        [answer(i, i + 1, noisy(i), name="j.voice") for i in range(40)],
        [answer(i, i + 1, noisy(i), name="anchor.j.level") for i in range(40)],
    ],
    ids=[
        "nothing",
        "a constant judge",
        "answers of one length",
        "9 prompts",
        "no correlation",
        "a judge that changed",
        "a scorer",
        "a criterion",
        "anchors",
    ],
)
def test_where_nothing_can_be_told_nothing_is(rows):
    assert length_findings(rows) == []


def test_a_failure_is_no_point():
    failed = AnswerRecord(
        run_id="r",
        task="t",
        checkpoint="c",
        sample_id="x",
        repeat=1,
        input="?",
        text="字" * 900,
        outcomes=by_score(
            Failure(name="j.level", status="timeout", message="late", signature="s", kind="judge")
        ),
    )
    rows = [answer(i, i + 1, noisy(i)) for i in range(40)]
    assert length_findings([*rows, failed]) == length_findings(rows)
