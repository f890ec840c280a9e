"""Whatever bytes an endpoint returns, the outcome is a score that was given, or a typed failure."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.backends import OpenAIBackend
from hengwen.engine.evaluate import JudgeEvaluator
from hengwen.engine.job import Item
from hengwen.judges import RubricJudge
from hengwen.prompts import load_rubric
from hengwen.records import STATUSES, Failure, Response, Sample, Score

pytestmark = pytest.mark.slow

RUBRIC = load_rubric("lyric_craft")
GOOD = {"reason": "r", "criteria": dict.fromkeys(RUBRIC.criteria, "B"), "level": "B"}
SAMPLE, ANSWER = Sample(id="1", input="?"), Response(sample_id="1", text="la la")

JSONISH = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8) | st.just(json.dumps(GOOD)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["message", "content", "refusal", "finish_reason", "logprobs", "tool_calls", "error"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


def completion(content: object, finish: object, logprobs: object, usage: object) -> bytes:
    choice = {"message": {"content": content}, "finish_reason": finish, "logprobs": logprobs}
    return json.dumps({"choices": [choice], "usage": usage, "model": "m"}).encode()


VERDICTS = st.sampled_from([json.dumps(GOOD), json.dumps({**GOOD, "level": "S"}), "B", "", "{", "<think>"])
BODIES = (
    st.binary(max_size=60)
    | JSONISH.map(lambda body: json.dumps(body).encode())
    | JSONISH.map(lambda body: json.dumps({"choices": [body]}).encode())
    | st.builds(
        completion,
        VERDICTS | JSONISH,
        st.sampled_from(["stop", "length", "content_filter", None]) | JSONISH,
        JSONISH,
        JSONISH,
    )
)
ANSWERS = st.tuples(st.sampled_from([200, 200, 200, 302, 400, 429, 500]), BODIES)


@settings(deadline=None, max_examples=200)
@given(st.lists(ANSWERS, min_size=1, max_size=4), st.booleans())
def test_any_answers_of_an_endpoint_make_scores_or_failures(answers, logprobs):
    backend = OpenAIBackend(model="m", base_url="http://nowhere.invalid/v1")
    calls = []

    async def post(body: bytes):
        calls.append(body)
        status, raw = answers[(len(calls) - 1) % len(answers)]
        return status, {}, raw

    backend._post = post  # type: ignore[method-assign]
    judge = RubricJudge(rubric=RUBRIC, backend=backend, logprobs=logprobs)
    outcomes = asyncio.run(JudgeEvaluator(judge).judge(Item.build(SAMPLE, ANSWER)))
    assert [outcome.name for outcome in outcomes] == list(judge.names)
    for outcome in outcomes:
        assert isinstance(outcome, (Score, Failure))
        if isinstance(outcome, Score):
            assert outcome.value == 0.75, "the only level that a reply named"
        else:
            assert outcome.status in STATUSES
            assert outcome.status != "scorer_error", outcome.message
    assert len(calls) <= 8
