"""Contents and order of the results of a store, and its error messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from score_rows import row_of, score_of
from sqlalchemy.engine import make_url

from hengwen.errors import ConfigError
from hengwen.records import Attempt, Failure, Response, Row, Run, Sample, Scale, Score, Usage
from hengwen.store import database
from hengwen.store.queries import ModelCalls
from hengwen.store.store import Store


def run(name: str, checkpoint: str = "a", order: int = 0, plan: str = "p", **more: object) -> Run:
    values = {"id": name, "checkpoint": checkpoint, "order": order, "plan": plan, "started": "2026-01-01"}
    return Run(**{"plan_hash": "h", **values, **more})


def row(
    name: str = "s.x",
    run_id: str = "r1",
    sample: str | None = "q1",
    repeat: int | None = 1,
    status: str = "ok",
    **more,
) -> Row:
    outcome = (
        Score(name=name, value=0.5, signature="s|v:1")
        if status == "ok"
        else Failure(name=name, status=status, message="why", signature="s|v:1")
    )
    values = {"run_id": run_id, "task": "t", "checkpoint": "a", "sample_id": sample, "repeat": repeat}
    return row_of(**{**values, "cluster": "c", "item_hash": "i", "outcome": outcome, **more})


@pytest.mark.slow
def test_a_step_comes_back_as_it_was_whole_or_not(store: Store) -> None:
    ledger = store.ledger()
    for number, step in enumerate((0.5, 1000, None)):
        ledger.begin(Run(id=f"r{number}", plan="p", plan_hash="", checkpoint="c", step=step))
    ledger.commit()
    steps = {run.id: run.step for run in store.runs()}
    assert steps == {"r0": 0.5, "r1": 1000, "r2": None}
    assert isinstance(steps["r1"], int)


def test_runs_are_newest_first_and_of_one_command_the_last_checkpoint_first(
    store: Store, record: Callable[..., None]
) -> None:
    old = run("old", "a", 0, started="2026-01-01")
    first, second = run("n1", "a", 0, started="2026-01-02"), run("n2", "b", 1, started="2026-01-02")
    other = run("other", "a", 0, "q", started="2025-12-31")
    record(first, old, other, second)
    assert [run.id for run in store.runs()] == ["n2", "n1", "old", "other"]
    assert [run.id for run in store.runs("p")] == ["n2", "n1", "old"]
    assert [run.id for run in store.runs("none")] == []
    assert [run.id for run in store.latest()] == ["n1", "n2"]
    assert [run.id for run in store.latest("q")] == ["other"]
    assert store.latest("none") == []


def test_every_field_of_a_run_comes_back(store: Store, record: Callable[..., None]) -> None:
    whole = Run(
        id="r1",
        plan="p",
        plan_hash="h",
        checkpoint="a",
        order=3,
        step=7,
        started="2026-01-01",
        versions={"numpy": "2"},
        score_order=("t/s.x", "t/s.y"),
        reducers={"t": "worst"},
        seed=5,
        status="interrupted",
    )
    record(whole)
    assert store.runs() == [whole]
    record(replace(whole, status="finished", order=4, score_order=()))
    assert store.runs() == [replace(whole, status="finished", order=4, score_order=())]


def test_find_takes_an_id_a_prefix_or_the_newest_run_of_a_checkpoint(
    store: Store, record: Callable[..., None]
) -> None:
    record(run("ab1", "a"), run("ab", "b"), run("c1", "ab1"), run("c2", "z", started="2026-01-02"))
    record(run("c3", "z"))
    assert [store.find(name).id for name in ("ab", "ab1", "c1", "c2", "z", "b")] == [
        "ab",
        "ab1",
        "c1",
        "c2",
        "c2",
        "ab",
    ]


def test_an_error_about_an_unknown_run_says_how_to_find_one(
    store: Store, record: Callable[..., None]
) -> None:
    record(*(run(f"r{number}", order=number) for number in range(7)))
    with pytest.raises(ConfigError) as caught:
        store.find("r")
    assert str(caught.value) == "run 'r' is ambiguous: r6, r5, r4, r3, r2"
    with pytest.raises(ConfigError) as caught:
        store.find("x")
    assert str(caught.value) == f"no run or checkpoint 'x' in {store.name}; see: hengwen runs list"


def test_rows_come_back_by_run_in_the_order_of_writing(store: Store, record: Callable[..., None]) -> None:
    first, second = run("r1"), run("r2", "b")
    rows = [row("s.b"), row("s.a"), row("s.c", sample=None, repeat=None), row("s.f", status="refused")]
    others = [row("s.z", "r2", checkpoint="b")]
    record(first, second, *others, *rows)
    assert list(store.rows([first, second])) == [*rows, *others]
    assert list(store.rows([second, first])) == [*others, *rows]


@pytest.mark.slow
def test_every_field_of_an_outcome_comes_back(store: Store, record: Callable[..., None]) -> None:
    scale = Scale(low=0, high=10, levels=(0.0, 5.0, 10.0), higher_is_better=False)
    score = Score(
        name="s.x",
        value=5.0,
        signature="x",
        scale=scale,
        kind="human",
        reason="好",
        details={"ci": [1, 2], "a": "b"},
    )
    words = replace(score, name="s.y", scale=Scale(low=0, high=10), details={"label": "B"}, kind="judge")
    failure = Failure(name="s.z", status="off_scale", message="7?", signature="z", kind="judge", raw="<7>")
    rows = [row()._replace(score=score_of(out.name), outcome=out) for out in (score, words, failure)]
    record(run("r1"), *rows)
    assert list(store.rows([run("r1")])) == rows


def test_statuses_are_counted_over_runs_in_the_order_of_the_plan(
    store: Store, record: Callable[..., None]
) -> None:
    first, second = (
        run("r1", score_order=("t/s.b", "t/s.a")),
        run("r2", "b", score_order=("t/s.b", "t/s.a", "t/s.c")),
    )
    rows = [row("s.new"), row("s.a"), row("s.b"), row("s.b", sample="q2", status="timeout")]
    more = [row("s.b", "r2"), row("s.c", "r2", status="refused"), row("s.a", "else")]
    record(first, second, *rows, *more)
    assert list(store.statuses([first, second]).items()) == [
        (score_of("s.b"), Counter(ok=2, timeout=1)),
        (score_of("s.a"), Counter(ok=1)),
        (score_of("s.c"), Counter(refused=1)),
        (score_of("s.new"), Counter(ok=1)),
    ]


@pytest.mark.slow
def test_a_table_is_in_the_order_of_the_plan_and_knows_its_reducers(
    store: Store, record: Callable[..., None]
) -> None:
    record_of_run = run("r1", score_order=("t/s.b", "t/s.a"), reducers={"t": "worst"})
    record(record_of_run, row("s.a"), row("s.b"))
    table = store.table([record_of_run])
    assert [(key.score.name, column.reducer) for key, column in table.series.items()] == [
        ("s.b", "worst"),
        ("s.a", "worst"),
    ]


@pytest.mark.slow
def test_answers_come_back_in_order_with_their_input_and_outcomes(store: Store) -> None:
    ledger = store.ledger()
    ledger.begin(run("r1"))
    ledger.begin(run("r2", "b"))
    turns = Sample(id="q2", input=(("system", "简短"), ("user", "问")))
    for task, sample, repeat, text in (
        ("u", Sample(id="q1", input="x"), 1, "other task"),
        ("t", turns, 2, "third"),
        ("t", turns, 1, "second"),
        ("t", Sample(id="q1", input="y"), 1, "first"),
    ):
        ledger.record_response(
            "r1", sample, Response(sample_id=sample.id, text=text, task=task, repeat=repeat)
        )
    ledger.record_response("r2", turns, Response(sample_id="q2", text="other run", task="t"))
    scores = [row("s.b"), row("s.a"), row("s.c", sample="q2", repeat=2), row("s.d", sample=None, repeat=None)]
    ledger.record_rows(scores)
    ledger.commit()
    answers = list(store.answers(run("r1")))
    assert [
        (answer.task, answer.sample_id, answer.repeat, answer.input, answer.text) for answer in answers
    ] == [
        ("t", "q1", 1, "y", "first"),
        ("t", "q2", 1, "简短\n问", "second"),
        ("t", "q2", 2, "简短\n问", "third"),
        ("u", "q1", 1, "x", "other task"),
    ]
    assert [[score.name for score in answer.outcomes] for answer in answers] == [
        ["s.b", "s.a"],
        [],
        ["s.c"],
        [],
    ]


def attempt(number: int, run_id: str, role: str, *counts: int) -> Attempt:
    usage = Usage(**dict(zip(("calls", "input_tokens", "output_tokens"), counts, strict=True)))
    return Attempt(
        call_key=f"{number:064x}",
        cache_scope="",
        attempt_no=1,
        status="ok",
        run_id=run_id,
        role=role,
        request={"messages": [("user", "x")], "params": {"temperature": 0}},
        raw="y",
        usage=usage,
    )


@pytest.mark.slow
def test_usage_is_summed_by_role_over_these_runs(store: Store, record: Callable[..., None]) -> None:
    calls = [
        attempt(1, "r1", "judge", 1, 20, 3),
        attempt(2, "r2", "judge", 2, 40, 5),
        attempt(3, "r1", "subject", 1, 7, 9),
    ]
    calls = [replace(call, latency=float(i)) for i, call in enumerate(calls)]
    late = replace(attempt(5, "r2", "judge", 0, 0, 0), status="timeout", latency=60.0)
    record(*calls, attempt(4, "r3", "judge", 100, 100, 100), late)
    assert store.usage([run("r1"), run("r2")]) == {
        "judge": Usage(calls=3, input_tokens=60, output_tokens=8),
        "subject": Usage(calls=1, input_tokens=7, output_tokens=9),
    }
    assert list(store.attempts(run("r1"))) == [calls[0], calls[2]]
    judged, answered = store.model_calls([run("r1"), run("r2")])
    assert judged == ModelCalls("judge", "", 3, 1, 60, 8, 0.5)
    assert answered == ModelCalls("subject", "", 1, 0, 7, 9, 2.0)


@pytest.mark.slow
def test_a_baseline_is_one_run_of_a_plan_and_goes_with_it(store: Store, record: Callable[..., None]) -> None:
    first, second, other = run("r1"), run("r2", "b"), run("r3", plan="q")
    record(
        first,
        second,
        other,
        row(),
        row(run_id="r2"),
        row(run_id="r3"),
        attempt(1, "r1", "judge", 1, 2, 3),
    )
    ledger = store.ledger()
    for name in ("r1", "r2"):
        ledger.record_response(name, Sample(id="q1"), Response(sample_id="q1", text="x", task="t"))
    ledger.commit()
    store.pin(other, "2026-01-01")
    store.pin(first, "2026-01-01")
    store.pin(second, "2026-01-02")
    assert store.baselines() == {"p": "r2", "q": "r3"}
    store.pin(first, "2026-01-03")
    store.remove(first)
    assert store.baselines() == {"q": "r3"}
    assert {run.id for run in store.runs()} == {"r2", "r3"}
    assert list(store.rows([first])) == list(store.answers(first)) == []
    assert (len(list(store.rows([second]))), len(list(store.answers(second)))) == (1, 1)
    assert len(list(store.attempts(first))) == 1  # what was paid for can be used again


def test_a_store_is_named_by_its_path_or_its_url_without_the_password(
    file_store: Store, tmp_path: Path
) -> None:
    assert file_store.name == str(tmp_path / "x.db")
    url = make_url("postgresql+psycopg://ann:secret@host/db")
    assert database.display_url(url) == "postgresql+psycopg://ann:***@host/db"
    assert database.display_url(make_url("sqlite://")) == "sqlite://"


def test_a_sqlite_file_uses_a_write_ahead_log_and_a_busy_timeout_of_ten_seconds(file_store: Store) -> None:
    with file_store._engine.connect() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("busy_timeout", "journal_mode", "synchronous")
        ]
    assert settings == [10_000, "wal", 1]


def test_an_attempt_that_was_good_is_never_replaced(store: Store, record: Callable[..., None]) -> None:
    good = attempt(1, "r1", "judge", 1, 2, 3)
    record(good)
    record(replace(good, status="timeout", raw=""))
    assert list(store.attempts(run("r1"))) == [good]
    bad = replace(attempt(2, "r1", "judge", 1, 2, 3), status="timeout")
    record(bad)
    record(replace(bad, status="ok"))
    assert [attempt.status for attempt in store.attempts(run("r1"))] == ["ok", "ok"]


@pytest.mark.slow
def test_the_source_of_a_key_is_the_run_itself_or_else_the_newest_run(
    store: Store, record: Callable[..., None]
) -> None:
    runs = [run("r1", started="2026-01-01"), run("r2", started="2026-01-03"), run("r3", started="2026-01-02")]
    record(
        *runs,
        *(row(run_id=earlier.id) for earlier in runs),
        row("s.y", "r1", sample="q2"),
        row(run_id="r3", sample="q3"),
    )
    ledger = store.ledger()
    sources = [ledger.done(earlier).get(("t", "q1", 1, "s|v:1", "i")) for earlier in runs]
    assert sources == ["r1", "r2", "r3"]
    later = run("r4", started="2026-01-04")
    assert [ledger.done(later).get(("t", name, 1, "s|v:1", "i")) for name in ("q1", "q2", "q3")] == [
        "r2",
        "r1",
        "r3",
    ]
    other = run("r5", plan="q")
    assert len(ledger.done(other)) == 0
