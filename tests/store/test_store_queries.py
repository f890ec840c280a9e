"""Queries of a store: runs that are left out, first messages, sizes of tasks, and completed evaluations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rows import each_row
from score_rows import row_of, score_of
from sqlalchemy import event

from hengwen.records import Attempt, Failure, Outcome, Row, Run, Score, Usage
from hengwen.store.database import parse_location
from hengwen.store.evaluation_codec import EvaluationEncoder
from hengwen.store.store import Store


def run(name: str, checkpoint: str = "a", **more: Any) -> Run:
    return Run(
        **{"id": name, "plan": "p", "plan_hash": "h", "checkpoint": checkpoint, "started": name, **more}
    )


def row(outcome: Outcome, run_id: str = "1", sample: str = "x", task: str = "t") -> Row:
    return row_of(run_id, task, "a", sample, 1, sample, outcome, item_hash="i")


def score(name: str = "s", **more: Any) -> Score:
    return Score(**{"name": name, "value": 1, "signature": f"signature of {name}", **more})


def failure(status: str, message: str, name: str = "s") -> Failure:
    return Failure(name=name, status=status, message=message, signature="f")


@pytest.mark.slow
def test_runs_with_other_prompts_than_the_newest_run_are_left_out(
    store: Store, record: Callable[..., None]
) -> None:
    now, before = {"prompts": "now"}, {"prompts": "before"}
    record(
        run("1", "a", facts=before),
        run("2", "a", facts=before),
        run("3", "b", facts=now),
        run("4", "a", facts=now),
        run("0", "c", plan="other"),
    )
    assert [item.id for item in store.left_out()] == ["2"]
    assert [item.id for item in store.left_out("p")] == ["2"]
    assert sorted(item.id for item in store.latest()) == ["3", "4"]
    assert store.left_out("other") == store.left_out("none") == []


@pytest.mark.slow
def test_of_each_status_the_first_message_of_these_runs_comes_back(
    store: Store, record: Callable[..., None]
) -> None:
    record(
        run("1"),
        run("2"),
        row(failure("timeout", "another run"), "2"),
        row(score(reason="a reason is no message")),
        row(failure("timeout", ""), sample="y"),
        row(failure("timeout", "late"), sample="z"),
        row(failure("refused", "no"), sample="u"),
        row(failure("timeout", "later"), sample="v"),
    )
    first, second = store.find("1"), store.find("2")
    assert store.first_messages([first]) == {"timeout": "late", "refused": "no"}
    assert store.first_messages([first, second]) == {"timeout": "another run", "refused": "no"}
    assert store.first_messages([]) == {}


@pytest.mark.slow
def test_statuses_of_several_runs_are_added_up(store: Store, record: Callable[..., None]) -> None:
    record(run("1"), run("2"))
    for run_id in ("1", "2"):
        late = row(failure("timeout", "late"), run_id, "z")
        record(row(score(), run_id), row(score(), run_id, "y"), late)
    assert store.statuses(store.runs()) == {score_of("s"): {"ok": 4, "timeout": 2}}


@pytest.mark.slow
def test_a_table_knows_the_number_of_samples_of_each_task(store: Store, record: Callable[..., None]) -> None:
    facts = {"tasks": {"t": {"samples_total": 7}, "u": {"samples_total": 9}}}
    record(run("1", facts=facts), run("2"))
    record(*(row(score(), run_id, task=task) for run_id in "12" for task in "tu"))
    counts = {
        (key.run_id, key.task): column.sample_count
        for key, column in store.table(store.runs()).series.items()
    }
    assert counts == {("1", "t"): 7, ("1", "u"): 9, ("2", "t"): None, ("2", "u"): None}


def test_the_attempts_at_a_call_are_counted_by_scope(store: Store, record: Callable[..., None]) -> None:
    attempt = Attempt(
        call_key="0c" * 32,
        cache_scope="",
        attempt_no=1,
        status="timeout",
        run_id="1",
        role="judge",
        request={"messages": []},
        raw="",
        usage=Usage(calls=1),
        latency=0.5,
        model="m",
        finish="stop",
        extras={},
    )
    record(run("1"), attempt, replace(attempt, attempt_no=2))
    ledger = store.ledger()
    assert ledger.next_attempt_no(attempt.call_key, "") == 3
    assert ledger.next_attempt_no(attempt.call_key, "another") == 1
    assert ledger.next_attempt_no("ff" * 32, "") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outcome", "same_versions", "other_versions"),
    [
        (score(kind="judge", details={"model": "gpt"}), True, True),
        (score(kind="judge", details={"model": "rules", "clauses": {}}), True, False),
        (score(kind="judge", details={"label": "A"}), True, False),
        (score(kind="scorer", details={"model": "gpt"}), True, False),
        (failure("timeout", "late"), False, False),
        (failure("not_applicable", "no template"), True, False),
    ],
    ids=["model", "rules", "no model", "scorer", "failure", "not applicable"],
)
def test_only_verdicts_of_models_outlast_another_version_of_a_package(
    store: Store,
    record: Callable[..., None],
    outcome: Outcome,
    same_versions: bool,
    other_versions: bool,
) -> None:
    now = {"versions": {"jieba": "1"}}
    record(run("1", facts=now), row(outcome))
    key = ("t", "x", 1, outcome.signature, "i")
    for versions, is_done in (({"jieba": "1"}, same_versions), ({"jieba": "2"}, other_versions)):
        completed = store.ledger().done(run("2", facts={"versions": versions}))
        assert (completed.get(key) == "1") == is_done


def test_a_failure_has_its_raw_reply_and_no_scale_in_the_store() -> None:
    failed = Failure(name="s", status="parse_error", message="why", signature="f", raw="<b>")
    encoder = EvaluationEncoder()
    (columns,) = encoder.encode([row(failed)])
    assert (columns["notes"], columns["numbers"], columns["statuses"]) == (
        '[["why","<b>"]]',
        "[null]",
        '["parse_error"]',
    )
    assert [evaluator["scores"] for evaluator in encoder.new_evaluators.values()] == ['[["",null]]']


@each_row(
    ("url", "driver"),
    [
        ("postgresql://host/db", "postgresql+psycopg"),
        ("postgresql+pg8000://host/db", "postgresql+pg8000"),
        ("sqlite:///x.db", "sqlite"),
        ("x.db", "sqlite"),
    ],
)
def test_a_url_without_a_driver_has_that_of_the_extra(url: str, driver: str) -> None:
    assert parse_location(url).drivername == driver


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (lambda store, of: store.usage([of]), "COVERING INDEX attempt_run"),
        (lambda store, of: store.statuses([of]), "evaluation_1 (run_id=?)"),
        (lambda store, of: store.first_messages([of]), "INDEX evaluation_failed"),
        (lambda store, of: store.table([of]), "evaluation_1 (run_id=?)"),
        (lambda store, of: store.table([of], [score_of("s")]), "evaluation_1 (run_id=?)"),
        (
            lambda store, of: list(store.answers(of, [("t", "x", 1)])),
            "evaluation_1 (run_id=? AND sample_id=?)",
        ),
    ],
    ids=["usage", "statuses", "first messages", "evaluators", "one score", "answers"],
)
def test_what_reports_read_is_found_by_an_index(
    file_store: Store, query: Callable[[Store, Run], Any], index: str
) -> None:
    ledger = file_store.ledger()
    ledger.begin(run("1"))
    ledger.record_rows([row(score()), row(failure("missing", "none"), sample="y")])
    ledger.commit()
    steps: list[str] = []
    engine = file_store.writable_engine()

    def explain(connection: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
        plan = connection.connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
        steps.extend(step[3] for step in plan.fetchall())

    event.listen(engine, "before_cursor_execute", explain)
    query(file_store, run("1"))
    event.remove(engine, "before_cursor_execute", explain)
    assert [step for step in steps if index in step], steps
