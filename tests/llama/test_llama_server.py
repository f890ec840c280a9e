"""Both backends and the rubric judge against a real llama.cpp server: random weights, an enforced schema."""

from __future__ import annotations

import asyncio
import json
from math import fsum

import jsonschema
import pytest

from hengwen.errors import BackendError
from hengwen.judges import RubricJudge
from hengwen.prompts import Rubric
from hengwen.records import Request, Response, Sample, Score

SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 40},
        "level": {"type": "string", "enum": ["A", "B", "C"]},
    },
    "required": ["reason", "level"],
    "additionalProperties": False,
}
SAMPLE = Sample(id="1", input="Sing of rain")
WARM = {"temperature": 1.0, "seed": 7, "max_tokens": 1500}


@pytest.fixture
def rubric() -> Rubric:
    """Three levels, two criteria."""
    both = {"zh": "短", "en": "short"}
    return Rubric.model_validate(
        {
            "name": "small",
            "version": 1,
            "title": both,
            "instructions": both,
            "levels": {
                0: {"label": "Low", **both},
                0.5: {"label": "Mid", **both},
                1: {"label": "High", **both},
            },
            "criteria": {"wit": both, "form": both},
        }
    )


def ask(text: str = "Judge this.", **more) -> Request:
    return Request(**{"messages": (("system", "You judge."), ("user", text)), "schema": SCHEMA, **more})


def answer(text: str = "drip drop") -> Response:
    return Response(sample_id="1", text=text)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0, 0.7, 1])
async def test_every_reply_satisfies_the_schema(openai, temperature):
    backend = openai(params={"temperature": temperature, "max_tokens": 200})
    replies = await asyncio.gather(*(backend.complete(ask(f"Judge answer {i}.")) for i in range(20)))
    for reply in replies:
        jsonschema.validate(json.loads(reply.text), SCHEMA)
        assert (reply.response_format, reply.finish, reply.model) == ("json_schema", "stop", "tiny")
        assert reply.usage.input_tokens > 20
        assert reply.usage.output_tokens > 5
    assert temperature == 0 or len({reply.text for reply in replies}) > 1


@pytest.mark.slow
async def test_the_same_question_at_temperature_0_gets_the_same_bytes(openai):
    backend = openai(params={"temperature": 0, "seed": 7, "max_tokens": 200})
    texts = {(await backend.complete(ask())).text for _ in range(5)}
    assert len(texts) == 1


async def test_repeats_with_a_fixed_seed_are_not_the_same_draw(openai):
    backend = openai(params={"temperature": 1, "seed": 7, "max_tokens": 200})
    draws = [(await backend.complete(ask(repeat=repeat))).text for repeat in (1, 2, 3, 1)]
    assert len(set(draws)) == 3
    assert draws[0] == draws[3]


@pytest.mark.slow
async def test_the_rubric_judge_gets_verdicts(openai, rubric):
    judge = RubricJudge(rubric=rubric, backend=openai(params=WARM), language="en")
    verdicts = await asyncio.gather(*(judge.judge(SAMPLE, answer(f"drip {i}")) for i in range(8)))
    for verdict in verdicts:
        assert len(verdict.outcomes) == 3
        assert all(isinstance(score, Score) for score in verdict.outcomes)
        assert {score.details["form"] for score in verdict.outcomes} == {"json_schema"}


@pytest.mark.slow
async def test_labels_are_weighed_by_log_probabilities(openai, rubric):
    judge = RubricJudge(rubric=rubric, backend=openai(params=WARM), language="en", logprobs=True)
    verdict = await judge.judge(SAMPLE, answer())
    for score in verdict.outcomes:
        assert score.details["method"] == "logprobs"
        weights = score.details["weights"]
        assert score.details["label"] in weights
        assert fsum(weights.values()) == pytest.approx(1, abs=1e-5)
        values = rubric.labels
        expected = fsum(weight * values[label] for label, weight in weights.items())
        assert score.value == pytest.approx(expected, abs=1e-5)
        assert 0 < score.details["off_label_mass"] < 1, "a random model thinks of anything"


async def test_log_probabilities_spell_the_reply(openai):
    reply = await openai(params={"temperature": 1, "max_tokens": 200}).complete(ask(logprobs=5))
    spoken = b"".join(token for token, _, _ in reply.logprobs).decode()
    assert reply.text in spoken, "the server takes off what the model may put round it"
    assert {len(others) for _, _, others in reply.logprobs} == {5}


@pytest.mark.slow
async def test_the_mean_of_samples_shows_how_far_they_agree(openai, rubric):
    judge = RubricJudge(rubric=rubric, backend=openai(params=WARM), language="en", samples=4)
    level = (await judge.judge(SAMPLE, answer())).outcomes[0]
    assert len(level.details["labels"]) == 4
    assert level.value == fsum(rubric.labels[label] for label in level.details["labels"]) / 4


async def test_a_prompt_beyond_the_context_is_an_error_that_says_so(openai, langchain):
    for backend in (openai(), langchain()):
        with pytest.raises(BackendError, match="the endpoint answered 400: .*context") as caught:
            await backend.complete(ask("x" * 6000))
        assert (caught.value.status, caught.value.retryable) == ("rejected", False)


async def test_a_schema_that_is_none_is_an_error_where_the_form_is_pinned(openai, langchain):
    bad = {"type": "object", "properties": {"level": {"type": "nonsense"}}, "required": ["level"]}
    words = "the endpoint answered 400: .*unrecognized type"
    for backend in (openai(structured="json_schema"), langchain(structured="json_schema")):
        with pytest.raises(BackendError, match=words) as caught:
            await backend.complete(ask(schema=bad))
        assert not caught.value.retryable
    loose = openai(params={"max_tokens": 60})
    assert (await loose.complete(ask(schema=bad))).response_format == "json_object", (
        "else the next form is tried"
    )


async def test_a_reply_that_is_cut_off_says_so(openai, langchain):
    for backend in (openai(params={"max_tokens": 5}), langchain(params={"max_tokens": 5})):
        assert (await backend.complete(ask())).finish == "length"


@pytest.mark.parametrize("form", ["json_object", "text"])
async def test_looser_forms_go_through(openai, form):
    reply = await openai(structured=form, params={"temperature": 1, "max_tokens": 60}).complete(ask())
    assert reply.response_format == form
    assert reply.text


@pytest.mark.slow
async def test_langchain_gets_what_the_schema_allows(langchain):
    backend = langchain(params={"temperature": 1.0, "max_tokens": 200})
    replies = await asyncio.gather(*(backend.complete(ask(f"Judge answer {i}.")) for i in range(10)))
    for reply in replies:
        jsonschema.validate(json.loads(reply.text), SCHEMA)
        assert (reply.response_format, reply.finish, reply.model) == ("json_schema", "stop", "tiny")
        assert reply.usage.input_tokens > 20


@pytest.mark.slow
async def test_the_rubric_judge_works_over_langchain_as_well(langchain, rubric):
    judge = RubricJudge(rubric=rubric, backend=langchain(params=WARM), language="en", logprobs=True)
    verdict = await judge.judge(SAMPLE, answer())
    assert [score.details["method"] for score in verdict.outcomes] == ["logprobs"] * 3
    assert 0 <= verdict.outcomes[0].value <= 1


@pytest.mark.slow
async def test_a_hundred_calls_at_once_are_all_answered(openai):
    backend = openai(params={"temperature": 1, "max_tokens": 200})
    replies = await asyncio.gather(*(backend.complete(ask(f"Judge answer {i}.")) for i in range(100)))
    assert [reply.finish for reply in replies] == ["stop"] * 100
    assert {json.loads(reply.text)["level"] for reply in replies} <= {"A", "B", "C"}
