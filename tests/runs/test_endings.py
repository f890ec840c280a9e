"""How a run ends: finished, at its time limit or by an error; and the resources of its parts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from hengwen.engine.metered_backend import Price
from hengwen.errors import ConfigError, StoreError, TimeLimitError
from hengwen.plans.overrides import judge_spec, with_judge
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.runs.run_plan import estimate_plan, run_plan
from hengwen.store.store import SqlLedger, open_store

COUNT = 12


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def make_plan(folder: Path, **more: Any) -> Path:
    """Write a plan of one task, a dozen samples and a stored answer to each."""
    write(folder / "prompts.jsonl", [{"id": f"q{number}", "input": "写一行"} for number in range(COUNT)])
    write(
        folder / "a.jsonl", [{"id": f"q{number}", "output": f"天上的云{number}"} for number in range(COUNT)]
    )
    task = {
        "name": "t",
        "samples": "prompts.jsonl",
        "judges": [{"rubric": "lyric_craft"}],
        "scorers": ["length"],
    }
    plan = {
        "name": "p",
        "tasks": [task | more.pop("task", {})],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
    }
    write(folder / "plan.yaml", [plan | more])  # JSON is YAML
    return folder / "plan.yaml"


def test_progress_is_reported_by_checkpoint_up_to_all_samples(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    run_plan(
        make_plan(tmp_path),
        store=tmp_path / "x.db",
        options=RunOptions(progress=lambda *step: steps.append(step), concurrency=1),
    )
    assert steps == [("a", number + 1, COUNT) for number in range(COUNT)]


def test_a_run_is_interrupted_at_its_time_limit_and_resumes_later(tmp_path: Path) -> None:
    plan, store = make_plan(tmp_path), tmp_path / "x.db"

    def dawdle(checkpoint: str, done: int, total: int) -> None:
        time.sleep(0.02)  # longer than samples are worked on before others get their turn

    with pytest.raises(
        TimeLimitError, match=r"^the time limit of 0 s is reached; results are kept, the same"
    ):
        run_plan(plan, store=store, options=RunOptions(time_limit=0.0, progress=dawdle, concurrency=1))
    with open_store(store) as opened:
        (run,) = opened.runs()
        assert run.status == "interrupted"
        answered = {row.sample_id for row in opened.rows([run])}
    assert 0 < len(answered) < COUNT
    (finished,) = run_plan(plan, store=store, options=RunOptions(time_limit=3600.0)).runs
    assert (finished.id, finished.status) == (run.id, "finished")


def test_a_failing_store_leaves_a_failed_run_that_resumes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store = make_plan(tmp_path), tmp_path / "x.db"

    def fail(self: SqlLedger, *_: object) -> None:
        raise StoreError("no row can be kept")

    with monkeypatch.context() as patch:
        patch.setattr(SqlLedger, "record_rows", fail)
        with pytest.raises(StoreError, match="no row can be kept"):
            run_plan(plan, store=store)
    with open_store(store) as opened:
        assert [run.status for run in opened.runs()] == ["failed"]
    assert [run.status for run in run_plan(plan, store=store).runs] == ["finished"]


def test_the_first_of_several_commit_errors_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, store = make_plan(tmp_path), tmp_path / "x.db"
    commits = 0
    commit = SqlLedger.commit

    def fail(self: SqlLedger) -> None:
        nonlocal commits
        commits += 1
        if commits > 2:  # the run has begun, and what is done was looked up
            raise StoreError(f"disk {commits}")
        commit(self)

    monkeypatch.setattr(SqlLedger, "commit", fail)
    with pytest.raises(StoreError, match="^disk 3$"):
        run_plan(plan, store=store)


def test_the_result_of_a_run(tmp_path: Path) -> None:
    write(tmp_path / "more.jsonl", [{"id": "r1", "input": "写一行"}])
    more = {"name": "u", "samples": "more.jsonl", "scorers": ["length"]}
    plan = make_plan(tmp_path)
    content = json.loads(plan.read_text("utf-8"))
    content["tasks"].append(more)
    write(plan, [content])
    result = run_plan(plan, store=tmp_path / "x.db")
    assert (result.plan, result.store) == ("p", str(tmp_path / "x.db"))
    assert [run.checkpoint for run in result.runs] == ["a"]
    assert result.failures == {"missing": 1}
    assert result.unscored == ("u/length.characters", "u/length.words")
    assert result.out_of_budget is False


def test_a_limit_evaluates_only_the_first_samples(tmp_path: Path) -> None:
    (run,) = run_plan(make_plan(tmp_path), store=tmp_path / "x.db", options=RunOptions(limit=3)).runs
    with open_store(tmp_path / "x.db") as store:
        assert {row.sample_id for row in store.rows([run])} == {"q0", "q1", "q2"}


NOBODY = "http://127.0.0.1:9/v1"
"""An endpoint of this machine where nothing listens: no test calls anybody else."""
BACKENDS: dict[str, dict[str, Any]] = {
    "limited": {
        "provider": "openai",
        "base_url": NOBODY,
        "model": "m",
        "rpm": 30,
        "tpm": 500,
        "retries": 7,
        "price": {"input": 1.0, "output": 2.0},
    },
    "plain": {"provider": "openai", "model": "n", "base_url": NOBODY},
}


@pytest.fixture
def limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan whose answers come from a limited endpoint and are judged by another one."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    judges = [{"rubric": "lyric_craft", "backend": "plain"}]
    return make_plan(
        tmp_path,
        backends=BACKENDS,
        checkpoints=[{"name": "a", "backend": "limited"}],
        task={"judges": judges, "prompt": {"user": "{{ input }}"}, "repeats": 2},
    )


def resources(plan: Path, folder: Path, *, dry: bool = False, **options: Any) -> RunResources:
    with open_store(folder / "x.db") as store:
        return RunResources(load_suite(load_plan(plan)), store, RunOptions(**options), dry=dry)


def test_each_backend_has_a_limiter_as_the_plan_says(limited: Path, tmp_path: Path) -> None:
    shared = resources(limited, tmp_path, concurrency=5)
    assert {name: limiter.ceiling for name, limiter in shared.limiters.items()} == {"limited": 5, "plain": 5}
    rates = {name: (limiter._rpm, limiter._tpm) for name, limiter in shared.limiters.items()}
    rpm, tpm = rates["limited"]
    assert rpm is not None
    assert tpm is not None
    assert (rpm.max_rate, tpm.max_rate, rates["plain"]) == (30, 500, (None, None))
    assert all(limiter._stopping is shared.stopping for limiter in shared.limiters.values())
    assert (shared.price("limited"), shared.price("plain")) == (Price(input=1.0, output=2.0), None)


def test_the_price_of_the_plan_comes_before_that_of_the_options(limited: Path, tmp_path: Path) -> None:
    shared = resources(limited, tmp_path, price=(3.0, 4.0))
    prices = [(price.input, price.output, price.source) for price in map(shared.price, BACKENDS) if price]
    assert prices == [(1.0, 2.0, "plan"), (3.0, 4.0, "--price")]


def test_a_budget_in_two_currencies_is_refused(limited: Path, tmp_path: Path) -> None:
    text = limited.read_text("utf-8")
    for name, currency in (("limited", "USD"), ("plain", "CNY")):
        price = {"input": 1.0, "output": 2.0, "currency": currency}
        text = text.replace(
            json.dumps(BACKENDS[name])[1:-1], json.dumps({**BACKENDS[name], "price": price})[1:-1]
        )
    limited.write_text(text, "utf-8")
    with pytest.raises(
        ConfigError, match="one currency, and the prices are in CNY and USD; state the prices"
    ):
        resources(limited, tmp_path, budget=1.0)


def test_a_dry_run_waits_for_no_limit(limited: Path, tmp_path: Path) -> None:
    shared = resources(limited, tmp_path, dry=True)
    assert [(limiter._rpm, limiter._tpm) for limiter in shared.limiters.values()] == [(None, None)] * 2


@pytest.mark.slow
def test_an_estimate_makes_no_call_and_stores_nothing(limited: Path, tmp_path: Path) -> None:
    expected = {(cost.backend, cost.role): cost for cost in estimate_plan(limited, store=tmp_path / "x.db")}
    assert set(expected) == {("limited", "subject"), ("plain", "judge")}
    generated, judged = expected["limited", "subject"], expected["plain", "judge"]
    assert (generated.usage.calls, judged.usage.calls) == (2 * COUNT, 2 * COUNT)
    assert generated.cost == pytest.approx(
        (generated.usage.input_tokens + 2 * generated.usage.output_tokens) / 1e6
    )
    assert judged.cost is None
    with open_store(tmp_path / "x.db") as store:
        assert (store.runs(), store.usage([])) == ([], {})
    fewer = estimate_plan(limited, store=tmp_path / "x.db", options=RunOptions(limit=2), repeat=1)
    assert {cost.usage.calls for cost in fewer} == {2}


def test_errors_about_options_say_how_to_fix_them(limited: Path, tmp_path: Path) -> None:
    for call, message in (
        (lambda: run_plan(limited, repeat=0, store=tmp_path / "x.db"), "repeat counts from 1, got 0"),
        (
            lambda: run_plan(limited, options=RunOptions(budget=1.0), store=tmp_path / "x.db"),
            "a budget needs prices: backend 'plain' has none; "
            "say --price IN,OUT, or in the plan price: {input: ..., output: ...} (per million tokens)",
        ),
        (
            lambda: judge_spec("gpt"),
            "--judge must be PROVIDER/MODEL, such as openai/gpt-4o-mini, got 'gpt'",
        ),
        (
            lambda: with_judge(load_plan(make_plan(tmp_path, task={"judges": []})), "openai/m"),
            "plan 'p' has no judges that openai/m could replace",
        ),
    ):
        with pytest.raises(ConfigError) as caught:
            call()
        assert str(caught.value) == message


def test_a_judge_of_the_command_line_replaces_every_judge(limited: Path) -> None:
    plan = with_judge(load_plan(limited), "openai/big/model", "http://localhost:1/v1")
    spec = plan.backends["--judge"]
    assert (spec.provider, spec.model, spec.base_url) == ("openai", "big/model", "http://localhost:1/v1")
    assert spec.params == {"temperature": 0}
    (judge,) = plan.tasks[0].judges
    assert (judge.judge, judge.backend, judge.panel, judge.quorum, judge.options) == (
        "rubric",
        "--judge",
        [],
        None,
        {},
    )
    assert set(plan.backends) == {"--judge", *BACKENDS}
