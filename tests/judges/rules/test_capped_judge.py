"""A judge under rules: two scores side by side, two signatures, and no low value for a failure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.errors import BackendError
from hengwen.judges import Panel, RubricJudge, RulesJudge
from hengwen.judges.rules.capped_judge import CappedJudge, cap_on_scale
from hengwen.judges.rules.rule import RuleSet
from hengwen.judges.rules.text_rules import Broken, NearDuplicate, Number, PlainText, TargetCopy
from hengwen.prompts import load_rubric
from hengwen.prompts.render import prompt_hash
from hengwen.protocols import EvaluationContext
from hengwen.records import Failure, Outcome, Response, Sample, Scale, Score, Verdict

RULES = RuleSet((Broken(), NearDuplicate(), TargetCopy(), PlainText(), Number()))
FIFTHS = Scale(low=0, high=1, levels=(0, 0.25, 0.5, 0.75, 1))
SAMPLE = Sample(id="1", input="说说月亮")
A, A1 = "abcdefghij", "abcdefghiX"  # similarity 0.9


@dataclass
class Says:
    """A judge that gives one level, or fails."""

    value: float | Failure = 1.0
    scale: Scale | None = FIFTHS
    signature: str = "x|v:1"
    names: tuple[str, ...] = ("x.level", "x.wit")

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        if isinstance(self.value, Failure):
            return Verdict(outcomes=(self.value,))
        common = {"signature": self.signature, "kind": "judge", "scale": self.scale, "value": self.value}
        return Verdict(outcomes=tuple(Score(name=name, **common) for name in self.names))


def answers(*texts: str) -> list[Response]:
    return [Response(sample_id="1", text=text, repeat=i) for i, text in enumerate(texts, 1)]


async def final(judge: CappedJudge, *texts: str, **sample: object) -> dict[str, Outcome]:
    """The outcomes for the last answer, by name."""
    *earlier, response = answers(*texts)
    record = Sample(**{"id": "1", "input": "说说月亮", **sample})
    verdict = await judge.judge(record, response, EvaluationContext(earlier=earlier))
    assert [outcome.name for outcome in verdict.outcomes] == list(judge.names)
    return {outcome.name: outcome for outcome in verdict.outcomes}


async def test_a_repeat_is_worth_nothing_and_the_judges_own_score_stands_beside_it() -> None:
    outcomes = await final(CappedJudge(Says(0.75), RULES, language="en"), A, A1)
    values = {name: outcome.value for name, outcome in outcomes.items()}
    assert values == {
        "x.level": 0.75,
        "x.wit": 0.75,
        "x.final": 0,
        "x.final_at_0.8": 0,
        "x.final_at_0.9": 0,
    }
    details = outcomes["x.final"].details
    assert details == {
        "raw": 0.75,
        "cap": 0,
        "by": ["near_duplicate"],
        "dup_of": 1,
        "similarity": 0.9,
        "flags": ["duplicate"],
    }
    assert outcomes["x.final"].reason.startswith("0.75 becomes 0: near_duplicate (of the earlier answers")


async def test_between_two_thresholds_the_final_scores_differ() -> None:
    outcomes = await final(CappedJudge(Says(0.75), RULES), "abcdefgh", "abcdefgX")  # 1 - 2 / 16 = 0.875
    values = [outcomes[name].value for name in ("x.final", "x.final_at_0.8", "x.final_at_0.9")]
    assert values == [0, 0, 0.75]


@each_row(
    ("text", "sample", "raw", "expected", "by"),
    [
        ("月亮圆圆的", {}, 1.0, 1.0, []),
        ("# 月亮", {}, 1.0, 0.5, ["plain_text"]),
        ("# 月亮", {}, 0.25, 0.25, ["plain_text"]),
        ("月亮圆圆的", {"references": ("月亮圆圆的",)}, 1.0, 0.5, ["target_copy"]),
        ("# 是 7", {"metadata": {"number": 5}}, 1.0, 0.25, ["number"]),
        ("# 月亮", {"references": ("月亮",)}, 1.0, 0.5, ["target_copy", "plain_text"]),
        ("", {}, 1.0, 0.0, ["broken"]),
    ],
    ids=["clean", "capped", "below its cap", "copy", "the strictest wins", "two alike", "empty"],
)
async def test_the_strictest_cap_wins_and_never_lifts(text, sample, raw, expected, by) -> None:
    score = (await final(CappedJudge(Says(raw), RULES), text, **sample))["x.final"]
    assert (score.value, score.details["by"], score.details["raw"]) == (expected, by, raw)


async def test_the_judges_own_scores_keep_their_signature_and_the_final_ones_carry_both() -> None:
    inner = Says()
    judge = CappedJudge(inner, RULES)
    outcomes = await final(judge, A)
    assert {name: outcome.signature for name, outcome in outcomes.items()} == judge.signatures
    assert outcomes["x.level"].signature == inner.signature
    assert inner.signature in judge.signature
    assert RULES.signature in judge.signature
    other = CappedJudge(inner, RuleSet((NearDuplicate(zero_from=0.86),)))
    assert other.signature != judge.signature


async def test_a_judge_with_names_of_its_own_has_final_scores_under_the_name_that_the_plan_gives_it() -> None:
    judge = CappedJudge(Says(names=("tone.score",)), RULES, name="warmth")
    assert judge.names == ("tone.score", "warmth.final", "warmth.final_at_0.8", "warmth.final_at_0.9")
    assert (await final(judge, "# a"))["warmth.final"].value == 0.5


async def test_a_judge_without_a_level_has_no_final_score_either() -> None:
    failure = Failure(name="x.level", status="parse_error", message="words", signature="x|v:1", raw="words")
    verdict = await CappedJudge(Says(failure), RULES).judge(SAMPLE, answers("")[0])
    level, *finals = verdict.outcomes
    assert level is failure
    assert [outcome.name for outcome in finals] == ["x.final", "x.final_at_0.8", "x.final_at_0.9"]
    for outcome in finals:
        assert isinstance(outcome, Failure)
        assert (outcome.status, outcome.message) == ("parse_error", "no level: words")


async def test_what_a_judge_raises_goes_through(fake, small) -> None:
    inner = RubricJudge(rubric=small, backend=fake(BackendError("gone")))
    with pytest.raises(BackendError, match="gone"):
        await CappedJudge(inner, RULES).judge(SAMPLE, answers(A)[0])


@each_row(
    ("share", "scale", "expected"),
    [
        (0.5, FIFTHS, 0.5),
        (0.25, Scale(low=1, high=5), 2.0),
        (0, Scale(low=1, high=5), 1.0),
        (0.5, Scale(low=1, high=4, levels=(1, 2, 3, 4)), 2),
        (0.75, Scale(low=0, high=1, levels=(0, 0.5, 1)), 0.5),
        (1, FIFTHS, 1),
    ],
    ids=["of 0..1", "of 1..5", "the low end", "the lower level", "the lower of three", "no limit"],
)
def test_a_cap_is_a_share_of_the_scale_and_a_level_where_there_are_levels(share, scale, expected) -> None:
    assert cap_on_scale(share, scale) == expected


def test_a_scale_on_which_less_is_better_is_refused() -> None:
    with pytest.raises(ValueError, match="caps are for scales on which more is better"):
        cap_on_scale(0.5, Scale(low=0, high=1, higher_is_better=False))


async def test_a_judge_without_any_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="x.level has no scale"):
        await CappedJudge(Says(scale=None), RULES).judge(SAMPLE, answers(A)[0])
    scaled = CappedJudge(Says(scale=None), RULES, scale=FIFTHS)
    assert (await final(scaled, "# a"))["x.final"].value == 0.5


@settings(deadline=None, max_examples=100)
@given(st.floats(0, 1), st.sampled_from(["", A, "# a", "【回答】a"]), st.booleans())
def test_a_final_score_is_never_above_the_judges_and_never_off_the_scale(raw, text, repeated) -> None:
    import asyncio

    before = [text] if repeated else []
    judge = CappedJudge(Says(raw, scale=Scale(low=0, high=1)), RULES)
    score = asyncio.run(final(judge, *before, text))["x.final"]
    assert 0 <= score.value <= raw
    assert (score.value == raw) == (score.details["cap"] is None or score.details["cap"] >= raw)


REPLY = json.dumps({"reason": "r", "criteria": {"wit": "Low", "form": "Mid"}, "level": "High"})


async def test_a_model_is_shown_what_the_rules_found_outside_all_fences(fake, small) -> None:
    backend = fake(REPLY)
    inner = RubricJudge(
        rubric=small, backend=backend, evidence_signature=RULES.evidence_signature, language="en"
    )
    outcomes = await final(CappedJudge(inner, RULES, language="en"), A, A1)
    assert (outcomes["small.level"].value, outcomes["small.final"].value) == (5, 1), "the scale is 1..5"
    system, user = (content for _, content in backend.requests[0].messages)
    told = user[: user.index("<<<")]
    assert "number 1 is closest: similarity 0.90 (a rule deals with repeats after you" in told
    assert "plain text, no labels or markup" in told
    assert "0.85" not in user, "no threshold is told"
    assert "Facts" not in system


def test_only_a_judge_that_is_shown_facts_has_another_prompt(fake, small) -> None:
    plain = RubricJudge(rubric=small, backend=fake())
    told = RubricJudge(rubric=small, backend=fake(), evidence_signature=RULES.evidence_signature)
    assert f"|prompt:{prompt_hash(small, 'zh')}|" in plain.signature
    assert f"|prompt:{prompt_hash(small, 'zh')}|" not in told.signature
    assert f"|facts:{RULES.evidence_signature}|" in told.signature
    other = RubricJudge(rubric=small, backend=fake(), evidence_signature="00000000")
    key = [judge.request(SAMPLE, answers(A)[0]).key("e") for judge in (told, other)]
    assert key[0] == key[1], "another corpus needs no new call if the evidence is the same"


async def test_facts_of_rules_that_the_signature_does_not_name_are_refused(fake, small) -> None:
    judge = RubricJudge(rubric=small, backend=fake())
    with pytest.raises(ValueError, match="takes evidence only if evidence_signature names its rules"):
        await judge.judge(SAMPLE, answers(A)[0], EvaluationContext(evidence=["something"]))


async def test_a_panel_hands_the_facts_to_those_who_read_them(fake, small) -> None:
    backends = [fake(REPLY), fake(REPLY)]
    backends[1].signature = "fake/two|temp:0"
    members = [
        RubricJudge(rubric=small, backend=backend, evidence_signature=RULES.evidence_signature)
        for backend in backends
    ]
    judge = CappedJudge(Panel(judges=members), RULES)
    outcomes = await final(judge, "# 月亮")
    assert (outcomes["small.level"].value, outcomes["small.final"].value) == (5, 3), "the middle of 1..5"
    for backend in backends:
        assert "不是纯文字：有标题" in backend.requests[0].messages[1][1]


async def test_the_rules_judge_leaves_repeats_to_the_rule() -> None:
    inner = RulesJudge(rubric=load_rubric("muice_live"), exclude_clauses=["near_duplicate"])
    outcomes = await final(CappedJudge(inner, RULES), "月亮圆圆的，想咬一口", "月亮圆圆的，想咬一口！")
    assert outcomes["muice_live.level"].value == outcomes["muice_live.content"].value == 0.75
    assert outcomes["muice_live.final"].value == 0
    assert "|without:near_duplicate|" in inner.signature
