"""The ledger over a database does what the ledger in memory does, and survives its process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from score_rows import by_score, row_of

from hengwen.records import Attempt, Failure, Response, Row, Run, Sample, Scale, Score, Usage
from hengwen.store import Store, open_store

KEY = "0c" * 32
RUN = Run(
    id="r1",
    plan="p",
    plan_hash="h",
    checkpoint="c",
    started="2026-01-01",
    versions={"numpy": "2"},
    score_order=("t/s.level",),
    step=5,
)
SCALE = Scale(low=0, high=1, levels=(0, 0.5, 1))
SCORE = Score(
    name="s.level",
    value=0.5,
    signature="s|v:1",
    scale=SCALE,
    kind="judge",
    reason="好",
    details={"label": "C"},
)
FAILURE = Failure(
    name="s.level", status="parse_error", message="what?", signature="s|v:1", kind="judge", raw="<b>"
)


def row(
    outcome: Score | Failure = SCORE, sample: str | None = "a", repeat: int | None = 1, run: str = "r1"
) -> Row:
    return row_of(
        run_id=run,
        task="t",
        checkpoint="c",
        sample_id=sample,
        repeat=repeat,
        cluster=sample or "t",
        outcome=outcome,
        item_hash="i",
    )


def attempt(attempt_no: int = 1, status: str = "ok", raw: str = "{}", key: str = KEY) -> Attempt:
    return Attempt(
        call_key=key,
        cache_scope="",
        attempt_no=attempt_no,
        status=status,
        run_id="r1",
        role="judge",
        request={"messages": [("user", "你好")]},
        raw=raw,
        usage=Usage(calls=1, input_tokens=3, output_tokens=2),
        latency=0.5,
        model="m",
        finish="stop",
        extras={"form": "tool", "logprobs": [["A", -0.1, []]]},
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "x.db") as opened:
        yield opened


@pytest.mark.slow
def test_all_that_was_recorded_comes_back_as_it_was(store: Store) -> None:
    ledger = store.ledger()
    ledger.begin(RUN)
    rows = [row(), row(FAILURE, "b"), row(replace(SCORE, name="set", scale=None, details={}), None, None)]
    ledger.record_rows(rows)
    sample = Sample(id="a", input=(("user", "问"),), references=("答",), metadata={"x": 1})
    ledger.record_response("r1", sample, Response(sample_id="a", text="答\n案", task="t", checkpoint="c"))
    ledger.record_attempt(attempt())
    ledger.commit()
    assert store.runs() == [RUN]
    assert list(store.rows([RUN])) == rows
    (answer,) = store.answers(RUN)
    assert (answer.input, answer.text, answer.outcomes) == ("问", "答\n案", by_score(SCORE))
    assert store.usage([RUN]) == {"judge": Usage(calls=1, input_tokens=3, output_tokens=2)}
    assert store.ledger().find_call(KEY, "") == attempt()


@pytest.mark.slow
def test_the_very_prompt_comes_back_though_long_prefixes_are_stored_once(store: Store) -> None:
    rules = "按这份细则评判。" * 300
    prompts = [(("system", f"{rules}围栏是 {number:04x}"), ("user", f"第{number}题")) for number in range(50)]
    ledger = store.ledger()
    ledger.begin(RUN)
    for number, messages in enumerate(prompts):
        ledger.record_attempt(replace(attempt(key=f"{number:064x}"), request={"messages": messages}))
        if number % 7 == 0:
            ledger.commit()
    ledger.commit()
    attempts = sorted(store.attempts(RUN), key=lambda attempt: attempt.call_key)
    assert [tuple(stored.request["messages"]) for stored in attempts] == prompts
    assert store.ledger().find_call(f"{3:064x}", "").request["messages"] == list(prompts[3])
    with store._engine.connect() as connection:
        kept = connection.exec_driver_sql("SELECT SUM(LENGTH(request)) FROM attempt").scalar_one()
        shared = connection.exec_driver_sql("SELECT SUM(LENGTH(text)) FROM prompt").scalar_one()
    assert kept + shared < len(prompts) * len(rules) / 5


def test_a_prompt_that_no_database_takes_is_kept_with_marks_in_its_place(store: Store) -> None:
    rules = "按这份\ud800细则\x00评判。" * 300
    ledger = store.ledger()
    ledger.begin(RUN)
    for number in range(3):
        messages = (("system", f"{rules}{number}"), ("user", "问\ud800"))
        ledger.record_attempt(replace(attempt(key=f"{number:064x}"), request={"messages": messages}))
    ledger.commit()
    for number, kept in enumerate(sorted(store.attempts(RUN), key=lambda attempt: attempt.call_key)):
        (_, system), (_, user) = kept.request["messages"]
        assert system.replace("\x00", "\ufffd") == f"{rules}{number}".translate({0xD800: 0xFFFD, 0: 0xFFFD})
        assert user == "问\ufffd"


def test_what_was_not_committed_is_not_there(store: Store) -> None:
    ledger = store.ledger()
    ledger.begin(RUN)
    ledger.record_rows([row()])
    assert store.runs() == []


def test_attempts_can_be_committed_before_the_rest(store: Store) -> None:
    ledger = store.ledger()
    ledger.begin(RUN)
    ledger.record_rows([row()])
    ledger.record_response("r1", Sample(id="a"), Response(sample_id="a", text="答", task="t"))
    ledger.record_attempt(attempt())
    ledger.commit_attempts()
    assert store.ledger().find_call(KEY, "") == ledger.find_call(KEY, "") == attempt()
    assert (store.runs(), list(store.rows([RUN])), list(store.answers(RUN))) == ([], [], [])
    assert ledger.next_attempt_no(KEY, "") == 2
    ledger.commit()
    assert (store.runs(), list(store.rows([RUN])), len(list(store.answers(RUN)))) == ([RUN], [row()], 1)
    assert list(store.attempts(RUN)) == [attempt()]


def test_a_row_at_the_same_place_replaces_the_one_before(store: Store) -> None:
    ledger = store.ledger()
    ledger.begin(RUN)
    ledger.record_rows([row(FAILURE)])
    ledger.commit()
    ledger.record_rows([row(FAILURE), row(SCORE)])
    ledger.commit()
    assert [stored.outcome for stored in store.rows([RUN])] == [SCORE]


def test_only_good_attempts_are_found_and_numbers_go_on(store: Store) -> None:
    ledger = store.ledger()
    ledger.record_attempt(attempt(1, "timeout"))
    assert ledger.find_call(KEY, "") is None
    assert ledger.next_attempt_no(KEY, "") == 2
    ledger.commit()
    ledger = store.ledger()
    assert (ledger.find_call(KEY, ""), ledger.next_attempt_no(KEY, "")) == (None, 2)
    ledger.record_attempt(attempt(2))
    assert ledger.find_call(KEY, "") == attempt(2)
    ledger.commit()
    assert ledger.find_call(KEY, "") == attempt(2)
    assert ledger.find_call(KEY, "another scope") is None


@pytest.mark.parametrize(
    ("outcomes", "settled"),
    [
        ([SCORE], True),
        ([replace(FAILURE, status="not_applicable")], True),
        ([FAILURE], False),
        ([SCORE, replace(FAILURE, name="s.voice")], False),
    ],
    ids=["score", "not applicable", "failure", "half a verdict"],
)
def test_done_is_what_needs_no_second_try(store: Store, outcomes: list, settled: bool) -> None:
    ledger = store.ledger()
    ledger.begin(RUN)
    ledger.record_rows([row(outcome) for outcome in outcomes])
    ledger.commit()
    assert ledger.done(RUN).get(("t", "a", 1, "s|v:1", "i")) == ("r1" if settled else None)


def test_rows_of_an_earlier_run_of_the_series_can_be_adopted(store: Store) -> None:
    ledger = store.ledger()
    later = replace(RUN, id="r2", started="2026-01-02")
    other = replace(RUN, id="r3", checkpoint="d", started="2026-01-03")
    for run in (RUN, later, other):
        ledger.begin(run)
    ledger.record_rows([row(), row(SCORE, None, None)])
    ledger.commit()
    done = ledger.done(later)
    assert done.get(("t", "a", 1, "s|v:1", "i")) == done.get(("t", None, None, "s|v:1", "i")) == "r1"
    assert len(done) == 2
    assert len(ledger.done(other)) == 0
    ledger.adopt("r2", "r1", ("t", "a", 1, "s|v:1", "i"))
    ledger.adopt("r2", "r1", ("t", None, None, "s|v:1", "i"))
    ledger.commit()
    assert list(store.rows([later])) == [row(run="r2"), row(SCORE, None, None, run="r2")]


def test_what_is_adopted_takes_the_place_of_what_failed(store: Store) -> None:
    ledger = store.ledger()
    later = replace(RUN, id="r2", started="2026-01-02")
    for run in (RUN, later):
        ledger.begin(run)
    ledger.record_rows([row(), row(FAILURE, run="r2")])
    ledger.commit()
    key = ("t", "a", 1, "s|v:1", "i")
    assert ledger.done(later).get(key) == "r1"
    assert (ledger.read("r1", key), ledger.read("r2", key)) == ([SCORE], [FAILURE])
    ledger.adopt("r2", "r1", key)
    ledger.commit()
    assert list(store.rows([later])) == [row(run="r2")]


@pytest.mark.parametrize(
    "text",
    ["\ud800", "a\x00b", "'; DROP TABLE run; --", "\u202e", "🖋"],
    ids=["surrogate", "null", "SQL", "right to left", "emoji"],
)
def test_hostile_text_is_stored_as_data(store: Store, text: str) -> None:
    ledger = store.ledger()
    ledger.begin(RUN)
    sample = Sample(id="a", input=text, metadata={text: text})
    ledger.record_response("r1", sample, Response(sample_id="a", text=text, task="t", metadata={"m": text}))
    ledger.record_rows(
        [row(replace(SCORE, reason=text, details={"d": text})), row(replace(FAILURE, raw=text), "b")]
    )
    ledger.record_attempt(attempt(raw=text))
    ledger.commit()
    (answer,) = store.answers(RUN)
    assert answer.text == text.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")


def test_a_run_can_be_found_pinned_and_removed(store: Store) -> None:
    ledger = store.ledger()
    later = replace(RUN, id="r12", started="2026-01-02")
    for run in (RUN, later):
        ledger.begin(run)
    ledger.record_rows([row()])
    ledger.record_attempt(attempt())
    ledger.commit()
    assert store.find("r12") == store.find("c") == later
    assert store.find("r1") == RUN  # an exact id wins over a prefix
    assert store.latest() == [later]
    store.pin(RUN, "now")
    assert store.baselines() == {"p": "r1"}
    store.remove(RUN)
    assert (store.runs(), list(store.rows([RUN])), store.baselines()) == ([later], [], {})
    assert store.ledger().find_call(KEY, "") is not None  # what was paid for stays


def test_a_paid_reply_that_no_judge_had_parsed_is_found(store: Store) -> None:
    ledger = store.ledger()
    ledger.record_attempt(attempt(status="unread", raw="from a batch"))
    ledger.commit()
    found = store.ledger().find_call(KEY, "")
    assert found is not None
    assert found.raw == "from a batch"
