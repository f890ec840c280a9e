"""Committed records leave memory and are not written a second time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from score_rows import row_of

from hengwen.records import Attempt, Response, Run, Sample, Score
from hengwen.store.store import SqlLedger, Store, open_store

RUN = Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="2026-01-01")
TABLES = ("run", "sample", "response", "attempt", "prompt", "evaluation")


def attempt(call: int, attempt_no: int = 1, status: str = "ok") -> Attempt:
    rules = "Judge by these rules. " * 40
    return Attempt(
        call_key=f"{call:064x}",
        cache_scope="",
        attempt_no=attempt_no,
        status=status,
        run_id="r1",
        role="judge",
        request={"messages": [("user", f"{rules}{call}")]},
        raw=f"reply {call}",
    )


def record(ledger: SqlLedger, calls: range) -> None:
    """Record everything that a run records of some samples."""
    ledger.begin(RUN)
    for call in calls:
        sample = Sample(id=f"s{call}", input="x")
        ledger.record_response("r1", sample, Response(sample_id=sample.id, text="y", task="t"))
        ledger.record_attempt(attempt(call))
        score = Score(name="s.level", value=1, signature="s|v:1")
        ledger.record_rows(
            [
                row_of(
                    run_id="r1",
                    task="t",
                    checkpoint="c",
                    sample_id=sample.id,
                    repeat=1,
                    cluster=sample.id,
                    outcome=score,
                    item_hash="i",
                )
            ]
        )


def counts(store: Store) -> dict[str, int]:
    with store._engine.connect() as connection:
        return {
            name: connection.exec_driver_sql(f'SELECT COUNT(*) FROM "{name}"').scalar_one() for name in TABLES
        }


def empty(store: Store) -> None:
    with store._engine.begin() as connection:
        for name in TABLES:
            connection.exec_driver_sql(f'DELETE FROM "{name}"')


def attempts_in_memory() -> int:
    gc.collect()
    return sum(isinstance(item, Attempt) for item in gc.get_objects())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "x.db") as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("commit", ["commit", "commit_attempts"])
def test_no_attempt_that_was_committed_stays_in_memory(store: Store, commit: str) -> None:
    ledger, before = store.ledger(), attempts_in_memory()
    record(ledger, range(50))
    assert attempts_in_memory() == before + 50
    getattr(ledger, commit)()
    assert attempts_in_memory() == before


def test_nothing_that_was_committed_is_written_again(store: Store) -> None:
    ledger = store.ledger()
    record(ledger, range(3))
    ledger.commit()
    assert counts(store) == {"run": 1, "sample": 3, "response": 3, "attempt": 3, "prompt": 1, "evaluation": 3}
    empty(store)
    ledger.commit()
    ledger.commit_attempts()
    assert set(counts(store).values()) == {0}


def test_attempts_that_were_committed_alone_are_not_written_again(store: Store) -> None:
    ledger = store.ledger()
    record(ledger, range(3))
    ledger.commit_attempts()
    assert counts(store) == {"run": 0, "sample": 0, "response": 0, "attempt": 3, "prompt": 1, "evaluation": 0}
    empty(store)
    ledger.commit()
    assert counts(store) == {"run": 1, "sample": 3, "response": 3, "attempt": 0, "prompt": 0, "evaluation": 3}


def test_adopted_rows_are_copied_once(store: Store) -> None:
    ledger = store.ledger()
    record(ledger, range(1))
    later = replace(RUN, id="r2", started="2026-01-02")
    ledger.begin(later)
    ledger.commit()
    ledger.adopt("r2", "r1", ("t", "s0", 1, "s|v:1", "i"))
    ledger.commit()
    assert len(list(store.rows([later]))) == 1
    store.remove(later)
    ledger.commit()
    assert list(store.rows([later])) == []


def test_the_newest_attempt_of_a_committed_call_is_read_from_the_store(store: Store) -> None:
    ledger, other = store.ledger(), store.ledger()
    ledger.record_attempt(attempt(1))
    ledger.commit()
    other.record_attempt(attempt(1, 2, "timeout"))
    other.record_attempt(attempt(1, 3))
    other.commit()
    assert ledger.next_attempt_no(attempt(1).call_key, "") == 4
    assert ledger.find_call(attempt(1).call_key, "") == attempt(1, 3)


def test_a_commit_that_fails_keeps_everything_for_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = store.ledger()
    record(ledger, range(3))
    with monkeypatch.context() as patch:
        patch.setattr(store._writer, "begin", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ledger.commit()
    assert set(counts(store).values()) == {0}
    ledger.commit()
    assert counts(store) == {"run": 1, "sample": 3, "response": 3, "attempt": 3, "prompt": 1, "evaluation": 3}
