"""The thought before an answer: opened or not, closed or not."""

from __future__ import annotations

from rows import each_row

from hengwen.objective.detectors import after_thinking, answer_without_thinking, strip_thinking


@each_row(
    ("text", "rest"),
    [
        ("yes", "yes"),
        ("<think>hm</think> yes", " yes"),
        ("\n <THINKING>hm</Thinking>yes", "yes"),
        ("<think>a</think>b</think>c", "b</think>c"),
        ("<think></think>", ""),
        ("<think>hm", None),
        ("</think><think>hm", "</think><think>hm"),
        ("say <think>hm</think>", "say <think>hm</think>"),
    ],
)
def test_only_a_leading_thought_is_removed(text: str, rest: str | None) -> None:
    assert strip_thinking(text) == rest


@each_row(
    ("text", "rest"),
    [
        ("hm</think>yes", "yes"),
        ("a</think>b</thinking>c", "c"),
        ("</THINK>", ""),
        ("yes", None),
        ("a </b> c", None),
        ("<think>hm", None),
    ],
)
def test_an_answer_begins_after_the_last_closing_tag(text: str, rest: str | None) -> None:
    assert after_thinking(text) == rest


@each_row(
    ("text", "answer"),
    [
        (" yes", " yes"),
        (" a < b", " a < b"),
        ("<think>hm</think>\n\n yes \n", "yes \n"),
        ("<think>hm", None),
        ("hm</think>\nyes", "yes"),
        ("hm</think> \t\r\n\n yes", "yes"),
        ("hm</think>", ""),
        (" the tag </think> closes", " the tag </think> closes"),
        ("</think> is a tag\nhm\n</think>\nyes", "yes"),
        ("<think>a</think>b</think>\nc", "b</think>\nc"),
    ],
)
def test_the_answer_is_what_follows_the_thought(text: str, answer: str | None) -> None:
    assert answer_without_thinking(text) == answer
