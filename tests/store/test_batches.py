"""The files of batches and their calls, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hengwen.records import Attempt, Run
from hengwen.store.batches import BatchCall, BatchFile, BatchStore
from hengwen.store.store import Store
from hengwen.store.tables import BATCHED, UNREAD

pytestmark = pytest.mark.slow

FILE = BatchFile(id="b1", plan="p", backend="judge", shard=1, created="2026-01-01")
PROMPT = "Judge by these rules. " * 40


def call(number: int, *, batch: str = "b1", scope: str = "", tries: int = 1) -> BatchCall:
    attempt = Attempt(
        call_key=f"{number:064x}",
        cache_scope=scope,
        attempt_no=tries,
        status=BATCHED,
        run_id="r1",
        role="judge",
        request={"messages": [("user", f"{PROMPT}{number}")], "params": {"top_p": 1}},
        raw="",
    )
    return BatchCall(custom_id=f"{number:064x}", batch_id=batch, attempt=attempt, tries=tries)


def reply(text: str, status: str = UNREAD) -> dict[str, Any]:
    return {
        "status": status,
        "raw": text,
        "calls": 1,
        "input_tokens": 10,
        "output_tokens": 2,
        "model": "m",
        "finish": "stop",
        "extras": {"form": "json_schema"},
    }


@pytest.fixture
def batches(store: Store) -> BatchStore:
    """The batches of a plan, with a run and a file of three calls."""
    ledger = store.ledger()
    ledger.begin(Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="2026-01-01"))
    ledger.commit()
    batches = store.batches("p")
    batches.save(FILE)
    batches.add([call(number) for number in range(3)])
    return batches


@pytest.fixture
def answer(batches: BatchStore) -> Callable[..., None]:
    """Return a function that records the reply to a call."""

    def write(number: int, state: str = "replied", message: str = "", **columns: Any) -> None:
        (head,) = batches.heads([f"{number:064x}"]).values()
        batches.record([(head, state, message, {**reply("good"), **columns})])

    return write


def statuses(store: Store) -> list[str]:
    (run,) = store.runs()
    return sorted(attempt.status for attempt in store.attempts(run))


def test_a_call_is_read_with_its_prompt(store: Store, batches: BatchStore) -> None:
    stored = store.batches("p").find(call(1).custom_id)
    assert stored is not None
    assert stored.attempt.request == {"messages": [("user", f"{PROMPT}1")], "params": {"top_p": 1}}
    assert replace(stored, attempt=call(1).attempt) == call(1)
    assert batches.find(call(9).custom_id) is None
    assert store.batches("q").find(call(1).custom_id) is None


def test_a_file_changes_its_state(batches: BatchStore) -> None:
    assert batches.files() == [FILE]
    later = replace(FILE, state="created", remote_id="batch_1")
    batches.save(later)
    assert batches.files("created") == [later]
    assert batches.files("ready", "uploaded") == []
    batches.end(FILE, status="timeout", message="late")
    assert batches.files() == []


def test_a_reply_is_kept_in_the_attempt_of_its_call(store, batches, answer) -> None:
    answer(1)
    stored = batches.find(call(1).custom_id)
    assert (stored.state, stored.attempt.status, stored.attempt.raw) == ("replied", UNREAD, "good")
    assert (stored.attempt.usage.calls, stored.attempt.usage.input_tokens) == (1, 10)
    assert stored.attempt.extras == {"form": "json_schema"}
    assert statuses(store) == [BATCHED, BATCHED, UNREAD]
    assert (batches.count("open"), batches.count("replied"), batches.count("open", batch_id="x")) == (2, 1, 0)


def test_text_that_no_database_stores_is_replaced(batches, answer) -> None:
    answer(1, "failed", "bad \x00 \ud800", raw="nul \x00", status="rejected")
    stored = batches.find(call(1).custom_id)
    assert (stored.message, stored.attempt.raw) == ("bad \ufffd \ufffd", "nul \ufffd")


def test_a_good_attempt_is_never_replaced(batches, answer) -> None:
    answer(1, status="ok")
    answer(1, raw="worse")
    assert batches.find(call(1).custom_id).attempt.raw == "good"


def test_the_calls_without_a_line_end_with_their_file(store, batches, answer) -> None:
    answer(1)
    batches.end(FILE, status="timeout", message="late")
    assert statuses(store) == ["timeout", "timeout", UNREAD]
    assert (batches.count("again"), batches.count("replied")) == (2, 1)
    assert batches.find(call(2).custom_id).message == "late"
    batches.end(FILE, status="rejected", message="again")
    assert batches.find(call(2).custom_id).message == "late"


def test_a_call_that_is_sent_again_is_in_the_new_file_with_a_new_attempt(store, batches) -> None:
    batches.end(FILE, status="timeout", message="late")
    batches.save(replace(FILE, id="b2"))
    batches.add([call(1, batch="b2", tries=2)])
    stored = batches.find(call(1).custom_id)
    assert (stored.batch_id, stored.tries, stored.attempt.attempt_no) == ("b2", 2, 2)
    assert statuses(store) == [BATCHED, "timeout", "timeout", "timeout"]


@pytest.mark.parametrize("was_cancelled", [False, True])
def test_a_call_of_an_earlier_file_is_as_before_if_its_new_file_is_not_sent(
    store, batches, was_cancelled: bool
) -> None:
    batches.end(FILE, status="timeout", message="late")
    before = batches.find(call(1).custom_id)
    batches.save(replace(FILE, id="b2"))
    batches.add([replace(call(1, batch="b2", tries=2), message="late")])
    batches.void(replace(FILE, id="b2"), was_cancelled=was_cancelled)
    assert statuses(store) == ["timeout"] * 3
    after = batches.find(call(1).custom_id)
    assert after is None if was_cancelled else after == replace(before, batch_id="b2")


@pytest.mark.parametrize("was_cancelled", [False, True])
def test_calls_that_failed_in_a_file_stay_when_it_is_given_up(
    store, batches, answer, was_cancelled: bool
) -> None:
    answer(0, "failed", "too long", status="rejected")
    answer(1, "again", "busy", status="rate_limited")
    batches.void(FILE, was_cancelled=was_cancelled)
    states = [batches.find(call(number).custom_id) for number in range(3)]
    again = None if was_cancelled else "again"
    assert [each and each.state for each in states] == ["failed", again, None]
    assert statuses(store) == ["rate_limited", "rejected"]


def test_a_file_that_was_not_sent_leaves_only_its_replies(store, batches, answer) -> None:
    answer(1)
    batches.void(FILE)
    assert (batches.files(), statuses(store)) == ([], [UNREAD])
    assert batches.find(call(1).custom_id) is not None
    assert batches.find(call(2).custom_id) is None
    assert batches.has_replies()


def test_what_is_over_is_forgotten_but_a_reply_that_nobody_read_is_not(store, batches, answer) -> None:
    answer(0, status="ok")
    answer(1)
    answer(2, "failed", "no", status="rejected")
    batches.end(FILE, status="timeout", message="late")
    batches.forget()
    assert [batches.find(call(number).custom_id) is None for number in range(3)] == [True, False, True]
    assert statuses(store) == ["ok", "rejected", UNREAD]
    answer(1, status="ok")
    batches.forget()
    assert not batches.has_replies()


def test_nothing_is_recorded_for_no_reply(batches) -> None:
    batches.record([])
    assert batches.heads([]) == {}
