"""Checkpoints with empty answers are named, a rare empty answer is not."""

from __future__ import annotations

from rows import each_row

from hengwen.documents.answers.blocks import AnswerFilter
from hengwen.documents.answers.source import AnswerList, AnswerRecord
from hengwen.documents.run.empty_answers import EmptyAnswerCounter
from hengwen.documents.run.findings import Finding


def findings(checkpoint: str, empty: int, total: int) -> list[Finding]:
    counter = EmptyAnswerCounter()
    records = [
        AnswerRecord(
            run_id="r",
            task="t",
            checkpoint=checkpoint,
            sample_id=f"p{i}",
            repeat=1,
            input="?",
            text=" \n" if i < empty else "山水",
            outcomes={},
        )
        for i in range(total)
    ]
    for answer in AnswerList(records).stream():
        counter.add(answer)
    return counter.findings()


def test_more_than_two_in_a_hundred_empty_answers_are_an_alarm_in_both_languages() -> None:
    (finding,) = findings("step-2", 12, 60)
    assert finding.is_alarm
    assert finding.text.en.startswith("12 of 60 answers of step-2 are empty")
    assert finding.text.zh.startswith("step-2 的 60 个回答中有 12 个是空的")


def test_the_number_of_empty_answers_leads_to_them() -> None:
    (finding,) = findings("step-2", 12, 60)
    assert finding.link is not None
    for text, part in zip(finding.text, finding.link.text, strict=True):
        assert part in text
    assert finding.link.rows == AnswerFilter("step-2", "t", status="empty")


@each_row(("empty", "total"), [(0, 60), (1, 50), (2, 100)])
def test_a_rare_empty_answer_is_not_reported(empty: int, total: int) -> None:
    assert findings("c", empty, total) == []
