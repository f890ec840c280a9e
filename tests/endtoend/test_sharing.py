"""Processes that share a plan in one PostgreSQL database make each call once, also if one of them dies."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest
from sqlalchemy import create_engine, text

from hengwen import Sample, Score, open_store
from hengwen.objective.diversity.scorers import DistinctN

pytestmark = pytest.mark.slow

COUNT = 60
IN_FLIGHT = 4
HELD = 20
"""Number of requests that the judge answers at first; the test releases the other answers later."""


@pytest.fixture
def share(start, postgres: str) -> Callable[..., Popen[str]]:
    """Return a function that starts a process that shares the plan."""

    def begin(plan: Path, *more: str) -> Popen[str]:
        return start(plan, postgres, "--share", *more, in_flight=IN_FLIGHT)

    return begin


@pytest.fixture
def database(postgres: str) -> Callable[..., list]:
    """Return a function that executes a statement in the database of the test."""

    def execute(statement: str, **values: object) -> list:
        engine = create_engine(postgres, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            rows = list(connection.execute(text(statement), values))
        engine.dispose()
        return rows

    return execute


@pytest.fixture
def until(judge_server) -> Callable[..., None]:
    """Return a function that waits for a condition, while processes go on."""

    def wait(condition: Callable[[], bool], *processes: Popen[str]) -> None:
        deadline = time.monotonic() + 900
        while not condition():
            for process in processes:
                assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, f"{len(judge_server.prompts)} requests"
            time.sleep(0.005)

    return wait


@pytest.fixture
def held(judge_server, until, database) -> Callable[..., None]:
    """Return a function that waits until the judge holds all open calls, and all other replies are stored."""

    def wait(*processes: Popen[str]) -> None:
        until(lambda: len(judge_server.prompts) == HELD + IN_FLIGHT * len(processes), *processes)
        until(lambda: database("SELECT count(*) FROM attempt WHERE status = 'ok'") == [(HELD,)], *processes)

    return wait


def finish(*processes: Popen[str]) -> None:
    for process in processes:
        out, err = process.communicate(timeout=900)
        assert (process.returncode, out, err) == (0, "", "")


def check_results(url: str) -> None:
    """Check that the run is finished and has each outcome once."""
    with open_store(url) as store:
        (run,) = store.runs()
        rows = list(store.rows([run]))
        assert run.status == "finished"
    assert Counter((row.sample_id, row.score.name) for row in rows).most_common(1)[0][1] == 1
    assert len(rows) == COUNT * 6  # the level and five criteria
    assert all(isinstance(row.outcome, Score) for row in rows)


def sent_twice(prompts: list[str]) -> list[int]:
    """Return the numbers of the questions that were sent more than once."""
    numbers = Counter(int(re.search(r"第(\d+)个问题", prompt)[1]) for prompt in prompts)
    return sorted(number for number, count in numbers.items() if count > 1)


def test_processes_that_start_together_in_an_empty_database_make_each_call_once(
    judge_server, suite, share, until, database, postgres: str
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = 0
    processes = [share(plan), share(plan)]
    until(lambda: len(judge_server.prompts) == 2 * IN_FLIGHT, *processes)
    judge_server.hold_after = None
    finish(*processes)
    assert len(judge_server.prompts) == COUNT
    check_results(postgres)
    assert database("SELECT count(*) FROM completed_unit") == [(0,)]


def test_a_process_that_joins_late_takes_its_share(
    judge_server, suite, share, until, held, postgres: str
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = HELD
    processes = [share(plan), share(plan)]
    held(*processes)
    processes.append(share(plan))
    held(*processes)
    judge_server.hold_after = None
    finish(*processes)
    assert len(judge_server.prompts) == COUNT
    check_results(postgres)


def test_what_a_killed_process_had_not_received_is_sent_again_and_nothing_else(
    judge_server, suite, share, held, postgres: str
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = HELD
    first, second = share(plan), share(plan)
    held(first, second)
    first.kill()
    first.wait()
    in_flight = set(judge_server.prompts[HELD:])
    judge_server.hold_after = None
    finish(second)
    assert len(judge_server.prompts) == COUNT + IN_FLIGHT
    assert set(judge_server.prompts[HELD + 2 * IN_FLIGHT :]) & set(judge_server.prompts[:HELD]) == set()
    assert len(sent_twice(judge_server.prompts)) == IN_FLIGHT
    assert {p for p, n in Counter(judge_server.prompts).items() if n > 1} <= in_flight
    check_results(postgres)


def test_a_reply_that_was_stored_before_its_process_was_killed_is_not_bought_again(
    judge_server, suite, start, here, until, database, postgres: str
) -> None:
    plan = suite(COUNT)
    open_store(postgres).close()
    engine = create_engine(postgres)
    with engine.begin() as connection:
        connection.execute(
            text("LOCK TABLE evaluation IN EXCLUSIVE MODE")
        )  # replies can be written, not scores
        first = start(plan, postgres, "--share", in_flight=1)
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        until(lambda: database(waiting) == [(1,)], first)
        ((stored,),) = database("SELECT count(*) FROM attempt WHERE status = 'ok'")
        first.kill()
        first.wait()
        sent = len(judge_server.prompts)
    engine.dispose()
    assert database("SELECT count(*) FROM evaluation") == [(0,)]
    assert stored > 0
    assert here(plan, postgres, "--share") == (0, "", "")
    assert len(judge_server.prompts) == COUNT + sent - stored
    assert len(sent_twice(judge_server.prompts)) == sent - stored
    check_results(postgres)


SESSIONS_OF = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND {}
"""


def test_a_process_that_loses_its_claims_stops_and_the_others_go_on(
    judge_server, suite, share, held, database, postgres: str
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = HELD
    first, second = share(plan), share(plan)
    held(first, second)
    claims = SESSIONS_OF.format("application_name LIKE :name")
    assert len(database(claims, name=f"hengwen {first.pid} %")) == 1
    judge_server.hold_after = None
    _, err = first.communicate(timeout=900)
    assert first.returncode == 1
    assert "terminating connection due to administrator command" in err
    assert "this process stopped, because it lost its claims on the work that it shares" in err
    assert err.count("\n") == 1
    finish(second)
    assert COUNT <= len(judge_server.prompts) <= COUNT + IN_FLIGHT
    check_results(postgres)


def test_a_process_that_loses_all_connections_stops_and_the_others_go_on(
    judge_server, suite, share, here, held, database, postgres: str
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = HELD
    first = share(plan)
    held(first)
    assert len(database(SESSIONS_OF.format("true"))) >= 2
    judge_server.hold_after = None
    _, err = first.communicate(timeout=900)
    assert first.returncode == 1
    assert err.count("\n") == 1
    assert here(plan, postgres, "--share") == (0, "", "")
    assert COUNT <= len(judge_server.prompts) <= COUNT + IN_FLIGHT
    check_results(postgres)


def test_a_failed_judgment_is_not_repeated_by_another_process(
    judge_server, suite, share, here, until, postgres: str
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = 0
    judge_server.misbehave = lambda number: (
        (400, "{}") if "第7个问题" in judge_server.prompts[number - 1] else None
    )
    processes = [share(plan), share(plan)]
    until(lambda: len(judge_server.prompts) == 2 * IN_FLIGHT, *processes)
    judge_server.hold_after = None
    for process in processes:
        process.communicate(timeout=900)
    numbers = Counter(re.search(r"第(\d+)个问题", prompt)[1] for prompt in judge_server.prompts)
    single = numbers.pop("7")
    assert set(numbers.values()) == {1}
    here(plan, postgres, "--share")  # a later command does try again
    assert len(judge_server.prompts) == COUNT - 1 + 2 * single


def test_equal_calls_for_different_samples_are_made_once(
    judge_server, suite, share, until, tmp_path: Path
) -> None:
    plan = suite(COUNT)
    for name, column, value in (("prompts", "input", "第0个问题"), ("a", "output", "同一个回答")):
        rows = [{"id": f"q{number}", column: value} for number in range(COUNT)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, "utf-8")
    judge_server.hold_after = 0
    processes = [share(plan), share(plan)]
    until(lambda: len(judge_server.prompts) == 1, *processes)
    judge_server.hold_after = None
    finish(*processes)
    assert len(judge_server.prompts) == 1


def test_answers_that_several_processes_got_are_scored_together(
    judge_server, suite, share, until, postgres: str
) -> None:
    task = {"name": "t", "samples": "prompts.jsonl", "scorers": ["distinct_n"], "repeats": 2}
    plan = suite(
        COUNT,
        tasks=[{**task, "judges": [{"rubric": "persona_generic"}]}],
        checkpoints=[{"name": "a", "backend": "subject"}],
        backends={"subject": {"provider": "openai", "model": "m", "base_url": judge_server.url}},
    )
    judge_server.hold_after = 0
    processes = [share(plan), share(plan)]
    until(lambda: len(judge_server.prompts) == 2 * IN_FLIGHT, *processes)
    judge_server.hold_after = None
    finish(*processes)
    assert len(judge_server.prompts) == 4 * COUNT
    with open_store(postgres) as store:
        (run,) = store.runs()
        answers = [(Sample(id=response.sample_id), response) for response in store.responses(run)]
        outcomes = [row.outcome for row in store.rows([run]) if row.outcome.kind == "scorer"]
    assert len(answers) == 2 * COUNT
    assert outcomes == DistinctN().score_set(answers)


def test_a_database_that_is_gone_in_the_middle_ends_the_run_and_the_same_command_goes_on(
    judge_server, suite, start, here, held, postgres: str, postgres_server: str
) -> None:
    judge_server.hold_after = HELD
    plan = suite(COUNT)
    first = start(plan, postgres, in_flight=IN_FLIGHT)
    held(first)
    name = postgres.partition("@/")[2].partition("?")[0]
    engine = create_engine(postgres_server.format(name="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as server:
        server.exec_driver_sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        server.exec_driver_sql(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        judge_server.hold_after = None
        _, err = first.communicate(timeout=900)
        assert first.returncode == 1
        assert "committed data is kept" in err
        assert len(err.splitlines()) <= 2, err
        server.exec_driver_sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    engine.dispose()
    assert here(plan, postgres) == (0, "", "")
    assert len(judge_server.prompts) <= COUNT + 2 * IN_FLIGHT
    with open_store(postgres) as store:
        (run,) = store.runs()
        assert len([row for row in store.rows([run]) if row.score.name.endswith(".level")]) == COUNT
