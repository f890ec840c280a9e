"""Claims of processes in a real PostgreSQL: one process has each, and a dead one has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from hengwen.errors import ConfigError, StoreError
from hengwen.records import Attempt, Response, Run, Sample
from hengwen.store.locks import AdvisoryClaims, AdvisoryLock, lock_key
from hengwen.store.store import Store, open_store

RUN = Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="2026-01-01")
UNITS = ["a" * 32, "b" * 32, "c" * 32]
CALL = "d" * 64


@pytest.fixture
def team_store(postgres: str) -> Iterator[Store]:
    with open_store(postgres) as store:
        yield store


@pytest.fixture
def join(team_store: Store) -> Iterator[Callable[[], AdvisoryClaims]]:
    """Return a function that returns the claims of a further process."""
    joined: list[AdvisoryClaims] = []

    def begin() -> AdvisoryClaims:
        joined.append(AdvisoryClaims(team_store))
        return joined[-1]

    yield begin
    for claims in joined:
        claims.close()


def attempt(status: str = "ok") -> Attempt:
    return Attempt(
        call_key=CALL,
        cache_scope="",
        attempt_no=1,
        status=status,
        run_id="r1",
        role="judge",
        request={"messages": (("user", "x"),), "params": {}},
        raw="{}",
    )


@pytest.mark.slow
def test_a_claim_is_held_by_one_process_until_it_releases_it(join) -> None:
    first, second = join(), join()
    assert first.exchange([], UNITS[:2], [CALL]) == ([True] * 3, set(), set())
    assert second.exchange([], UNITS, [CALL]) == ([False, False, True, False], set(), set())
    assert first.exchange([UNITS[0], CALL], [], []) == ([], set(), set())
    assert second.exchange([], UNITS[:2], [CALL])[0] == [True, False, True]


@pytest.mark.slow
def test_the_claims_of_a_session_that_ends_are_free(join) -> None:
    first, second = join(), join()
    first.exchange([], UNITS, [])
    first.close()
    while not second.exchange([], UNITS[:1], [])[0][0]:  # the server notices the end of the session
        pass
    assert second.exchange([], UNITS[1:], [])[0] == [True] * 2


def test_a_claim_says_what_was_committed_before_it_was_taken(join, team_store: Store) -> None:
    claims, ledger = join(), team_store.ledger()
    ledger.record_completed_unit("r1", UNITS[0])
    ledger.record_attempt(attempt())
    assert claims.exchange([], UNITS, [CALL]) == ([True] * 4, set(), set())
    claims.exchange([*UNITS, CALL], [], [])
    ledger.commit()
    assert claims.exchange([], UNITS, [CALL]) == ([True] * 4, {UNITS[0]}, {CALL})
    claims.forget_completed_units("other")
    assert claims.exchange([], [UNITS[0]], [])[1] == {UNITS[0]}
    claims.forget_completed_units("r1")
    assert claims.exchange([], [UNITS[0]], [])[1] == set()


def test_a_lost_connection_is_a_store_error(join, team_store: Store) -> None:
    first = join()
    ((pid,),) = first._execute("SELECT pg_backend_pid()", ())
    join()._execute("SELECT pg_terminate_backend(%s)", (pid,))
    with pytest.raises(StoreError, match="terminating connection due to administrator command"):
        first.exchange([], UNITS, [])


def test_a_shared_lock_shows_whether_other_processes_hold_it(join) -> None:
    first, second = join(), join()
    for name in map(str, range(8)):  # keys with and without the highest bit
        assert not first.is_shared("run", name)
        assert first.lock("run", name, shared=True)
        assert not first.is_shared("run", name)
        assert second.is_shared("run", name)
        assert second.lock("run", name, shared=True)
        assert first.is_shared("run", name)
        second.unlock("run", name, shared=True)
        assert not first.is_shared("run", name)
    assert first.lock("changing")
    assert not second.lock("changing")
    first.unlock("changing")
    assert second.lock("changing")


def test_processes_share_a_plan_or_one_runs_it_alone(join, team_store: Store) -> None:
    first, second = join(), join()
    assert (first.lock_plan("p"), second.lock_plan("p")) == (True, True)
    alone = AdvisoryLock(team_store.writable_engine(), "p")
    assert not alone.acquire()
    assert alone.owner() == first.owner("p")
    other = AdvisoryLock(team_store.writable_engine(), "q")
    assert other.acquire()
    other.release()
    first.close()
    second.close()
    while not alone.acquire():  # the server notices the end of the sessions
        pass
    assert not join().lock_plan("p")
    alone.release()


def test_a_session_has_settings_that_end_it_when_the_machine_is_lost(join) -> None:
    claims = join()
    assert claims._execute("SHOW idle_session_timeout", ()) == [("0",)]
    assert claims._execute("SHOW default_transaction_isolation", ()) == [("read committed",)]
    assert claims._execute("SHOW application_name", ())[0][0].startswith("hengwen ")


@pytest.fixture
def pooled(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A store whose connections all use one session, as with a pooler that works by transaction."""
    connection = psycopg.connect(postgres.replace("+psycopg", ""))
    engine = create_engine("postgresql+psycopg://", creator=lambda: connection, poolclass=NullPool)
    with monkeypatch.context() as patched:
        patched.setattr(connection, "close", lambda: None)
        yield SimpleNamespace(writable_engine=lambda: engine)
    connection.close()


def test_two_processes_that_get_one_session_from_a_pooler_are_refused(pooled) -> None:
    first = AdvisoryClaims(pooled)
    with pytest.raises(StoreError, match="a connection pooler moves the statements"):
        AdvisoryClaims(pooled)
    assert first.exchange([], [], []) == ([], set(), set())


def test_a_session_that_changes_between_statements_is_refused(pooled) -> None:
    first = AdvisoryClaims(pooled)
    first._execute("SELECT set_config('hengwen.claims', '', false)", ())
    with pytest.raises(StoreError, match="or let the pooler work by session"):
        first.exchange([], UNITS, [])


def test_a_sqlite_store_holds_no_claims(file_store: Store) -> None:
    with pytest.raises(ConfigError, match="processes can share a plan only in a PostgreSQL store"):
        AdvisoryClaims(file_store)


def test_a_name_gives_a_key_of_64_bits_with_a_sign() -> None:
    assert {lock_key(digit * 16) < 0 for digit in "01234567"} == {True}
    assert {lock_key(digit * 16) < 0 for digit in "89abcdef"} == {False}


def test_a_ledger_finds_calls_that_another_process_made(store: Store) -> None:
    ours, theirs = store.ledger(), store.ledger()
    assert ours.find_call(CALL, "") is None
    theirs.record_attempt(attempt("timeout"))
    theirs.commit()
    ours.refresh_call(CALL, "")
    assert (ours.find_call(CALL, ""), ours.next_attempt_no(CALL, "")) == (None, 2)
    theirs.record_attempt(attempt())
    theirs.commit()
    ours.refresh_call(CALL, "")
    reply = ours.find_call(CALL, "")
    assert reply is not None
    assert reply.status == "ok"


def test_a_ledger_reads_the_responses_of_all_processes(store: Store) -> None:
    sample = Sample(id="a", input="x", task="t")
    response = Response(
        sample_id="a", text="y", task="t", checkpoint="c", repeat=2, metadata={"finish": "stop"}
    )
    theirs = store.ledger()
    theirs.record_response("r1", sample, response)
    theirs.record_response("r2", sample, response)
    assert list(store.ledger().stored_responses(RUN, "t")) == []
    theirs.commit()
    assert list(store.ledger().stored_responses(RUN, "t")) == [response]
    assert list(store.ledger().stored_responses(RUN, "other")) == []
