"""The input of rules and of clauses: what is detected once, and how their readings differ."""

from __future__ import annotations

from rows import each_row

from hengwen.judges.rules.rule import ClauseInput, RuleInput
from hengwen.prompts.rubric import RubricRules
from hengwen.records import Response, Sample


def inputs(text: str, **sample: object) -> tuple[RuleInput, ClauseInput]:
    record = Sample(**{"id": "1", "input": "3^7-6=?", **sample})
    response = Response(sample_id="1", text=text)
    return RuleInput(sample=record, response=response), ClauseInput(
        sample=record, response=response, rules=RubricRules()
    )


@each_row(
    ("text", "rule_text", "clause_text"),
    [
        ("<think>hm</think>\nyes", "yes", "\nyes"),
        ("<think>hm", "", ""),
        ("hm\n</think>\nyes", "yes", "hm\n</think>\nyes"),
    ],
    ids=["block", "open block", "only the end"],
)
def test_only_rules_remove_a_thought_without_an_opening_tag(text, rule_text, clause_text):
    assert tuple(answer.text for answer in inputs(text)) == (rule_text, clause_text)


@each_row(
    ("metadata", "verdicts"),
    [
        ({"number": 2181}, ("none", "wrong")),
        ({"answer": 2181}, (None, "wrong")),
        ({"number": 7}, ("right", "right")),
        ({}, (None, None)),
    ],
)
def test_only_clauses_count_numbers_of_the_question_and_read_the_key_answer(metadata, verdicts):
    numbers = [answer.number for answer in inputs("7?", metadata=metadata)]
    assert tuple(number and number.verdict for number in numbers) == verdicts


def test_a_part_is_computed_once(monkeypatch):
    from hengwen.judges.rules import rule as module

    texts: list[str] = []
    monkeypatch.setattr(module, "find_breakage", texts.append)
    answer, _ = inputs("yes")
    assert (answer.breakage, answer.breakage) == (None, None)
    assert texts == ["yes"]
