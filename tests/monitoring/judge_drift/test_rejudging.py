"""Stored answers are judged again: in a run of their own, at a known cost, and never paid for twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from hengwen import (
    RunOptions,
    compare_runs,
    judge_drift,
    load_plan,
    open_store,
    rejudge,
    report_document,
    run_plan,
)
from hengwen.errors import ConfigError, StoreError, TimeLimitError
from hengwen.labels.calibration_data import read_judgments
from hengwen.labels.queue import generated_answers
from hengwen.monitoring.judge_drift.rejudging import estimate_rejudging
from hengwen.plans.suite import load_suite
from hengwen.records import Failure, Score

EIGHT = {f"p{index}": [3] for index in range(8)}


@pytest.fixture
def plan(plans) -> Path:
    """A plan of checkpoint b, after a run of checkpoint a; each has eight answers."""
    plans.run("a", EIGHT)
    return plans.run("b", EIGHT)


@pytest.mark.slow
def test_the_answers_of_the_checkpoint_before_are_judged_again(plans, plan: Path, judges) -> None:
    judges.shift = lambda model, text, level: level - 1
    result = rejudge(plan, store=plans.store)
    run, repeat = result.runs
    assert (run.checkpoint, run.status, run.rejudges) == ("a", "finished", plans.store.find("a").id)
    levels = [row.outcome.value for row in plans.store.rows([run]) if row.score.name.endswith(".level")]
    assert levels == [0.5] * 8
    assert len(list(plans.store.rows([repeat]))) == len(list(plans.store.rows([run])))
    assert judges.calls["m"] == 32  # no earlier reply is used again, not even of the first pass
    assert result.failures == {}


@pytest.mark.slow
def test_new_verdicts_appear_among_the_scores_of_no_checkpoint(plans, plan: Path) -> None:
    store = plans.store

    def everything() -> object:
        runs = store.latest()
        report = report_document(store, runs).record
        comparison = compare_runs(store, "a", "b")
        judged = read_judgments(store, None)
        return (
            [run.id for run in store.runs()],
            store.baselines(),
            report,
            [(score.address, score.outcome) for score in comparison.scores],
            {address: len(series.answers) for address, series in judged.scores.items()},
            store.statuses(runs),
            store.usage(runs),
            list(store.answers(runs[0])),
            generated_answers(load_suite(load_plan(plan)), str(store.name)),
        )

    before = everything()
    rejudge(plan, store=store)
    assert everything() == before
    assert len(store.rejudgings(store.find("a"))) == 2
    assert store.rejudgings(store.find("b")) == []


def test_a_later_run_of_the_same_checkpoint_does_not_adopt_new_verdicts(plans, plan: Path, judges) -> None:
    judges.shift = lambda model, text, level: level - 1
    rejudge(plan, store=plans.store)
    again = plans.write("a", EIGHT, scorers=["length"])  # another plan, so a new run
    (run,) = run_plan(again, store=plans.store).runs
    levels = [row.outcome.value for row in plans.store.rows([run]) if row.score.name.endswith(".level")]
    assert levels == [0.75] * 8


@pytest.mark.slow
def test_the_same_call_pays_for_nothing_twice_and_fresh_judges_once_more(plans, plan: Path, judges) -> None:
    first = rejudge(plan, store=plans.store).runs[0]
    assert judges.calls["m"] == 32
    assert rejudge(plan, store=plans.store).runs[0].id == first.id
    assert judges.calls["m"] == 32
    assert rejudge(plan, store=plans.store, options=RunOptions(fresh=True)).runs[0].id != first.id
    assert judges.calls["m"] == 48


def test_another_judge_begins_a_run_of_its_own(plans, plan: Path, judges) -> None:
    first = rejudge(plan, store=plans.store).runs[0]
    other = plans.write("b", EIGHT, models=["other"])
    assert rejudge(other, store=plans.store).runs[0].id != first.id
    assert judges.calls["other"] == 16


def test_an_interrupted_call_resumes(plans, plan: Path, judges) -> None:
    with pytest.raises(TimeLimitError, match="the time limit of 0 s is reached"):
        rejudge(plan, store=plans.store, options=RunOptions(time_limit=0, concurrency=1))
    paid = judges.calls["m"]
    assert paid < 24
    assert plans.store.rejudgings(plans.store.find("a"))[0].status == "interrupted"
    runs = rejudge(plan, store=plans.store).runs
    assert ([run.status for run in runs], judges.calls["m"]) == (["finished", "finished"], 32)
    assert len(plans.store.rejudgings(plans.store.find("a"))) == 2


@pytest.mark.slow
def test_failures_are_judged_again_by_the_same_call(plans, plan: Path, judges) -> None:
    judges.fails = lambda model, text: text == "a-p3-1"
    result = rejudge(plan, store=plans.store)
    assert result.failures == {"refused": 2}
    judges.fails = lambda model, text: False
    result = rejudge(plan, store=plans.store)
    assert (result.failures, judges.calls["m"]) == ({}, 34)


def test_a_budget_stops_and_a_higher_one_resumes(plans, plan: Path, judges) -> None:
    result = rejudge(plan, store=plans.store, options=RunOptions(budget=0, concurrency=1))
    assert (result.out_of_budget, judges.calls["m"]) == (True, 16)
    result = rejudge(plan, store=plans.store, options=RunOptions(budget=10))
    assert (result.out_of_budget, result.failures, judges.calls["m"]) == (False, {}, 32)


@pytest.mark.slow
def test_an_estimate_counts_the_calls_and_makes_none(plans, plan: Path, judges) -> None:
    (estimate,) = estimate_rejudging(plan, store=plans.store)
    assert (estimate.backend, estimate.role, estimate.usage.calls) == ("m", "judge", 16)
    assert estimate.cost is not None
    assert plans.store.rejudgings(plans.store.find("a")) == []
    assert judges.calls["m"] == 16
    rejudge(plan, store=plans.store)
    assert [item.usage.calls for item in estimate_rejudging(plan, store=plans.store)] in ([], [0])
    assert [
        item.usage.calls
        for item in estimate_rejudging(plan, store=plans.store, options=RunOptions(fresh=True))
    ] == [16]


@pytest.mark.slow
def test_changed_prompts_are_skipped_and_counted(plans, plan: Path) -> None:
    lines = (plans.folder / "samples.jsonl").read_text("utf-8").splitlines()
    changed = [lines[0].replace("问", "请问"), *lines[1:7]]  # one is changed, and one is gone
    (plans.folder / "samples.jsonl").write_text("\n".join(changed), "utf-8")
    result = rejudge(plan, store=plans.store)
    assert "a: skipped 2 prompts, changed or removed in the plan since the run" in result.warnings
    assert len(plans.store.sample_hashes(result.runs[0])) == 6


def test_no_prompt_in_common_is_an_error(plans, plan: Path) -> None:
    path = plans.write("b", {"q": [1]})
    problem = r"no answers of a \(.*\) to judge again: its prompts are not those of the plan; "
    with pytest.raises(
        ConfigError, match=problem + "pass the plan that the run was made with, or name another earlier run"
    ):
        rejudge(path, store=plans.store)


def test_a_run_without_stored_answers_is_an_error(plans, plan: Path) -> None:
    from hengwen import Run

    ledger = plans.store.ledger()
    ledger.begin(Run(id="empty", plan="p", plan_hash="", checkpoint="empty", started="2026-01-01"))
    ledger.commit()
    problem = r"no answers of empty \(empty\) to judge again: the store has none for tasks with judges; "
    with pytest.raises(ConfigError, match=problem + "run it again: hengwen run, or name another earlier run"):
        rejudge(plan, store=plans.store, before="empty")


def test_one_checkpoint_has_no_earlier_answers(plans) -> None:
    path = plans.run("a", EIGHT)
    with pytest.raises(ConfigError, match=r"no checkpoint before a in .*x\.db whose answers") as error:
        rejudge(path, store=plans.store)
    assert str(error.value).endswith(", or run another checkpoint first: hengwen run")


def test_a_plan_without_runs_is_an_error(plans) -> None:
    with pytest.raises(ConfigError, match=r"no runs of plan 'p' in .*; see: hengwen run"):
        rejudge(plans.write("a", EIGHT), store=plans.store)


def test_a_plan_without_judges_has_nothing_to_judge_again(plans, plan: Path) -> None:
    path = plans.write("b", EIGHT, judges=[], scorers=["length"])
    with pytest.raises(
        ConfigError, match="plan 'p' has no judges, so there is nothing to judge again"
    ) as error:
        rejudge(path, store=plans.store)
    assert str(error.value).endswith("; add judges to a task, or pass the plan that has them")


@pytest.mark.slow
def test_the_pinned_baseline_is_the_earlier_run(plans, plan: Path) -> None:
    third = plans.run("c", EIGHT)
    assert rejudge(third, store=plans.store).runs[0].checkpoint == "b"
    plans.store.pin(plans.store.find("a"), "2026-01-01")
    assert rejudge(third, store=plans.store).runs[0].checkpoint == "a"
    assert rejudge(third, store=plans.store, before="b").runs[0].checkpoint == "b"
    with pytest.raises(
        ConfigError, match=r"'c' is both the earlier and the later run \(.*\); name an earlier"
    ):
        rejudge(third, store=plans.store, before="c")


def test_checkpoints_need_neither_files_nor_keys(plans, plan: Path) -> None:
    (plans.folder / "b.jsonl").unlink()
    assert rejudge(plan, store=plans.store).runs[0].status == "finished"


@pytest.mark.slow
def test_removing_a_run_removes_the_new_verdicts_on_its_answers(plans, plan: Path) -> None:
    run, _ = rejudge(plan, store=plans.store).runs
    plans.store.remove(plans.store.find("a"))
    assert plans.store.rejudgings(run) == []
    assert list(plans.store.rows([run])) == []
    assert judge_drift(plans.store).problem == "one checkpoint"


def test_a_store_that_cannot_be_written_is_refused_before_any_call(plans, plan: Path, judges) -> None:
    plans.store.close()
    with (
        open_store(f"file:{plans.folder / 'x.db'}?mode=ro") as store,
        pytest.raises(StoreError, match="read-only"),
    ):
        rejudge(plan, store=store)
    assert judges.calls["m"] == 16


def test_rows_have_the_names_and_signatures_of_the_judge(plans, plan: Path) -> None:
    run, _ = rejudge(plan, store=plans.store).runs
    outcomes = [row.outcome for row in plans.store.rows([run])]
    assert not any(isinstance(outcome, Failure) for outcome in outcomes)
    before = plans.store.rows([plans.store.find("a")])
    assert {(item.name, item.signature) for item in outcomes} == {
        (row.score.name, row.outcome.signature) for row in before if isinstance(row.outcome, Score)
    }
