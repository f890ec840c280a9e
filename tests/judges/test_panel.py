"""The panel with members that say what a test tells them to."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.errors import BackendError, JudgeError, StoreError
from hengwen.judges import Panel, RubricJudge, RulesJudge
from hengwen.prompts import load_rubric
from hengwen.protocols import NO_CONTEXT, EvaluationContext, Judge
from hengwen.records import Failure, Response, Sample, Scale, Score, Usage, Verdict

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
QUARTERS = Scale(low=0, high=1, levels=LEVELS)
SAMPLE = Sample(id="1", input="?")
ANSWER = Response(sample_id="1", text="!", repeat=2)
GOOD = '{"reason": "clear", "criteria": {"wit": "%s", "form": "Mid"}, "level": "%s"}'


class Member:
    """Gives a value (or a status, or raises) for the level, and 1 for its criterion."""

    def __init__(self, key: str, says: float | str | BaseException, **options) -> None:
        self.signature = f"tone|rubric:1.aa|{key}|v:1"
        self.names = ("tone.level", "tone.wit")
        self.says = says
        self.options = {
            "scale": QUARTERS,
            "tokens": 10,
            "latency": 1.0,
            "reason": f"{key} says so",
            **options,
        }
        self.earlier = None

    reads = ("earlier",)

    async def judge(self, sample, response, context=NO_CONTEXT):
        self.earlier = context.earlier
        await asyncio.sleep(self.options.get("wait", 0))
        if isinstance(self.says, BaseException):
            raise self.says
        outcomes = [self._outcome("tone.level", self.says), self._outcome("tone.wit", 1.0)]
        return Verdict(
            outcomes=tuple(outcomes),
            reason=self.options["reason"],
            raw=f"raw {self.signature}",
            usage=Usage(calls=1, input_tokens=self.options["tokens"], output_tokens=1),
            latency=self.options["latency"],
            model=self.options.get("model", "m"),
        )

    def _outcome(self, name, says):
        if isinstance(says, str):
            return Failure(name=name, status=says, message="no", signature=self.signature, raw="?")
        labels = dict(zip(LEVELS, "EDCBA", strict=True))
        details = {"label": labels[says]} if says in labels else {}
        return Score(
            name=name, value=says, signature=self.signature, scale=self.options["scale"], details=details
        )


def seat(*replies, **options):
    return Panel(judges=[Member(f"m{number}", reply) for number, reply in enumerate(replies)], **options)


def ask(panel, context=NO_CONTEXT):
    return asyncio.run(panel.judge(SAMPLE, ANSWER, context))


DOWN = BackendError("down", status="timeout", retryable=True)


@each_row(
    ("replies", "reducer", "value", "tied"),
    [
        ((1.0, 0.5, 0.75), "median", 0.75, None),
        ((1.0, 0.5, 0.25), "mean", 1.75 / 3, None),
        ((1.0, 0.5), "median", 0.75, None),
        ((1.0, 0.75), "median", 0.875, None),
        ((0.25, 0.25, 1.0), "majority", 0.25, None),
        ((0.0, 1.0, 1.0, 0.5, 0.25), "majority", 1.0, None),
        ((0.5, 1.0), "majority", 0.75, [0.5, 1.0]),
        ((0.25, 0.5, 1.0), "majority", 0.5, [0.25, 0.5, 1.0]),
        ((0.0, 0.0, 1.0, 1.0, 0.5), "majority", 0.5, [0.0, 1.0]),
        ((0.5, 0.5, 0.5), "mean", 0.5, None),
    ],
)
def test_values_become_one(replies, reducer, value, tied):
    level = ask(seat(*replies, reducer=reducer)).outcomes[0]
    assert level.value == pytest.approx(value, abs=1e-12)
    assert level.details.get("tied") == tied
    assert (level.scale, level.kind) == (
        Scale(low=0, high=1, discrete=True),
        "judge",
    ), "no levels: it may lie between two"


def test_details_hold_each_members_value_the_range_and_the_agreement():
    level, wit = ask(seat(1.0, 0.25, 1.0)).outcomes
    values = {f"tone|rubric:1.aa|m{i}|v:1": value for i, value in enumerate((1.0, 0.25, 1.0))}
    assert level.details == {
        "reducer": "median",
        "members": values,
        "left_out": {},
        "range": 0.75,
        "agreement": pytest.approx(1 / 3),
        "label": "A",
    }
    assert (wit.details["range"], wit.details["agreement"]) == (0, 1)
    assert json.loads(json.dumps(dict(level.details)))["members"] == values


def test_a_value_between_two_levels_has_no_label():
    assert "label" not in ask(seat(1.0, 0.75)).outcomes[0].details


def test_the_label_of_an_expected_value_is_not_taken_for_its_own():
    smooth = Member("x", 0.5, scale=Scale(low=0, high=1))
    assert "label" not in ask(Panel(judges=[smooth, Member("y", "timeout")], quorum=1)).outcomes[0].details


@each_row(
    ("failed", "status"),
    [
        (DOWN, "timeout"),
        (JudgeError("gone", status="off_scale", raw="{"), "off_scale"),
        (JudgeError("odd", status="no such status"), "scorer_error"),
        (KeyError("x"), "scorer_error"),
        ("parse_error", "parse_error"),
        ("not_applicable", "not_applicable"),
    ],
)
def test_a_member_that_fails_is_left_out_and_named(failed, status):
    verdict = ask(seat(0.75, failed, 0.25, reducer="mean"))
    level = verdict.outcomes[0]
    assert level.value == 0.5, "never counted as a low level"
    assert level.details["left_out"] == {"tone|rubric:1.aa|m1|v:1": status}
    assert set(level.details["members"]) == {"tone|rubric:1.aa|m0|v:1", "tone|rubric:1.aa|m2|v:1"}


def test_a_member_may_fail_for_one_score_and_count_for_another():
    level, wit = ask(seat("parse_error", 0.5)).outcomes
    assert isinstance(level, Failure)
    assert (wit.value, len(wit.details["members"]), wit.details["left_out"]) == (1, 2, {})


@each_row(
    ("replies", "quorum", "status", "message"),
    [
        (
            (1.0, DOWN, "parse_error", "timeout"),
            None,
            "timeout",
            "1 of 4 judges gave a score, the quorum is 3",
        ),
        ((1.0, "timeout"), None, "timeout", "1 of 2 judges gave a score, the quorum is 2: m1: timeout"),
        (
            ("refused", "truncated"),
            1,
            "truncated",
            "0 of 2 judges gave a score, the quorum is 1: m0: refused; m1",
        ),
        (("not_applicable", "not_applicable", 1.0), None, "not_applicable", "1 of 3"),
        (("not_applicable", "timeout", 1.0), None, "timeout", "1 of 3"),
        (("not_applicable", "not_applicable", "timeout", 1.0, 1.0), None, "timeout", "2 of 5"),
        (("not_applicable", "not_applicable", "timeout"), None, "not_applicable", "0 of 3"),
    ],
)
def test_below_the_quorum_there_is_a_failure_that_counts(replies, quorum, status, message):
    panel = seat(*replies, quorum=quorum)
    level = ask(panel).outcomes[0]
    assert isinstance(level, Failure)
    assert (level.name, level.status, level.kind, level.signature) == (
        "tone.level",
        status,
        "judge",
        panel.signature,
    )
    assert message in level.message


def test_a_failure_keeps_what_the_members_said():
    level = ask(seat(0.5, JudgeError("no verdict", raw="<b>"))).outcomes[0]
    assert json.loads(level.raw) == {
        "members": {"tone|rubric:1.aa|m0|v:1": 0.5},
        "left_out": {
            "tone|rubric:1.aa|m1|v:1": {"status": "parse_error", "message": "no verdict", "raw": "<b>"}
        },
    }


@each_row(("count", "quorum"), [(2, 2), (3, 2), (4, 3), (5, 3)])
def test_the_quorum_is_more_than_half_by_default(count, quorum):
    assert seat(*[0.5] * count).quorum == quorum


def test_a_quorum_of_one_takes_a_single_member_that_agrees_with_nobody():
    level = ask(seat(0.25, DOWN, DOWN, quorum=1)).outcomes[0]
    assert (level.value, level.details["range"], level.details["agreement"]) == (0.25, 0, None)


def test_members_are_asked_at_the_same_time():
    async def both() -> list[float]:
        met = asyncio.Barrier(3)

        class Waiting(Member):
            async def judge(self, sample, response, context=NO_CONTEXT):
                await met.wait()
                return await super().judge(sample, response, context)

        panel = Panel(judges=[Waiting(key, 0.5) for key in "abc"])
        verdict = await asyncio.wait_for(panel.judge(SAMPLE, ANSWER), timeout=60)
        return [score.value for score in verdict.outcomes]

    assert asyncio.run(both()) == [0.5, 1.0]


def test_usage_is_the_sum_and_latency_the_longest():
    members = [
        Member("a", 0.5, tokens=7, latency=2.0, model="x"),
        Member("b", 1.0, tokens=5, latency=0.5, model="y"),
        Member("c", DOWN),
    ]
    verdict = ask(Panel(judges=members))
    assert verdict.usage == Usage(calls=2, input_tokens=12, output_tokens=2)
    assert (verdict.latency, verdict.model) == (2.0, "x, y")
    assert list(json.loads(verdict.raw)) == [members[0].signature, members[1].signature]


def test_every_member_gives_its_labelled_reason():
    verdict = ask(seat(0.5, 1.0, DOWN))
    assert verdict.reason == "[m0] m0 says so\n[m1] m1 says so"


def test_the_reasons_of_the_members_go_with_their_scores(small, fake):
    first, second = fake(GOOD % ("High", "High")), fake(GOOD % ("Low", "Mid"))
    second.signature = "fake/two|temp:0"
    panel = Panel(judges=[RubricJudge(rubric=small, backend=backend) for backend in (first, second)])
    level, wit, form = ask(panel).outcomes
    assert (level.value, wit.value, form.value) == (3.5, 3, 2)
    assert level.reason == "[fake/one] clear\n[fake/two] clear"
    assert level.details["members"] == {
        judge.signature: v for judge, v in zip(panel.judges, (5, 2), strict=True)
    }


def test_earlier_answers_reach_every_member():
    panel = seat(0.5, 0.5)
    before = [Response(sample_id="1", text="x")]
    ask(panel, EvaluationContext(earlier=before))
    assert [member.earlier for member in panel.judges] == [before, before]


def test_the_order_of_the_judges_moves_nothing():
    members = [Member("a", 0.5), Member("b", 1.0), Member("c", DOWN)]
    panel, reverse = Panel(judges=members), Panel(judges=members[::-1])
    assert panel.signature == reverse.signature
    assert ask(panel) == ask(reverse)


def test_the_signature_says_reducer_quorum_and_members():
    panel = seat(0.5, 1.0, 1.0)
    assert panel.signature == (
        "tone|panel:median|quorum:2|"
        "[tone|rubric:1.aa|m0|v:1; tone|rubric:1.aa|m1|v:1; tone|rubric:1.aa|m2|v:1]|v:1"
    )
    variants = [
        panel.signature,
        seat(0.5, 1.0).signature,
        seat(0.5, 1.0, 1.0, quorum=3).signature,
        seat(0.5, 1.0, 1.0, reducer="mean").signature,
        seat(0.5, 1.0, 1.0, name="t").signature,
        *(member.signature for member in panel.judges),
    ]
    assert len(set(variants)) == len(variants)
    assert ask(panel).outcomes[0].signature == panel.signature


def test_a_name_of_its_own_goes_before_every_score():
    panel = seat(0.5, 1.0, name="jury")
    assert panel.names == ("jury.level", "jury.wit")
    assert [outcome.name for outcome in ask(panel).outcomes] == list(panel.names)
    assert seat(0.5, 1.0).names == ("tone.level", "tone.wit")
    assert isinstance(panel, Judge)


def test_a_panel_may_sit_in_a_panel():
    inner = seat(0.5, 1.0, reducer="mean")
    outer = Panel(judges=[inner, Member("x", 0.25)], reducer="mean")
    assert ask(outer).outcomes[0].value == 0.5
    assert inner.signature in outer.signature


@each_row(
    ("options", "message"),
    [
        ({"judges": []}, "at least two judges, got 0"),
        ({"judges": [Member("a", 1.0)]}, "at least two judges, got 1"),
        (
            {"judges": [Member("a", 1.0), Member("a", 0.5)]},
            "'tone|rubric:1.aa|a|v:1' is in the panel twice",
        ),
        ({"reducer": "mode"}, "reducer must be one of mean, median, majority, got 'mode'"),
        ({"quorum": 0}, "quorum must be from 1 to 2, the number of judges, got 0"),
        ({"quorum": 3}, "from 1 to 2, .* got 3"),
    ],
)
def test_what_is_no_panel_is_refused(options, message):
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        Panel(**{"judges": [Member("a", 1.0), Member("b", 1.0)], **options})


def test_judges_that_give_other_scores_or_read_another_rubric_are_refused(small, fake):
    judge = RulesJudge(rubric=small)
    with pytest.raises(ValueError, match=r"the same scores, got .*small\.level"):
        Panel(judges=[judge, RulesJudge(rubric=load_rubric("lyric_craft"))])
    newer = small.model_copy(update={"version": 3})
    newer.__dict__.pop("hash", None)
    with pytest.raises(ValueError, match=r"the same rubric, got small 2\.\w{8}, small 3\.\w{8}"):
        Panel(judges=[judge, RubricJudge(rubric=newer, backend=fake())])
    assert Panel(judges=[judge, RubricJudge(rubric=small, backend=fake(), language="en")])


def test_members_with_other_scales_are_an_error():
    odd = Member("odd", 4.0, scale=Scale(low=1, high=5))
    with pytest.raises(ValueError, match="must use one scale"):
        ask(Panel(judges=[Member("a", 1.0), odd]))


@each_row("stop", [StoreError("disk full"), asyncio.CancelledError()])
def test_a_full_disk_and_a_stop_are_no_failures_of_a_member(stop):
    with pytest.raises(type(stop)):
        ask(seat(0.5, stop, 1.0))


def test_a_stopped_panel_stops_its_members():
    async def stopped() -> list[bool]:
        members = [Member("a", 1.0, wait=60), Member("b", 1.0, wait=60)]
        task = asyncio.ensure_future(Panel(judges=members).judge(SAMPLE, ANSWER))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [other.done() for other in asyncio.all_tasks() if other is not asyncio.current_task()]

    assert asyncio.run(stopped()) == []


def test_two_rules_judges_sit_in_a_panel():
    rubric = load_rubric("persona_generic")
    panel = Panel(judges=[RulesJudge(rubric=rubric), RulesJudge(rubric=rubric, taboo=["!"])])
    level = ask(panel).outcomes[0]
    assert level.value == 0
    assert level.reason.count("baseline by rules") == 2


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.sampled_from([*LEVELS, "timeout", "parse_error", "not_applicable"]), min_size=2, max_size=7),
    st.sampled_from(["mean", "median", "majority"]),
    st.integers(1, 7),
)
def test_a_panel_scores_within_its_members_or_fails(replies, reducer, quorum):
    quorum = min(quorum, len(replies))
    level = ask(seat(*replies, reducer=reducer, quorum=quorum)).outcomes[0]
    values = [reply for reply in replies if not isinstance(reply, str)]
    if len(values) < quorum:
        assert isinstance(level, Failure)
        assert level.status in replies
        return
    expected = {
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "majority": statistics.median(
            [value for value, n in Counter(values).items() if n == max(Counter(values).values())]
        ),
    }
    assert level.value == pytest.approx(expected[reducer])
    assert min(values) <= level.value <= max(values)
    assert len(level.details["members"]) + len(level.details["left_out"]) == len(replies)
