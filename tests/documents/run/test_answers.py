"""Which answers are shown."""

from __future__ import annotations

from score_rows import by_score, score_of

from hengwen.documents.run.answers import (
    FAILED,
    HIGHEST,
    LOWEST,
    MAX_CANDIDATES,
    TEXT_LIMIT,
    AnswerList,
    AnswerPicker,
    AnswerRecord,
)
from hengwen.records import Failure, Score


def answer(i, value, task="t", checkpoint="c", text="词"):
    outcome = (
        Failure(name="a.x", status="timeout", message="late", signature="a")
        if value is None
        else Score(name="a.x", value=value, signature="a", reason="why")
    )
    return AnswerRecord(
        task=task,
        checkpoint=checkpoint,
        sample_id=f"s{i}",
        repeat=1,
        input="题",
        text=text,
        outcomes=by_score(outcome, task=task),
    )


def groups_of(answers, headlines, tasks=(), checkpoints=()):
    source, picker = (
        AnswerList(answers),
        AnswerPicker({task: score_of(name, task) for task, name in headlines.items() if name}),
    )
    for streamed in source.stream():
        picker.add(streamed)
    return picker.answers(source, tasks, checkpoints)


def group_of(answers, ranked_by):
    (group,) = groups_of(answers, {"t": ranked_by})
    return group


def ranks(group):
    return [(item.sample_id, item.rank) for item in group.rows]


def test_the_three_lowest_and_highest_are_shown_and_the_rest_counted():
    group = group_of([answer(i, float(v)) for i, v in enumerate([5, 1, 9, 2, 8, 3, 7, 4, 6])], "a.x")
    assert ranks(group) == [
        ("s1", LOWEST),
        ("s3", LOWEST),
        ("s5", LOWEST),
        ("s6", HIGHEST),
        ("s4", HIGHEST),
        ("s2", HIGHEST),
    ]
    assert (len(group.rows), group.omitted) == (6, 3)


def test_few_answers_are_all_shown_without_a_rank():
    group = group_of([answer(0, 2.0), answer(1, 1.0)], "a.x")
    assert ranks(group) == [("s1", ""), ("s0", "")]
    assert group.omitted == 0


def test_failed_answers_fill_the_room_that_is_left():
    group = group_of([answer(0, None), answer(1, 1.0), *(answer(i, None) for i in range(2, 9))], "a.x")
    assert ranks(group)[0] == ("s1", "")
    assert [rank for _, rank in ranks(group)[1:]] == [FAILED] * 5
    assert (group.rows[1].headline, group.rows[1].outcomes[0].reason) == ("timeout", "late")


def test_equal_values_keep_their_order():
    group = group_of([answer(i, 1.0) for i in range(8)], "a.x")
    assert [name for name, _ in ranks(group)] == ["s0", "s1", "s2", "s5", "s6", "s7"]


def test_without_a_ranking_score_the_first_are_shown():
    group = group_of([answer(i, 1.0) for i in range(8)], "")
    assert ranks(group) == [(f"s{i}", "") for i in range(6)]


def test_groups_follow_the_order_of_tasks_and_checkpoints():
    answers = [answer(0, 1.0, "z", "late"), answer(1, 1.0, "a", "early"), answer(2, 1.0, "z", "early")]
    groups = groups_of(answers, {}, ["z", "a"], ["early", "late"])
    assert [group.title for group in groups] == ["z · early", "z · late", "a · early"]


def test_the_extremes_of_many_answers_are_found():
    count = 2 * MAX_CANDIDATES + 7
    values = [float(i * 7 % count) for i in range(count)]
    group = group_of([answer(i, value) for i, value in enumerate(values)], "a.x")
    picks = [values.index(value) for value in (0, 1, 2, count - 3, count - 2, count - 1)]
    assert [name for name, _ in ranks(group)] == [f"s{i}" for i in picks]
    assert group.omitted == count - 6


def test_very_long_answers_are_cut_and_say_so():
    item = group_of([answer(0, 1.0, text="长" * (TEXT_LIMIT + 5))], "a.x").rows[0]
    assert item.text == "长" * TEXT_LIMIT + "\n… (5 more characters)"
    assert len(item.excerpt) == 80
