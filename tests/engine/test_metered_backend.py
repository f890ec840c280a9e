"""Calls are bounded, retried if that may help, never paid for twice, and all recorded."""

from __future__ import annotations

import asyncio

import pytest

from hengwen.engine.metered_backend import CallContext, Committer
from hengwen.errors import BackendError, JudgeError
from hengwen.records import Reply, Request


@pytest.fixture
def meter(bench) -> CallContext:
    return CallContext(bench.ledger, Committer(bench.ledger), "r1")


def ask(text: str = "x", **more: object) -> Request:
    return Request(messages=(("user", text),), signature="s", **more)


async def test_no_more_calls_are_in_flight_than_there_are_slots(bench, meter: CallContext) -> None:
    oracle = bench.Oracle(delay=0.01)
    backend = bench.wrap(meter, oracle, "judge", slots=3)
    await asyncio.gather(*(backend.complete(ask(str(i))) for i in range(12)))
    assert (oracle.calls, oracle.most) == (12, 3)


async def test_the_same_call_is_made_once_also_while_it_is_in_flight(bench, meter: CallContext) -> None:
    oracle = bench.Oracle(delay=0.01)
    backend = bench.wrap(meter, oracle, "judge")
    replies = await asyncio.gather(*(backend.complete(ask()) for _ in range(5)))
    assert oracle.calls == 1
    assert {reply.text for reply in replies} == {"1"}
    assert (await backend.complete(ask())).text == "1"
    assert oracle.calls == 1
    assert meter.usage["judge"].calls == 1


async def test_two_tasks_that_make_the_same_call_pay_for_it_once(bench, meter: CallContext) -> None:
    oracle = bench.Oracle(delay=0.01)
    tasks = [bench.wrap(meter, oracle, "judge") for _ in range(2)]
    await asyncio.gather(*(backend.complete(ask()) for backend in tasks))
    assert oracle.calls == 1


async def test_another_cache_scope_does_not_reuse_replies(bench, meter: CallContext) -> None:
    oracle = bench.Oracle()
    await bench.wrap(meter, oracle, "judge").complete(ask())
    await bench.wrap(meter, oracle, "judge", cache_scope="r1").complete(ask())
    assert oracle.calls == 2


async def test_a_retryable_error_is_retried_and_every_attempt_is_recorded(bench, meter: CallContext) -> None:
    def answer(number: int, request: Request) -> str:
        if number < 3:
            raise BackendError("busy", status="rate_limited", retryable=True, retry_after=0.0)
        return "fine"

    oracle = bench.Oracle(answer=answer)
    assert (await bench.wrap(meter, oracle, "judge", retries=4).complete(ask())).text == "fine"
    kept = [(attempt.attempt_no, attempt.status) for attempt in bench.ledger.attempts]
    assert kept == [(1, "rate_limited"), (2, "rate_limited"), (3, "ok")]


async def test_retries_end_with_the_last_error(bench, meter: CallContext) -> None:
    oracle = bench.Oracle(answer=bench.refuse(status="transport_error", retryable=True, retry_after=0.0))
    with pytest.raises(BackendError, match="no") as caught:
        await bench.wrap(meter, oracle, "judge", retries=2).complete(ask())
    assert (caught.value.status, oracle.calls) == ("transport_error", 3)


async def test_an_error_that_is_not_retryable_is_not_retried(bench, meter: CallContext) -> None:
    oracle = bench.Oracle(answer=bench.refuse(status="transport_error"))
    with pytest.raises(BackendError):
        await bench.wrap(meter, oracle, "judge", retries=5).complete(ask())
    assert oracle.calls == 1


async def test_a_reply_that_cannot_be_parsed_is_recorded_but_not_reused(bench, meter: CallContext) -> None:
    def parse(reply: Reply) -> str:
        if reply.text == "junk":
            raise JudgeError("not a verdict", status="parse_error", raw=reply.text)
        return reply.text.upper()

    oracle = bench.Oracle(answer=lambda number, request: "junk" if number == 1 else "good")
    backend = bench.wrap(meter, oracle, "judge")
    with pytest.raises(JudgeError, match="not a verdict"):
        await backend.complete_parsed(ask(), parse)
    (attempt,) = bench.ledger.attempts
    assert (attempt.status, attempt.raw, attempt.usage.calls) == ("parse_error", "junk", 1)
    for _ in range(2):  # by a call, then from the ledger
        reply, parsed = await backend.complete_parsed(ask(), parse)
        assert (reply.text, parsed) == ("good", "GOOD")
    assert oracle.calls == 2


def test_an_unreachable_endpoint_is_given_up_after_a_few_calls(bench, instantly) -> None:
    meter = CallContext(bench.ledger, Committer(bench.ledger), "r1")
    oracle = bench.Oracle(answer=bench.refuse(status="transport_error", retryable=True, retry_after=0.0))
    results: list[object] = []

    async def call_all() -> None:
        backend = bench.wrap(meter, oracle, "judge", slots=2, retries=1)
        calls = (backend.complete(ask(str(i))) for i in range(50))
        results.extend(await asyncio.gather(*calls, return_exceptions=True))

    assert instantly(call_all()) <= 12
    assert all(isinstance(result, BackendError) for result in results)
    assert oracle.calls <= 8 + 2 + 11  # a probe each second
    assert "unreachable: " in str(results[-1])


async def test_an_endpoint_that_rejects_every_call_is_given_up_with_that_status(bench) -> None:
    meter = CallContext(bench.ledger, Committer(bench.ledger), "r1")
    oracle = bench.Oracle(answer=bench.refuse(status="rejected"))
    backend = bench.wrap(meter, oracle, "judge", slots=2, retries=1)
    results = await asyncio.gather(
        *(backend.complete(ask(str(i))) for i in range(50)), return_exceptions=True
    )
    assert {result.status for result in results if isinstance(result, BackendError)} == {"rejected"}
    assert oracle.calls <= 8 + 2
    assert "rejects every call: 8 calls in a row" in str(results[-1])


async def test_a_cancelled_call_is_not_recorded_as_a_failure(bench, meter: CallContext) -> None:
    oracle = bench.Oracle(delay=10)
    task = asyncio.ensure_future(bench.wrap(meter, oracle, "judge").complete(ask()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert bench.ledger.attempts == []


async def test_a_reused_reply_equals_the_original(bench, meter: CallContext, monkeypatch) -> None:
    original = Reply(
        text="A", model="m", response_format="tool", logprobs=((b"\xe5\xa5", -0.5, ((b"B", -1.5),)),)
    )
    oracle = bench.Oracle()

    async def complete(request: Request) -> Reply:
        oracle.calls += 1
        return original

    monkeypatch.setattr(oracle, "complete", complete)
    backend = bench.wrap(meter, oracle, "judge")
    assert await backend.complete(ask()) == await backend.complete(ask()) == original
    assert oracle.calls == 1


@pytest.mark.parametrize("retry_after", [60.0, None])
async def test_a_call_that_waits_for_a_retry_ends_when_the_run_is_to_stop(
    bench, meter: CallContext, retry_after: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 60.0)
    oracle = bench.Oracle(answer=bench.refuse(status="timeout", retryable=True, retry_after=retry_after))
    call = asyncio.ensure_future(bench.wrap(meter, oracle, "judge").complete(ask()))
    await asyncio.sleep(0.01)
    assert not call.done()
    meter.stopping.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, 30)
    assert oracle.calls == 1
