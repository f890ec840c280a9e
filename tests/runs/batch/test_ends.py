"""Every end state of a batch, and every kind of line, has its outcome; no call is lost or sent twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from batch_server import answered, completion, good, not_executed, verdict

from hengwen import BackendError, BatchOptions, Failure, RunOptions, Score, TimeLimitError, run_plan

KEY = "sk-planted-4f1c9e"


def scores(store, run) -> list[bool]:
    return [isinstance(row.outcome, Score) for row in store.rows([run])]


def once(first, later):
    """Give the first line for a call, and the later one when it is sent again."""
    ids: set[str] = set()

    def line(request, number):
        if request["custom_id"] in ids:
            return later(request, number)
        ids.add(request["custom_id"])
        return first(request, number)

    return line


@pytest.mark.slow
def test_of_a_batch_that_expires_at_40_percent_the_rest_is_sent_again(
    judged, run, store, batch_server
) -> None:
    batch_server.end_of = lambda number: "expired" if number == 1 else "completed"
    batch_server.line_of = once(
        lambda request, number: good(request, number) if number < 4 else not_executed(request), good
    )
    (stored,) = run(judged(10)).runs
    first, second = batch_server.inputs
    assert [request["custom_id"] for request in first[4:]] == [request["custom_id"] for request in second]
    assert all(scores(store, stored))
    statuses = Counter((attempt.status, attempt.attempt_no) for attempt in store.attempts(stored))
    assert statuses == {("ok", 1): 4, ("timeout", 1): 6, ("ok", 2): 6}
    assert store.usage([stored])["judge"].calls == 10


@pytest.mark.slow
@pytest.mark.parametrize("state", ["completed", "expired"])
def test_calls_without_any_line_are_sent_again(judged, run, store, batch_server, state: str) -> None:
    batch_server.end_of = lambda number: state if number == 1 else "completed"
    batch_server.line_of = once(lambda request, number: good(request, number) if number else None, good)
    (stored,) = run(judged(3)).runs
    assert [len(batch) for batch in batch_server.inputs] == [3, 1]
    assert all(scores(store, stored))


@pytest.mark.slow
def test_a_call_is_sent_as_often_as_the_plan_allows_and_then_fails(judged, run, batch_server) -> None:
    batch_server.line_of = lambda request, number: not_executed(request)  # so there is no output file
    result = run(judged(2, retries=2))
    assert [len(batch) for batch in batch_server.inputs] == [2, 2, 2]
    assert all(batch["output_file_id"] is None for batch in batch_server.batches.values())
    assert result.failures == {"timeout": 2}
    assert (
        result.first_messages["timeout"]
        == "the batch did not execute this request: This request was not executed."
    )


@pytest.mark.slow
def test_a_refused_call_fails_and_is_not_sent_again(judged, run, store, batch_server) -> None:
    refusal = {"error": {"message": f"prompt too long; key {KEY}", "code": "context_length_exceeded"}}
    batch_server.line_of = lambda request, number: (
        good(request, number) if number else answered(request, refusal, 400)
    )
    result = run(judged(3))
    assert [len(batch) for batch in batch_server.inputs] == [3]
    assert result.failures == {"rejected": 1}
    assert result.first_messages["rejected"] == "the endpoint answered 400: prompt too long; key [hidden]"
    assert Counter(scores(store, result.runs[0])) == {True: 12, False: 6}


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 500])
def test_a_call_that_failed_for_now_is_sent_again(judged, run, store, batch_server, status: int) -> None:
    busy = {"error": {"message": "busy"}}
    batch_server.line_of = once(lambda request, number: answered(request, busy, status), good)
    (stored,) = run(judged(2)).runs
    assert [len(batch) for batch in batch_server.inputs] == [2, 2]
    assert all(scores(store, stored))


@pytest.mark.slow
def test_a_refused_response_format_is_replaced_by_a_looser_one(judged, run, store, batch_server) -> None:
    refusal = {"error": {"message": "response_format json_schema is not supported"}}
    schema_of: dict[str, dict] = {}

    def line(request, number):
        kind = request["body"]["response_format"]["type"]
        if kind == "json_schema":
            schema_of[request["custom_id"]] = request
            return answered(request, refusal, 400)
        return answered(request, completion(verdict(schema_of[request["custom_id"]])))

    batch_server.line_of = line
    (stored,) = run(judged(2, retries=0)).runs
    formats = [batch[0]["body"]["response_format"]["type"] for batch in batch_server.inputs]
    assert formats == ["json_schema", "json_object"]
    assert all(scores(store, stored))
    assert {row.outcome.details["form"] for row in store.rows([stored])} == {"json_object"}


@pytest.mark.slow
def test_unknown_repeated_and_truncated_lines_are_skipped_with_a_warning(
    judged, run, store, batch_server
) -> None:
    batch_server.line_of = once(good, good)

    def spoil(lines):
        if len(lines) < 4:
            return lines
        stranger = json.dumps({**json.loads(lines[0]), "custom_id": "f" * 64})
        return [*lines[:3], lines[0], stranger, "[]", "", lines[3][: len(lines[3]) // 2]]

    batch_server.more_lines = spoil
    result = run(judged(4))
    assert [len(batch) for batch in batch_server.inputs] == [4, 1]
    assert all(scores(store, result.runs[0]))
    (warning,) = result.warnings
    assert warning.endswith(
        "skipped 2 unreadable lines, 1 line of an unknown call, 1 line of an answered call"
    )
    downloads = [path for method, path in batch_server.requests if path.endswith("/content")]
    assert (
        len(downloads) == 3
    )  # a file with an unreadable line is read twice, in case only the download was cut
    assert store.usage(result.runs)["judge"].calls == 4


@pytest.mark.slow
def test_a_batch_whose_file_is_refused_makes_failures(judged, run, batch_server) -> None:
    batch_server.end_of = lambda number: "failed"
    result = run(judged(2))
    assert len(batch_server.inputs) == 1
    assert result.failures == {"rejected": 2}
    (batch_id,) = batch_server.batches
    assert result.first_messages["rejected"] == (
        f"batch {batch_id} was refused: The model of the batch does not exist."
    )


@pytest.mark.slow
def test_a_batch_that_was_cancelled_elsewhere_stops_the_run_and_resumes_later(
    judged, run, store, batch_server
) -> None:
    batch_server.end_of = lambda number: "cancelled" if number == 1 else "completed"
    batch_server.line_of = once(
        lambda request, number: (
            good(request, number) if number == 0 else not_executed(request, "batch_cancelled")
        ),
        good,
    )
    plan = judged(3)
    with pytest.raises(
        BackendError, match=r"batch batch_\d+ was cancelled at the provider; its replies are kept"
    ):
        run(plan)
    (stored,) = run(plan).runs
    assert [len(batch) for batch in batch_server.inputs] == [3, 2]
    assert all(scores(store, stored))


@pytest.mark.slow
def test_the_enqueued_token_limit_is_a_wait(judged, run, store, batch_server) -> None:
    batch_server.token_limit = 2
    told: list[str] = []
    (stored,) = run(judged(2), report=told.append).runs
    assert all(scores(store, stored))
    assert len(batch_server.batches) == 3  # two were refused, and one was accepted
    assert len({batch["input_file_id"] for batch in batch_server.batches.values()}) == 1
    assert len(batch_server.sent) == 2
    waits = [sentence for sentence in told if "1 wait for room in the provider's queue" in sentence]
    assert "Enqueued token limit reached for tiny.; if nothing else is enqueued, set batch_tokens" in waits[0]
    assert told[-1].endswith("calls done")  # no word about the limit once the batch is accepted
    assert not any(attempt.status != "ok" for attempt in store.attempts(stored))


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", ["1 open batch", "wait for room"], ids=["created", "uploaded"])
def test_a_file_that_exceeds_the_limit_of_the_account_is_replaced_by_smaller_ones(
    judged, run, store, batch_server, stop_at: str
) -> None:
    def stop(sentence: str) -> None:
        if stop_at in sentence:
            raise KeyboardInterrupt

    batch_server.token_limit = 10**9
    with pytest.raises(KeyboardInterrupt):
        run(judged(3), report=stop)
    batch_server.token_limit = 1 if stop_at == "1 open batch" else 0  # the first answer about the open batch
    (stored,) = run(judged(3, batch_tokens=1)).runs
    assert [len(batch) for batch in batch_server.inputs] == [1, 1, 1]
    assert all(scores(store, stored))


@pytest.mark.slow
def test_a_refusal_for_too_many_batches_is_a_wait(judged, run, store, batch_server) -> None:
    batch_server.reject_create = 3
    (stored,) = run(judged(2)).runs
    assert all(scores(store, stored))
    assert len(batch_server.batches) == 1


@pytest.mark.slow
def test_no_more_tokens_are_enqueued_than_the_plan_allows(judged, run, store, batch_server) -> None:
    open_batches: list[int] = []

    def watch(method, path):
        states = [batch["status"] for batch in batch_server.batches.values()]
        open_batches.append(sum(state in ("validating", "in_progress") for state in states))

    batch_server.on_request = watch
    (stored,) = run(judged(3, batch_tokens=1)).runs
    assert [len(batch) for batch in batch_server.inputs] == [1, 1, 1]
    assert max(open_batches) == 1
    assert all(scores(store, stored))


@pytest.mark.slow
def test_files_are_split_by_requests_and_by_bytes(judged, run, batch_server) -> None:
    run(judged(5), max_requests=2)
    assert [len(batch) for batch in batch_server.inputs] == [2, 2, 1]
    assert sorted(batch["metadata"]["hengwen_shard"] for batch in batch_server.batches.values()) == [
        "1",
        "2",
        "3",
    ]
    batch_server.batches.clear()
    sizes = [file["bytes"] for file in batch_server.files.values() if file["purpose"] == "batch"]
    run(judged(4, params={"temperature": 0}), max_bytes=sizes[0] + sizes[0] // 4)
    assert [len(batch) for batch in batch_server.inputs] == [2, 2]


def test_a_request_that_fits_into_no_file_fails(judged, run, batch_server) -> None:
    result = run(judged(1), max_bytes=100)
    assert result.failures == {"rejected": 1}
    assert "is larger than a batch file may be" in result.first_messages["rejected"]
    assert batch_server.requests == []


@pytest.mark.slow
def test_other_line_separators_do_not_end_a_line(judged, run, store, batch_server) -> None:
    def line(request, number):
        reply = json.loads(verdict(request))
        text = json.dumps({**reply, "reason": "a\u2028b\u0085c\x1dd"}, ensure_ascii=False)
        return answered(request, completion(text))

    batch_server.line_of = line
    (stored,) = run(judged(2)).runs
    assert [len(batch) for batch in batch_server.inputs] == [2]
    assert all(scores(store, stored))


@pytest.mark.slow
def test_a_key_in_a_reply_or_error_reaches_no_store(judged, run, store, batch_server, tmp_path: Path) -> None:
    def line(request, number):
        if number:
            return answered(request, {"error": {"message": f"bad key {KEY}"}}, 401)
        reply = json.loads(verdict(request))
        return answered(request, completion(json.dumps({**reply, "reason": f"key {KEY}"})))

    batch_server.line_of = line
    result = run(judged(2))
    assert Counter(scores(store, result.runs[0])) == {True: 6, False: 6}
    assert any("[hidden]" in attempt.raw for attempt in store.attempts(result.runs[0]))
    store.close()
    for path in tmp_path.glob("x.db*"):
        assert KEY.encode() not in path.read_bytes()
    assert {headers["Authorization"] for headers in batch_server.headers} == {f"Bearer {KEY}"}
    assert not [name for headers in batch_server.headers for name in headers if "stainless" in name.lower()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {"choices": []},
        {"choices": [{"message": {"content": 7}}]},
        {"choices": "x" * 1000, "usage": {"prompt_tokens": -5}},
    ],
)
def test_a_hostile_body_is_a_failure(judged, run, batch_server, body: object) -> None:
    def line(request, number):
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "x", "custom_id": request["custom_id"], "response": response, "error": None}

    batch_server.line_of = line
    result = run(judged(1, retries=0))
    assert result.failures == {"transport_error": 1}


@pytest.mark.slow
def test_a_deeply_nested_line_is_skipped(judged, run, batch_server) -> None:
    batch_server.more_lines = lambda lines: [f'{{"custom_id": "a", "response": {"[" * 100_000}']
    result = run(judged(1, retries=0))
    assert result.failures == {"transport_error": 1}
    assert "skipped 1 unreadable line" in result.warnings[0]


@pytest.mark.slow
def test_a_batch_that_the_provider_drops_the_metadata_of_is_collected(
    judged, run, store, batch_server
) -> None:
    batch_server.drop_metadata = True
    assert all(scores(store, run(judged(1)).runs[0]))


@pytest.mark.slow
def test_a_missing_batch_endpoint_is_an_error_that_names_the_ways_out(judged, run, batch_server) -> None:
    with pytest.raises(BackendError, match="set batch: false for its backend, or use: hengwen batch export"):
        run(judged(1, base_url=f"{batch_server.url}/missing"))


@pytest.mark.slow
def test_the_budget_is_kept_before_a_file_is_sent(judged, run, store, batch_server) -> None:
    tokens = run_tokens(judged, run, batch_server)
    batch_server.batches.clear()
    batch_server.line_of = lambda request, number: answered(
        request, completion(verdict(request), (tokens, 0))
    )
    plan = judged(10, price={"input": 1e6, "output": 0}, params={"max_tokens": 50})
    result = run(plan, budget=tokens * 0.5 * 3.5)  # half the price: three calls fit
    assert len(batch_server.sent) == 3
    assert result.out_of_budget
    assert result.failures == {"budget": 7}
    failures = [row.outcome for row in store.rows(result.runs) if isinstance(row.outcome, Failure)]
    assert failures[0].message.startswith("budget of")


def run_tokens(judged, run, batch_server) -> int:
    """Return the estimated tokens of one call, from the sizes that a run stores."""
    from hengwen.engine.budget import estimate
    from hengwen.records import Request

    run(judged(1, params={"temperature": 0.5}))
    (request,) = batch_server.inputs[0]
    messages = tuple((message["role"], message["content"]) for message in request["body"]["messages"])
    return estimate(Request(messages=messages)).input_tokens


@pytest.mark.slow
def test_a_budget_that_the_replies_leave_room_in_is_used_in_the_next_round(judged, run, batch_server) -> None:
    plan = judged(4, price={"input": 1e6, "output": 1e6}, batch_price={"input": 0, "output": 1})
    batch_server.line_of = lambda request, number: answered(request, completion(verdict(request), (100, 40)))
    result = run(plan, budget=900e-6)  # 400 output tokens are expected of a call, and 40 come
    assert [len(batch) for batch in batch_server.inputs] == [2, 2]
    assert not result.out_of_budget
    assert result.failures == {}


@pytest.mark.slow
def test_a_time_limit_leaves_the_batch_running(judged, store, batch_server) -> None:
    batch_server.polls = 10**9
    plan = judged(1)
    seconds = 0.25
    while not batch_server.batches:  # a busy machine may need more time to send the batch
        seconds *= 2
        options = RunOptions(batch=BatchOptions(poll_seconds=0), time_limit=seconds)
        with pytest.raises(TimeLimitError):
            run_plan(plan, store=store, options=options)
    (batch,) = batch_server.batches.values()
    batch["polls"] = 0
    assert (
        run_plan(plan, store=store, options=RunOptions(batch=BatchOptions(poll_seconds=0))).runs[0].status
        == "finished"
    )
    assert len(batch_server.sent) == 1
