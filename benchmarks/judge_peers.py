"""Judge answers with peers, each as its documentation shows; the subject of ``bench_judges.py``.

Every function judges ``count`` answers by a local server, ``concurrency`` at a time, and returns the seconds,
the seconds of CPU, and the megabytes above the memory that the imports and one judgment take. Where a library
judges one answer a call, this module adds the loop and the semaphore.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from typing import TYPE_CHECKING, Any

from harness.processes import process_usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

QUESTION = "第{}位船友问：今晚的风几点停？"
ANSWER = "船友，第{}封信我记一笔，风三点前会停。"
CRITERIA = "回答是否切题，口吻是否像一位老船长，语言是否通顺。"
CHOICES = {"A": 1.0, "B": 0.75, "C": 0.5, "D": 0.25, "E": 0.0}

Cost = dict[str, float]


def measured(judge_all: Callable[[int], None], count: int) -> Cost:
    """Judge one answer, then ``count`` answers; return the cost of the ``count`` answers."""
    judge_all(1)
    cpu, memory = process_usage()
    begin = time.perf_counter()
    judge_all(count)
    wall = time.perf_counter() - begin
    after, peak = process_usage()
    return {"wall": wall, "cpu": after - cpu, "memory": peak - memory}


async def gather_limited(call: Callable[[int], Awaitable[Any]], count: int, concurrency: int) -> None:
    """Await ``count`` calls, ``concurrency`` at a time."""
    gate = asyncio.Semaphore(concurrency)

    async def limited(number: int) -> None:
        async with gate:
            await call(number)

    await asyncio.gather(*(limited(number) for number in range(count)))


def measured_calls(make_call: Callable[[Any], Callable[[int], Awaitable[Any]]], *settings: Any) -> Cost:
    """Measure calls that use the asynchronous client of the openai package.

    Args:
        make_call: Function that takes the client, and returns a function that judges one answer.
        *settings: URL, number of answers, concurrency.
    """
    from openai import AsyncOpenAI

    url, count, concurrency = settings

    async def judge_all(number: int) -> None:
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            await gather_limited(make_call(client), number, concurrency)

    return measured(lambda number: asyncio.run(judge_all(number)), count)


def judge_with_openai(url: str, count: int, concurrency: int) -> Cost:
    """Send the prompts of Hengwen's judge with the bare OpenAI client."""
    from hengwen.judges.rubric.model_judge import verdict_schema
    from hengwen.prompts import load_rubric
    from hengwen.prompts.render import render_judge_prompt
    from hengwen.records import Response, Sample

    rubric = load_rubric("persona_generic")
    schema = {"name": "verdict", "strict": True, "schema": verdict_schema(rubric)}
    sample, response = (
        Sample(id="1", input=QUESTION.format(1)),
        Response(sample_id="1", text=ANSWER.format(1)),
    )
    turns = render_judge_prompt(rubric, sample, response, language="zh")
    messages = [{"role": role, "content": content} for role, content in turns]
    form = {"type": "json_schema", "json_schema": schema}

    def make_call(client: Any) -> Callable[[int], Awaitable[Any]]:
        create = client.chat.completions.create
        return lambda _: create(model="stub", messages=messages, response_format=form)

    return measured_calls(make_call, url, count, concurrency)


def judge_with_openevals(url: str, count: int, concurrency: int) -> Cost:
    """Judge with ``create_async_llm_as_judge``."""
    from openevals.llm import create_async_llm_as_judge

    prompt = CRITERIA + "\n<question>{inputs}</question>\n<answer>{outputs}</answer>"

    def make_call(client: Any) -> Callable[[int], Awaitable[Any]]:
        judge = create_async_llm_as_judge(prompt=prompt, judge=client, model="stub", continuous=True)

        async def call(number: int) -> None:
            result = await judge(inputs=QUESTION.format(number), outputs=ANSWER.format(number))
            assert result["score"] == 0.75

        return call

    return measured_calls(make_call, url, count, concurrency)


def judge_with_autoevals(url: str, count: int, concurrency: int) -> Cost:
    """Judge with ``LLMClassifier``."""
    from autoevals import LLMClassifier

    prompt = CRITERIA + "\n{{input}}\n{{output}}"

    def make_call(client: Any) -> Callable[[int], Awaitable[Any]]:
        judge = LLMClassifier(
            name="persona", prompt_template=prompt, choice_scores=CHOICES, model="stub", client=client
        )

        async def call(number: int) -> None:
            result = await judge.eval_async(output=ANSWER.format(number), input=QUESTION.format(number))
            assert result.score == 0.75

        return call

    return measured_calls(make_call, url, count, concurrency)


def judge_with_inspect(url: str, count: int, concurrency: int) -> Cost:
    """Evaluate a task whose answers are stored, with the scorer ``model_graded_qa``."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import solver

    @solver
    def stored_answers() -> Any:
        async def solve(state: Any, _generate: Any) -> Any:
            state.output = ModelOutput.from_content("stub", ANSWER.format(state.sample_id))
            return state

        return solve

    def judge_all(number: int) -> None:
        samples = [Sample(id=i, input=QUESTION.format(i), target=CRITERIA) for i in range(number)]
        model = get_model("openai/stub", base_url=url, api_key="none", responses_api=False, memoize=False)
        task = Task(MemoryDataset(samples), solver=stored_answers(), scorer=model_graded_qa(model=model))
        with tempfile.TemporaryDirectory() as folder:
            (log,) = evaluate(
                task,
                model=model,
                display="none",
                log_dir=folder,
                max_connections=concurrency,
                max_samples=concurrency,
            )
        assert log.status == "success"
        assert log.results is not None
        assert log.results.scores[0].scored_samples == number

    return measured(judge_all, count)


def judge_with_deepeval(url: str, count: int, concurrency: int) -> Cost:
    """Evaluate test cases with the metric ``GEval`` and fixed evaluation steps."""
    os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_NO_INSPECT_PROMPT": "1"}
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.metrics import GEval
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    def judge_all(number: int) -> None:
        metric = GEval(
            name="persona",
            evaluation_steps=[CRITERIA],
            evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
            model=LocalModel(model="stub", base_url=url, api_key="none"),
        )
        result = evaluate(
            [LLMTestCase(input=QUESTION.format(i), actual_output=ANSWER.format(i)) for i in range(number)],
            [metric],
            async_config=AsyncConfig(max_concurrent=concurrency),
            display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
            cache_config=CacheConfig(write_cache=False),
        )
        assert len(result.test_results) == number

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # deepeval writes to the current folder
        return measured(judge_all, count)


PEERS: dict[str, Callable[[str, int, int], Cost]] = {
    "openai": judge_with_openai,
    "openevals": judge_with_openevals,
    "autoevals": judge_with_autoevals,
    "inspect-ai": judge_with_inspect,
    "deepeval": judge_with_deepeval,
}
REPLIES: dict[str, tuple[str, ...]] = {
    "openevals": ("--content", json.dumps({"reasoning": "切题。", "score": 0.75})),
    "autoevals": ("--tool", "select_choice", "--content", json.dumps({"reasons": "切题。", "choice": "B"})),
    "inspect-ai": ("--content", "切题。GRADE: C"),
    "deepeval": ("--content", json.dumps({"reason": "切题。", "score": 7})),
}
"""Options of ``judge_stub.py`` for replies that a peer can parse; other systems get Hengwen verdicts."""
