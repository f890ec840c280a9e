"""Every field of a recorded attempt, the cost of calls against a budget, and the counts of a dry run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rows import each_row
from score_rows import row_of

from hengwen.engine import metered_backend
from hengwen.engine.job import item_hash
from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import (
    PLACEHOLDER_ANSWER,
    Budget,
    CallContext,
    Committer,
    DryBackend,
    DryLedger,
    LedgerBackend,
    Price,
    estimate,
    estimate_tokens,
)
from hengwen.engine.recorder import MemoryLedger
from hengwen.errors import BackendError, JudgeError
from hengwen.records import Attempt, Failure, Reply, Request, Response, Row, Run, Sample, Score, Usage

ASK = Request(messages=(("user", "abcd"),), params={"max_tokens": 50}, signature="s")
REPLY = Reply(
    text="fine",
    model="m",
    usage=Usage(calls=1, input_tokens=7, output_tokens=3),
    latency=1.5,
    finish="length",
)
PRICE = Price(input=1_000_000.0, output=10_000_000.0)
"""1 for each token that is read, 10 for each that is written."""
ESTIMATE = 5.0 + 500.0
"""What the call is expected to cost: four tokens of a turn, one of the text, fifty of the reply."""


class Answering:
    """Returns or raises its replies in order."""

    signature = "answering|temp:0"
    endpoint = "https://model.invalid"

    def __init__(self, *replies: Reply | Exception) -> None:
        self.replies = list(replies)
        self.calls = 0

    async def complete(self, request: Request) -> Reply:
        self.calls += 1
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


class Counting(Committer):
    """Notes which commits were for paid answers."""

    def __init__(self) -> None:
        super().__init__(MemoryLedger())
        self.paid: list[bool] = []

    def schedule_commit(self, *, paid: bool = False) -> None:
        self.paid.append(paid)


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> CallContext:
    """A meter without a budget, on a clock on which each look takes a quarter of a second."""
    ticks = iter([number / 4 for number in range(1000)])
    monkeypatch.setattr(metered_backend, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    return CallContext(MemoryLedger(), Counting(), "r1")


def kept(**more: Any) -> Attempt:
    plain = Attempt(
        call_key=ASK.key("https://model.invalid"),
        cache_scope="",
        attempt_no=1,
        status="ok",
        run_id="r1",
        role="judge",
        request={"messages": ASK.messages, "params": {"max_tokens": 50}},
        raw="fine",
        usage=REPLY.usage,
        latency=1.5,
        model="m",
        finish="length",
    )
    return replace(plain, **more)


def wrap(
    meter: Any, backend: Answering, limiter: Limiter | None = None, **more: Any
) -> metered_backend.LedgerBackend:
    return LedgerBackend(meter, backend, more.pop("role", "judge"), limiter or Limiter(4), **more)


async def test_every_field_of_a_successful_attempt_is_recorded(meter: Any) -> None:
    reply = replace(REPLY, response_format="tool")
    assert await wrap(meter, Answering(reply)).complete(ASK) == reply
    assert meter.ledger.attempts == [kept(extras={"form": "tool"})]
    assert meter.committer.paid == [True]
    assert meter.usage == {"judge": REPLY.usage, "subject": Usage()}


async def test_every_field_of_an_attempt_without_reply_is_recorded(meter: Any) -> None:
    backend = wrap(
        meter, Answering(BackendError("busy", status="timeout", raw="<html>")), retries=0, role="subject"
    )
    with pytest.raises(BackendError, match="busy"):
        await backend.complete(ASK)
    unanswered = {"usage": Usage(), "latency": 0.25, "model": "", "finish": ""}
    assert meter.ledger.attempts == [kept(status="timeout", raw="<html>", role="subject", **unanswered)]
    assert meter.committer.paid == [False]


@pytest.mark.parametrize(("error_raw", "raw"), [("", "fine"), ("the part", "the part")])
async def test_every_field_of_an_attempt_that_cannot_be_parsed_is_recorded(
    meter: Any, error_raw: str, raw: str
) -> None:
    def accept(reply: Reply) -> None:
        raise JudgeError("not a verdict", status="parse_error", raw=error_raw)

    with pytest.raises(JudgeError, match="not a verdict"):
        await wrap(meter, Answering(REPLY)).complete_parsed(ASK, accept)
    assert meter.ledger.attempts == [kept(status="parse_error", raw=raw)]
    assert meter.committer.paid == [False]


async def test_the_usage_of_all_calls_of_a_role_is_summed(meter: Any) -> None:
    judge = wrap(meter, Answering(REPLY, REPLY))
    for name in ("a", "b"):
        await judge.complete(replace(ASK, signature=name))
    await wrap(meter, Answering(REPLY), role="subject").complete(replace(ASK, signature="c"))
    assert meter.usage == {"judge": REPLY.usage + REPLY.usage, "subject": REPLY.usage}


async def test_by_default_a_call_has_four_retries(meter: Any) -> None:
    backend = Answering(
        *[BackendError("busy", status="transport_error", retryable=True, retry_after=0.0)] * 9
    )
    with pytest.raises(BackendError, match="busy"):
        await wrap(meter, backend).complete(ASK)
    assert backend.calls == 5


async def test_an_error_of_the_parser_is_not_retried(meter: Any) -> None:
    busy = BackendError("busy", status="timeout", retryable=True, retry_after=0.0)
    backend = Answering(busy, JudgeError("not a verdict", status="parse_error"), REPLY)
    with pytest.raises(JudgeError, match="not a verdict"):
        await wrap(meter, backend).complete(ASK)
    assert backend.calls == 2


async def test_a_reply_resets_the_count_of_unreachable_calls(meter: Any) -> None:
    gone = BackendError("gone", status="transport_error")
    backend = Answering(*[gone] * 7, REPLY, *[gone] * 8, REPLY)
    calls = wrap(meter, backend, retries=0)
    for number in range(16):
        if number == 7:
            await calls.complete(replace(ASK, repeat=number))
        else:
            with pytest.raises(BackendError, match="^gone$"):
                await calls.complete(replace(ASK, repeat=number))
    with pytest.raises(BackendError) as caught:
        await calls.complete(replace(ASK, repeat=99))
    assert str(caught.value) == "https://model.invalid is unreachable: 8 calls in a row got no reply"
    assert (caught.value.status, caught.value.retryable) == ("transport_error", False)


@pytest.mark.parametrize(("status", "limit"), [("timeout", 2), ("rate_limited", 4), ("refused", 4)])
async def test_an_endpoint_that_times_out_gets_half_the_calls(meter: Any, status: str, limit: int) -> None:
    limiter = Limiter(4)
    limiter.circuit.on_reply()
    with pytest.raises(BackendError):
        await wrap(meter, Answering(BackendError("no", status=status)), limiter, retries=0).complete(ASK)
    assert limiter.limit == limit


@each_row(("limit", "calls"), [(ESTIMATE, 1), (ESTIMATE - 0.5, 0), (37 + ESTIMATE, 2), (36 + ESTIMATE, 1)])
async def test_a_call_is_made_where_its_estimate_is_within_the_budget(limit: float, calls: int) -> None:
    meter = CallContext(MemoryLedger(), Counting(), "r1", Budget(limit))
    backend = wrap(meter, Answering(REPLY, REPLY), price=PRICE)  # each costs 7 + 30
    errors = []
    for repeat in (1, 2):
        try:
            await backend.complete(replace(ASK, repeat=repeat))
        except BackendError as error:
            errors.append(error.status)
    assert errors == ["budget"] * (2 - calls)
    assert (meter.budget.spent, meter.budget.reserved) == (37.0 * calls, 0.0)
    assert meter.budget.stopped is (calls < 2)


async def test_parameters_of_the_backend_count_for_the_estimate() -> None:
    meter = CallContext(MemoryLedger(), Counting(), "r1", Budget(100.0))
    plain = replace(ASK, params={})
    with pytest.raises(BackendError, match="budget of 100 would be exceeded .0.0000 spent"):
        await wrap(meter, Answering(REPLY), price=PRICE).complete(plain)
    await wrap(meter, Answering(REPLY), price=PRICE, params={"max_tokens": 9}).complete(plain)


async def test_a_call_that_fails_costs_nothing() -> None:
    meter = CallContext(MemoryLedger(), Counting(), "r1", Budget(1000.0))
    with pytest.raises(BackendError, match="busy"):
        await wrap(meter, Answering(BackendError("busy", status="timeout")), price=PRICE, retries=0).complete(
            ASK
        )
    assert (meter.budget.spent, meter.budget.reserved, meter.budget.stopped) == (0.0, 0.0, False)


@pytest.mark.parametrize(("tpm", "tokens"), [(600.0, [55]), (None, [0])])
async def test_tokens_are_counted_where_the_endpoint_limits_them(
    meter: Any, tpm: float | None, tokens: list[int]
) -> None:
    class Noting(Limiter):
        taken: list[int] = []

        async def acquire(self, tokens: int = 0) -> int:
            self.taken = [*self.taken, tokens]
            return await super().acquire(tokens)

    limiter = Noting(4, tpm=tpm)
    await wrap(meter, Answering(REPLY), limiter).complete(ASK)
    assert limiter.taken == tokens


def test_the_estimate_counts_every_turn_and_one_call() -> None:
    request = Request(messages=(("system", "四个字啊"), ("user", "abcdefgh")))
    assert estimate(request) == Usage(calls=1, input_tokens=4 + 4 + 4 + 2, output_tokens=400)


def test_the_price_is_of_a_million_tokens() -> None:
    assert Price(input=2.0, output=5.0).cost(Usage(input_tokens=3_000_000, output_tokens=1_000_000)) == 11.0
    assert isinstance(estimate_tokens("四个字"), int)


def test_a_budget_may_be_spent_completely() -> None:
    budget = Budget(10.0)
    assert budget.stopped is False
    assert budget.reserve(PRICE, Usage(input_tokens=10)) == 10.0


async def test_a_dry_run_counts_the_calls_that_it_does_not_make() -> None:
    backend = DryBackend(Answering(), answers=True, params={"max_tokens": 9})
    for _ in range(2):
        assert (await backend.complete(replace(ASK, params={}))).text == PLACEHOLDER_ANSWER
    assert backend.expected == Usage(calls=2, input_tokens=10, output_tokens=18)
    assert (backend.signature, backend.endpoint) == (Answering.signature, Answering.endpoint)
    judge = DryBackend(Answering(), answers=False)
    with pytest.raises(BackendError, match="^a dry run sends no calls$") as caught:
        await judge.complete(ASK)
    assert (caught.value.status, judge.expected) == (
        "budget",
        Usage(calls=1, input_tokens=5, output_tokens=50),
    )


SCORE = Score(name="x", value=1, signature="x|v:1")


def row(run: str = "r1", sample: str = "a", **outcome: Any) -> Row:
    result = Failure(name="x", signature="x|v:1", message="", **outcome) if outcome else SCORE
    return row_of(
        run_id=run,
        task="t",
        checkpoint="c",
        sample_id=sample,
        repeat=1,
        cluster=sample,
        outcome=result,
        item_hash="i",
    )


def run(name: str = "r1", **more: str) -> Run:
    return Run(**{"id": name, "plan": "p", "plan_hash": "h", "checkpoint": "c", **more})


def key(sample: str) -> tuple[str, str, int, str, str]:
    return ("t", sample, 1, "x|v:1", "i")


def test_a_dry_run_reads_the_ledger_and_writes_nothing() -> None:
    ledger = MemoryLedger()
    dry = DryLedger(ledger)
    ledger.begin(run())
    ledger.record_rows([row(), row(sample="b")])
    ledger.record_attempt(kept())
    assert dry.done(run()) == {key("a"): "r1", key("b"): "r1"}
    assert dry.read("r1", key("a")) == [SCORE]
    assert dry.find_call(kept().call_key, "") == kept()
    assert dry.find_call(kept().call_key, "other") is None
    assert (dry.next_attempt_no(kept().call_key, ""), dry.next_attempt_no("other", "")) == (2, 1)
    dry.begin(run("r2"))
    dry.record_rows([row("r2")])
    dry.adopt("r2", "r1", key("a"))
    dry.record_attempt(kept(attempt_no=2))
    dry.record_response("r2", Sample(id="a"), Response(sample_id="a", text="x"))
    dry.commit()
    dry.commit_attempts()
    assert (list(ledger.runs), len(ledger.rows), ledger.attempts, ledger.responses) == (
        ["r1"],
        2,
        [kept()],
        [],
    )


def test_the_memory_ledger_prefers_rows_of_the_run_itself_and_ignores_failures() -> None:
    ledger = MemoryLedger()
    for earlier in (run("r0"), run("r1"), run("other", checkpoint="d"), run("else", plan="q")):
        ledger.begin(earlier)
    ledger.record_rows([row("r1"), row("r0"), row("r0", "b"), row("other", "c"), row("else", "d")])
    ledger.record_rows([row("r1", "e", status="not_applicable"), row("r1", "f", status="timeout")])
    assert ledger.done(run()) == {key("a"): "r1", key("b"): "r0", key("e"): "r1"}
    assert (ledger.read("r0", key("b")), ledger.read("r1", key("b"))) == ([SCORE], [])


def test_an_item_hash_depends_on_sample_answer_earlier_answers_and_namespace() -> None:
    sample = Sample(id="a", input="x")
    answer = Response(sample_id="a", text="y")
    hashes = [
        item_hash(sample, answer),
        item_hash(replace(sample, input="z"), answer),
        item_hash(sample, replace(answer, text="z")),
        item_hash(sample, answer, [answer]),
        item_hash(sample, answer, [replace(answer, text="z")]),
        item_hash(sample, answer, namespace="anchor"),
    ]
    assert len(set(hashes)) == len(hashes)
    assert item_hash(sample, answer) == item_hash(sample, answer, (), "")
