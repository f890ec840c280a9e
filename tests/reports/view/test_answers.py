"""Which answers are shown."""

from __future__ import annotations

from hengwen.records import Failure, Score
from hengwen.reports.view.answers import TEXT_LIMIT, AnswerRecord, group_answers, pick_answers


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
        outcomes=(outcome,),
    )


def shown(group):
    return [(item.sample_id, item.rank) for item in group.shown]


def test_the_three_lowest_and_highest_are_shown_and_the_rest_counted():
    group = pick_answers([answer(i, float(v)) for i, v in enumerate([5, 1, 9, 2, 8, 3, 7, 4, 6])], "a.x")
    assert shown(group) == [
        ("s1", "lowest"),
        ("s3", "lowest"),
        ("s5", "lowest"),
        ("s6", "highest"),
        ("s4", "highest"),
        ("s2", "highest"),
    ]
    assert (group.total, group.hidden) == (9, 3)


def test_few_answers_are_all_shown_without_a_rank():
    group = pick_answers([answer(0, 2.0), answer(1, 1.0)], "a.x")
    assert shown(group) == [("s1", ""), ("s0", "")]
    assert group.hidden == 0


def test_failed_answers_fill_the_room_that_is_left():
    group = pick_answers([answer(0, None), answer(1, 1.0), *(answer(i, None) for i in range(2, 9))], "a.x")
    assert shown(group)[0] == ("s1", "")
    assert [rank for _, rank in shown(group)[1:]] == ["failed"] * 5
    assert (group.shown[1].headline, group.shown[1].outcomes[0].reason) == ("timeout", "late")


def test_equal_values_keep_their_order():
    group = pick_answers([answer(i, 1.0) for i in range(8)], "a.x")
    assert [name for name, _ in shown(group)] == ["s0", "s1", "s2", "s5", "s6", "s7"]


def test_without_a_ranking_score_the_first_are_shown():
    group = pick_answers([answer(i, 1.0) for i in range(8)], "")
    assert shown(group) == [(f"s{i}", "") for i in range(6)]


def test_groups_follow_the_order_of_tasks_and_checkpoints():
    answers = [answer(0, 1.0, "z", "late"), answer(1, 1.0, "a", "early"), answer(2, 1.0, "z", "early")]
    groups = group_answers(answers, {}, ["z", "a"], ["early", "late"])
    assert [(g.task, g.checkpoint) for g in groups] == [("z", "early"), ("z", "late"), ("a", "early")]


def test_very_long_answers_are_cut_and_say_so():
    item = pick_answers([answer(0, 1.0, text="长" * (TEXT_LIMIT + 5))], "a.x").shown[0]
    assert item.text == "长" * TEXT_LIMIT + "\n… (5 more characters)"
    assert len(item.excerpt) == 80
