"""The decisions backend against a server on loopback that speaks the endpoint's wire format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from hengwen.backends import DecisionsBackend
from hengwen.errors import BackendError, ConfigError
from hengwen.judges.rubric.judge import RubricJudge
from hengwen.prompts import load_rubric
from hengwen.prompts.rubric import Rubric
from hengwen.records import Request, Response, Sample

RUBRIC = load_rubric("lyric_craft")
SAMPLE, ANSWER = Sample(id="1", input="写一首歌"), Response(sample_id="1", text="月亮 🌙 代表我的心")
USAGE = {
    "input_tokens": 210,
    "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 213,
}


def choice(
    name: str | None, *probabilities: float, labels: Sequence[str] = "EDCBA", **changed: Any
) -> dict[str, Any]:
    """Return an answer as openai's ``AnswerAnswerResourceChoice`` has it."""
    likely = max(zip(probabilities, labels, strict=True))[1]
    entries = [
        {"value": label, "probability": value} for label, value in zip(labels, probabilities, strict=True)
    ]
    answer = {"type": "choice", "name": name, "choice": likely, "confidence": max(probabilities)}
    return {**answer, "probabilities": entries, **changed}


def decision(*answers: Any, **changed: Any) -> dict[str, Any]:
    return {"answers": list(answers), "model": "gpt-6-luna-2026", "usage": USAGE, **changed}


FAIR = (0.0, 0.1, 0.2, 0.3, 0.4)


@pytest_asyncio.fixture
async def judge(server):
    backend = DecisionsBackend(model="gpt-6-luna", base_url=server.url)
    yield RubricJudge(rubric=RUBRIC, backend=backend)
    await backend.close()


def answers_of(*levels: tuple[float, ...]) -> list[dict[str, Any]]:
    return [choice(f"q{number}", *level) for number, level in enumerate(levels, 1)]


def all_answers(level: tuple[float, ...] = FAIR) -> list[dict[str, Any]]:
    """Return an answer to each criterion, and one to the level, which comes last."""
    return answers_of(*[(0, 0, 0, 0, 1)] * len(RUBRIC.criteria), level)


async def test_the_levels_of_the_rubric_are_the_choices_of_each_question(server, judge):
    server.reply(decision(*all_answers()))
    await judge.judge(SAMPLE, ANSWER)
    first, _, body = server.requests[0]
    assert first == "POST /v1/decisions HTTP/1.1"
    assert body.keys() == {"model", "input", "questions"}
    assert [message["role"] for message in body["input"]] == ["system", "user"]
    assert ANSWER.text in body["input"][1]["content"]
    assert [question["name"] for question in body["questions"]] == [
        f"q{number}" for number in range(1, len(RUBRIC.criteria) + 2)
    ]
    for field, question in zip((*RUBRIC.criteria, "level"), body["questions"], strict=True):
        assert question["type"] == "choice"
        assert repr(field) in question["instructions"]
        assert [entry["value"] for entry in question["choices"]] == list(RUBRIC.labels)[::-1]


async def test_the_score_is_the_expected_level(server, judge):
    server.reply(decision(*all_answers()))
    verdict = await judge.judge(SAMPLE, ANSWER)
    level, *criteria = verdict.outcomes
    assert level.value == pytest.approx(0.1 * 0.25 + 0.2 * 0.5 + 0.3 * 0.75 + 0.4)
    assert [criterion.value for criterion in criteria] == [1.0] * len(RUBRIC.criteria)
    assert level.scale.levels is None
    assert level.details["label"] == "A"
    assert level.details["weights"] == {"D": 0.1, "C": 0.2, "B": 0.3, "A": 0.4}
    assert (level.details["method"], level.details["form"]) == ("logprobs", "choices")
    assert verdict.reason.endswith("level: A 0.40, B 0.30, C 0.20, D 0.10")
    assert (verdict.usage.calls, verdict.usage.input_tokens, verdict.usage.output_tokens) == (1, 210, 3)
    assert verdict.model == "gpt-6-luna-2026"
    assert "decisions/gpt-6-luna|logprobs" in level.signature


def one_word_levels(*labels: str) -> Rubric:
    both = {"zh": "x", "en": "x"}
    levels = {value: {"label": label, **both} for value, label in enumerate(labels)}
    return Rubric.model_validate(
        {"name": "r", "version": 1, "title": both, "instructions": both, "levels": levels}
    )


async def test_a_label_that_begins_another_label_keeps_its_own_probability(server, judge):
    rubric = one_word_levels("1", "10", "100")
    server.reply(decision(choice(None, 0.5, 0.3, 0.2, labels=["1", "10", "100"])))
    verdict = await replace(judge, rubric=rubric, name="").judge(SAMPLE, ANSWER)
    assert verdict.outcomes[0].value == pytest.approx(0.7)


async def test_a_label_with_a_quote_is_refused_before_the_call(server, judge):
    with pytest.raises(BackendError, match="rename the level") as caught:
        await replace(judge, rubric=one_word_levels('"no"', "yes"), name="").judge(SAMPLE, ANSWER)
    assert (caught.value.status, server.requests) == ("rejected", [])


async def failure(judge, server, body: Any, status: int = 200) -> BackendError:
    server.reply(body, status)
    with pytest.raises(BackendError) as caught:
        await judge.judge(SAMPLE, ANSWER)
    assert len(server.requests) == 1, "a second call would not be answered otherwise"
    return caught.value


async def test_a_refused_question_is_a_refusal_of_the_verdict(server, judge):
    answers = all_answers()
    answers[0] = {"type": "refusal", "name": "q1"}
    error = await failure(judge, server, decision(*answers))
    assert (error.status, error.retryable) == ("refused", False)
    assert next(iter(RUBRIC.criteria)) in str(error)


@pytest.mark.parametrize(
    "wrong",
    [
        choice("q1", 0.1, 0.1, 0.1, 0.1, 0.1),
        choice("q1", 1, 1, 1, 1, 1),
        choice("q1", -0.5, 0, 0, 0.5, 1),
        choice("q1", 0, 0, 0, 0, 1.5),
        choice("q1", *FAIR, choice="E"),
        choice("q1", *FAIR, choice="Z"),
        choice("q1", *FAIR, choice=True),
        choice("q1", *FAIR, labels="EDCBZ"),
        choice("q1", *FAIR, labels="EDCAA"),
        choice("q1", *FAIR, probabilities=[]),
        choice("q1", *FAIR, probabilities=None),
        choice("q1", *FAIR, probabilities=[{"value": "A", "probability": True}]),
        choice("q1", *FAIR, probabilities=[{"value": "A", "probability": "1"}]),
        choice("q1", *FAIR, probabilities=[{"value": ["A"], "probability": 1}]),
        choice("q1", *FAIR, probabilities=["A"]),
        choice("q2", *FAIR),
        {"type": "predicate", "name": "q1", "probability": 0.7},
        {},
        None,
    ],
)
async def test_malformed_probabilities_are_a_parse_error(server, judge, wrong):
    error = await failure(judge, server, decision(wrong, *all_answers()[1:]))
    assert (error.status, error.retryable) == ("parse_error", False)
    assert json.loads(error.raw)["answers"][0] == wrong


async def test_a_probability_that_is_no_number_of_json_is_no_score(server, judge):
    server.reply(json.dumps(decision(*all_answers((float("nan"), 0, 0, 0, 1)))))
    with pytest.raises(BackendError) as caught:
        await judge.judge(SAMPLE, ANSWER)
    assert caught.value.status in ("parse_error", "transport_error")


async def test_an_answer_too_few_is_a_parse_error(server, judge):
    assert (await failure(judge, server, decision(*all_answers()[1:]))).status == "parse_error"


@pytest.mark.parametrize("body", [[], {}, {"answers": None}, {"error": {"message": "overloaded"}}])
async def test_a_body_without_answers_may_succeed_later(server, judge, body):
    error = await failure(judge, server, body)
    assert (error.status, error.retryable) == ("transport_error", True)


async def test_a_refused_key_is_named_but_not_shown(server, judge, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted/0123456789")
    error = await failure(judge, server, {"error": {"message": "bad key sk-planted/0123456789"}}, 401)
    assert error.status == "rejected"
    assert "check the key in OPENAI_API_KEY" in str(error)
    assert "sk-planted" not in str(error) + error.raw


@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {"text": {"type": "string"}}}])
async def test_a_request_for_text_names_the_way_out(server, schema):
    backend = DecisionsBackend(model="m", base_url=server.url)
    with pytest.raises(BackendError, match="name another backend") as caught:
        await backend.complete(Request(messages=(("user", "Write a song."),), schema=schema))
    assert (caught.value.status, server.requests) == ("rejected", [])


@pytest.mark.parametrize("name", ["input", "questions", "model"])
def test_params_cannot_replace_what_is_asked(name):
    with pytest.raises(ConfigError, match=f"params may not set '{name}'"):
        DecisionsBackend(model="m", base_url="http://localhost:1/v1", params={name: []})


async def test_texts_with_lone_surrogates_are_sent(server, judge):
    server.reply(decision(*all_answers()))
    verdict = await judge.judge(Sample(id="1", input="\ud800"), ANSWER)
    assert verdict.outcomes[0].value == pytest.approx(0.75)
