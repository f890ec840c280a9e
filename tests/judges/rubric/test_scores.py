"""Expected scores: the mean of samples, or of labels weighed by their probabilities."""

from __future__ import annotations

import asyncio
import json
from math import log

import pytest

from hengwen.engine.metered_backend import Committer
from hengwen.engine.recorder import MemoryLedger
from hengwen.errors import BackendError, JudgeError, StoreError
from hengwen.judges import RubricJudge
from hengwen.prompts.render import neutralize
from hengwen.records import Reply, Response, Run, Sample, Usage

SAMPLE = Sample(id="1", input="Sing of rain")
ANSWER = Response(sample_id="1", text="drip drop")


def reply_text(level: str, wit: str = "High") -> str:
    return json.dumps({"reason": f"so {level}", "criteria": {"wit": wit, "form": "Mid"}, "level": level})


def weighed(text: str, **shares: dict[str, float]) -> Reply:
    """A reply whose label tokens have alternatives; a place that is not named is certain."""
    tokens = []
    rest = text
    for part in ("wit", "form", "level"):
        before, _, rest = rest.partition(f'"{part}": "')
        label, rest = rest.split('"', 1)
        tokens.append(((before + f'"{part}": "').encode(), 0.0, ()))
        options = shares.get(part, {label: 1.0})
        alternatives = tuple((name.encode(), log(share)) for name, share in options.items())
        tokens.append((label.encode(), log(options[label]), alternatives))
        rest = '"' + rest
    tokens.append((rest.encode(), 0.0, ()))
    return Reply(text=text, model="m", usage=Usage(calls=1), logprobs=tuple(tokens))


def judge(small, backend, **options) -> RubricJudge:
    return RubricJudge(rubric=small, backend=backend, language="en", **options)


async def test_the_mean_of_samples_is_the_value_and_the_details_show_each(small, fake):
    backend = fake(reply_text("High"), reply_text("Mid", "Low"), reply_text("High"), reply_text("Low"))
    verdict = await judge(small, backend, samples=4).judge(SAMPLE, ANSWER)
    level, wit, form = verdict.outcomes
    assert level.value == (5 + 2 + 5 + 1) / 4
    assert level.details["labels"] == ["High", "Mid", "High", "Low"]
    assert (level.details["method"], level.details["self_consistency"]) == ("samples", 0.5)
    assert level.details["attempts"] == ["first"] * 4
    assert wit.value == (5 + 1 + 5 + 5) / 4
    assert (form.value, form.details["self_consistency"]) == (2, 1.0)
    assert {(score.scale.low, score.scale.high, score.scale.levels) for score in verdict.outcomes} == {
        (1.0, 5.0, None)
    }
    assert level.reason == "so High"
    assert verdict.usage.calls == 4
    assert verdict.latency == 0.5, "they are asked at the same time"
    assert [request.repeat for request in backend.requests] == [1, 2, 3, 4]


async def test_samples_are_requested_concurrently(small, fake):
    class Slow(type(fake())):  # type: ignore[misc]  # a fixture is the class
        most = now = 0

        async def complete(self, request):
            self.now += 1
            Slow.most = max(Slow.most, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            return await super().complete(request)

    await judge(small, Slow(*[reply_text("Mid")] * 5), samples=5).judge(SAMPLE, ANSWER)
    assert Slow.most == 5


async def test_more_samples_reuse_the_earlier_calls(small, fake):
    from hengwen.engine.limits import Limiter
    from hengwen.engine.metered_backend import CallContext, LedgerBackend

    ledger = MemoryLedger()
    ledger.begin(Run(id="r", plan="p", plan_hash="h", checkpoint="c"))
    backend = fake(*[reply_text("Mid")] * 5)
    metered = LedgerBackend(CallContext(ledger, Committer(ledger), "r"), backend, "judge", Limiter(4))
    for samples, calls in ((1, 1), (3, 3), (5, 5), (2, 5)):
        verdict = await judge(small, metered, samples=samples).judge(SAMPLE, ANSWER)
        assert verdict.outcomes[0].value == 2
        assert len(backend.requests) == calls


async def test_a_sample_without_a_verdict_is_excluded_and_counted(small, fake):
    cut = Reply(text=reply_text("Low"), finish="length")
    verdict = await judge(small, fake(reply_text("High"), cut, reply_text("Mid")), samples=3).judge(
        SAMPLE, ANSWER
    )
    details = verdict.outcomes[0].details
    assert verdict.outcomes[0].value == 3.5
    assert (details["failed"], details["labels"]) == ({"truncated": 1}, ["High", "Mid"])


async def test_half_of_the_samples_without_a_verdict_is_an_error(small, fake):
    cut = Reply(text=reply_text("Low"), finish="length")
    with pytest.raises(JudgeError, match="1 of 2 samples gave no verdict: the reply was cut off") as caught:
        await judge(small, fake(reply_text("High"), cut), samples=2).judge(SAMPLE, ANSWER)
    assert caught.value.status == "truncated"


@pytest.mark.parametrize("error", [BackendError("down", retryable=True), StoreError("full"), KeyError("bug")])
async def test_a_sample_without_a_reply_is_an_error_to_retry_later(small, fake, error):
    with pytest.raises(type(error)):
        await judge(small, fake(reply_text("High"), reply_text("High"), error), samples=3).judge(
            SAMPLE, ANSWER
        )


async def test_each_sample_has_its_own_repair(small, fake):
    backend = fake(reply_text("High"), "no", reply_text("Low"))
    verdict = await judge(small, backend, samples=2).judge(SAMPLE, ANSWER)
    assert verdict.outcomes[0].details["attempts"] == ["first", "repair"]
    assert [request.repeat for request in backend.requests] == [1, 2, 2]


async def test_labels_are_weighed_by_their_probabilities(small, fake):
    shares = {"High": 0.6, "Mid": 0.2, "Hm": 0.1}
    backend = fake(weighed(reply_text("High"), level=shares))
    verdict = await judge(small, backend, logprobs=True).judge(SAMPLE, ANSWER)
    level, wit, _ = verdict.outcomes
    assert level.value == pytest.approx((0.6 * 5 + 0.2 * 2) / 0.8)
    assert level.details["method"] == "logprobs"
    assert level.details["weights"] == {"Mid": 0.25, "High": 0.75}
    assert level.details["off_label_mass"] == pytest.approx(0.2)
    assert level.scale.levels is None
    assert level.scale.discrete, "an expected level is a mean of levels"
    assert (wit.value, wit.details["off_label_mass"]) == (5, 0)
    assert backend.requests[0].logprobs == 20
    assert json.dumps(dict(level.details))


async def test_without_log_probabilities_the_samples_are_used_and_named_as_method(small, fake):
    verdict = await judge(small, fake(reply_text("High")), logprobs=True).judge(SAMPLE, ANSWER)
    assert (verdict.outcomes[0].value, verdict.outcomes[0].details["method"]) == (5, "single")
    assert verdict.outcomes[0].scale.levels is None
    backend = fake(reply_text("High"), reply_text("Mid"), reply_text("Mid"))
    three = await judge(small, backend, logprobs=True, samples=3).judge(SAMPLE, ANSWER)
    assert (three.outcomes[0].value, three.outcomes[0].details["method"]) == (3, "samples")
    assert [request.repeat for request in backend.requests] == [1, 2, 3]


async def test_the_label_is_weighed_where_the_repair_gave_it(small, fake):
    backend = fake("no", weighed(reply_text("High"), level={"High": 0.5, "Low": 0.5}))
    verdict = await judge(small, backend, logprobs=True).judge(SAMPLE, ANSWER)
    assert verdict.outcomes[0].value == 3
    assert verdict.outcomes[0].details["attempt"] == "repair"


def test_the_signature_names_options_only_where_they_differ(small, fake):
    plain = judge(small, fake()).signature
    assert judge(small, fake(), samples=1, logprobs=False, strip_think=True).signature == plain
    assert judge(small, fake(), samples=3).signature == plain.replace("|v:1", "|samples:3|v:1")
    assert judge(small, fake(), logprobs=True).signature == plain.replace("|v:1", "|logprobs|v:1")
    assert judge(small, fake(), strip_think=False).signature == plain.replace("|v:1", "|think:kept|v:1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples must be a whole number from 1 to 100, got 0"),
        ({"samples": 101}, "samples must be"),
        ({"samples": 2.0}, "samples must be a whole number from 1 to 100, got 2.0"),
        ({"samples": True}, "samples must be a whole number from 1 to 100, got True"),
        ({"logprobs": 1}, "logprobs must be true or false, got 1"),
        ({"strip_think": "no"}, "strip_think must be true or false, got 'no'"),
    ],
)
def test_an_invalid_option_is_refused(small, fake, options, words):
    with pytest.raises(ValueError, match=words):
        judge(small, fake(), **options)


@pytest.mark.parametrize(
    ("text", "judged_text", "think"),
    [
        ("<think>secret plan</think>\n\nRain falls", "Rain falls", "stripped"),
        ("secret plan\n</think>\nRain falls", "Rain falls", "stripped"),
        ("<think>secret plan, never closed", "<think>secret plan, never closed", "unclosed"),
        ("Rain < snow", "Rain < snow", None),
        ("say </think> aloud", "say </think> aloud", None),
    ],
)
async def test_the_thoughts_of_an_answer_are_not_judged(small, fake, text, judged_text, think):
    backend = fake(reply_text("High"), reply_text("High"))
    answer = Response(sample_id="1", text=text)
    verdict = await judge(small, backend).judge(SAMPLE, answer)
    assert f":response\n{neutralize(judged_text)}\n" in backend.requests[0].messages[1][1]
    assert verdict.outcomes[0].details.get("think") == think
    await judge(small, backend, strip_think=False).judge(SAMPLE, answer)
    assert f":response\n{neutralize(text)}\n" in backend.requests[1].messages[1][1]
