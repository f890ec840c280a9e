"""A run of which nothing was scored is not finished, its failures say why, and it can be repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen import Failure, open_store, registry

DEAD = "http://127.0.0.1:9/v1"


def outcomes_of(store_path: Path) -> tuple[str, set[tuple[str, str]]]:
    """Return the status of the newest run, and status and message of its failures."""
    with open_store(store_path) as store:
        run = store.runs()[0]
        failures = [row.outcome for row in store.rows([run]) if isinstance(row.outcome, Failure)]
    return run.status, {(failure.status, failure.message) for failure in failures}


def judged_at(suite, url: str) -> Path:
    """Write a plan whose judge is at an endpoint."""
    judge = {"provider": "openai", "model": "m", "base_url": url, "retries": 0}
    plan = suite(3, backends={"j": judge})
    spec = json.loads(plan.read_text("utf-8"))
    spec["tasks"][0]["judges"][0]["backend"] = "j"
    plan.write_text(json.dumps(spec), "utf-8")
    return plan


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "message", "text"),
    [
        (401, "bad key", "the endpoint answered 401: bad key; check the key in OPENAI_API_KEY"),
        (404, "no such model", "the endpoint answered 404: no such model"),
        (400, "context too long", "the endpoint answered 400: context too long"),
    ],
)
def test_a_refused_request_is_rejected_and_the_run_is_failed(
    run, judge_server, suite, tmp_path: Path, status: int, message: str, text: str
) -> None:
    plan = judged_at(suite, judge_server.url)
    judge_server.misbehave = lambda number: (status, json.dumps({"error": {"message": message}}))
    code, report, err = run(plan)
    assert code == 1
    assert report["runs"][0]["status"] == "failed"
    assert report["runs"][0]["scores"]["t/persona_generic.level"]["failures"] == {"rejected": 3}
    assert "3 rejected" in err
    assert outcomes_of(tmp_path / "hengwen.db") == ("failed", {("rejected", text)})


@pytest.mark.slow
def test_a_failed_run_is_repeated_by_the_same_command(run, judge_server, suite) -> None:
    plan = judged_at(suite, judge_server.url)
    judge_server.misbehave = lambda number: (401, "{}")
    _, failed, _ = run(plan)
    judge_server.misbehave = lambda number: None
    code, repeated, _ = run(plan)
    assert code == 0
    assert repeated["runs"][0]["id"] == failed["runs"][0]["id"]
    assert repeated["runs"][0]["status"] == "finished"


def test_a_dead_port_is_a_transport_error_and_the_run_is_failed(run, suite, tmp_path: Path) -> None:
    code, report, _ = run(judged_at(suite, DEAD))
    assert (code, report["runs"][0]["status"]) == (1, "failed")
    status, failures = outcomes_of(tmp_path / "hengwen.db")
    assert status == "failed"
    assert {kind for kind, _ in failures} == {"transport_error"}


class Raising:
    """A scorer that fails at every answer."""

    signature = "raising|v:1"
    names = ("raising.total",)

    def score(self, sample, response):
        raise ValueError("no title")


def test_a_plugin_that_raises_is_named_with_its_exception(
    run, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = registry.build
    monkeypatch.setattr(
        registry,
        "build",
        lambda group, name, *more, **options: (
            Raising() if name == "char_count" else build(group, name, *more, **options)
        ),
    )
    plan = suite(2)
    spec = json.loads(plan.read_text("utf-8"))
    del spec["tasks"][0]["judges"]
    spec["tasks"][0]["scorers"] = ["char_count"]
    plan.write_text(json.dumps(spec), "utf-8")
    code, report, _ = run(plan)
    assert (code, report["runs"][0]["status"]) == (1, "failed")
    assert outcomes_of(tmp_path / "hengwen.db") == ("failed", {("scorer_error", "ValueError: no title")})


def test_scores_that_compare_answers_say_why_they_do_not_apply_to_one(run, suite, tmp_path: Path) -> None:
    plan = suite(1)
    spec = json.loads(plan.read_text("utf-8"))
    spec["tasks"][0]["scorers"] = ["self_bleu", "near_duplicates"]
    plan.write_text(json.dumps(spec), "utf-8")
    code, report, _ = run(plan, "--lang", "zh", "-o", tmp_path / "r.md")
    scores = report["runs"][0]["scores"]
    message = "near duplicates are pairs of answers, and there is only one answer"
    assert code == 0
    for name in ("t/self_bleu.repeats", "t/near_duplicates.repeats"):
        assert (scores[name]["failures"], scores[name]["not_applicable"]) == ({}, 1)
    assert scores["t/near_duplicates.repeats"]["first_messages"] == {"not_applicable": message}
    assert "不适用：近似重复是成对的回答，而这里只有一个回答" in (tmp_path / "r.md").read_text("utf-8")
