"""``hengwen batch submit|export|import|cancel``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from batch_server import BatchServer, good, serving_batches  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow

PRICES = {"price": {"input": 2.0, "output": 8.0}, "params": {"max_tokens": 100}}


@pytest.fixture
def plan(suite, batch_server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    backend = {"provider": "openai", "model": "tiny", "base_url": batch_server.url, **PRICES}
    judges = [{"rubric": "persona_generic", "backend": "judge"}]
    tasks = [{"name": "t", "samples": "prompts.jsonl", "judges": judges}]
    return suite(3, tasks=tasks, backends={"judge": backend})


def test_a_dry_run_says_how_many_requests_files_and_what_cost(hengwen, plan: Path) -> None:
    online = hengwen("run", plan, "--dry-run", "--json").json["expected"][0]
    done = hengwen("batch", "submit", plan, "--dry-run")
    assert done.code == 0
    assert re.search(r"^judge +judge +3 +1 ", done.out, re.MULTILINE)
    (estimate,) = hengwen("batch", "submit", plan, "--dry-run", "--json").json["expected"]
    half = {**online["price"], "input": online["price"]["input"] / 2, "output": online["price"]["output"] / 2}
    assert estimate == {**online, "cost": pytest.approx(online["cost"] / 2), "price": half, "files": 1}
    assert "files" not in online


def test_a_dry_run_counts_no_call_that_is_in_an_open_batch(hengwen, plan: Path, tmp_path: Path) -> None:
    assert hengwen("batch", "export", plan, tmp_path / "out").code == 0
    assert hengwen("batch", "submit", plan, "--dry-run").out.startswith("no calls needed\n")


def test_a_run_in_batches_prints_its_state_and_the_report(hengwen, plan: Path) -> None:
    done = hengwen("batch", "submit", plan, "--poll", "0")
    assert done.code == 0
    assert "1 open batch: 0 of 3 calls done" in done.err.splitlines()
    assert "persona_generic" in done.out


def test_an_export_names_its_files_and_the_next_command(hengwen, plan: Path, tmp_path: Path) -> None:
    done = hengwen("batch", "export", plan, tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    assert done.code == 0
    assert f"exported: {path}" in done.err
    assert f"hengwen batch import {plan} REPLIES" in done.err
    again = hengwen("batch", "export", plan, tmp_path / "other", "--json")
    assert again.json["calls"] == 3
    (path,) = again.json["exported"]
    replies = tmp_path / "replies.jsonl"
    requests = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    replies.write_text("".join(f"{json.dumps(good(request, 0))}\n" for request in requests[:2]), "utf-8")
    part = hengwen("batch", "import", plan, replies)
    assert part.code == 4
    assert f"1 calls have no reply yet; export them with: hengwen batch export {plan} FOLDER" in part.err
    as_json = hengwen("batch", "import", plan, replies, "--json")
    assert (as_json.code, as_json.json["pending_calls"]) == (4, 1)
    replies.write_text("".join(f"{json.dumps(good(request, 0))}\n" for request in requests), "utf-8")
    full = hengwen("batch", "import", plan, replies)
    assert full.code == 0
    assert "no reply yet" not in full.err


def test_nothing_is_exported_if_no_call_is_missing(hengwen, plan: Path, tmp_path: Path) -> None:
    assert hengwen("batch", "submit", plan, "--poll", "0", "-q").code == 0
    done = hengwen("batch", "export", plan, tmp_path / "out")
    assert (done.code, done.err.splitlines()[-1]) == (0, "no calls needed")


def test_a_cancellation_without_open_batches_says_so(hengwen, plan: Path) -> None:
    done = hengwen("batch", "cancel", plan, "--json")
    assert (done.code, done.json) == (0, {"schema": 1, "cancelled": False})


def test_an_export_beyond_the_budget_says_so(hengwen, plan: Path, tmp_path: Path) -> None:
    (estimate,) = hengwen("batch", "submit", plan, "--dry-run", "--json").json["expected"]
    done = hengwen("batch", "export", plan, tmp_path / "out", "--budget", estimate["cost"] * 0.5)
    assert done.code == 5
    assert "1 calls; answer each file" in done.err
    assert "2 failures: " in done.err
    assert "budget reached" in done.err
    done = hengwen("batch", "export", plan, tmp_path / "none", "--budget", 0)
    assert done.code == 5
    assert "no calls exported" in done.err


def test_the_next_command_has_the_options_of_this_one(hengwen, plan: Path, tmp_path: Path) -> None:
    more = ("--store", tmp_path / "big one.db", "--limit", 2)
    done = hengwen("batch", "export", plan, *more, tmp_path / "out")
    assert f"hengwen batch import {plan} --store '{tmp_path / 'big one.db'}' --limit 2 REPLIES" in done.err


def test_a_cancellation_names_the_store_and_needs_no_key_for_exported_files(
    hengwen, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hengwen("batch", "export", plan, tmp_path / "out").code == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    first, second = (hengwen("batch", "cancel", plan) for _ in range(2))
    assert (first.code, second.code) == (0, 0)
    assert "is open any more in hengwen.db; replies that were ready are kept" in first.err
    assert "no batch of plan" in second.err
    assert "was open in" in second.err


def test_a_dry_run_of_calls_that_are_sent_one_by_one_has_their_full_price(hengwen, plan: Path) -> None:
    online = hengwen("run", plan, "--dry-run", "--json").json["expected"]
    assert (
        hengwen("batch", "submit", plan, "--online-below", 4, "--dry-run", "--json").json["expected"]
        == online
    )
    (batched,) = hengwen("batch", "submit", plan, "--online-below", 3, "--dry-run", "--json").json["expected"]
    assert batched["files"] == 1


def test_an_interruption_before_any_batch_does_not_speak_of_batches(
    hengwen, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hengwen.runs.run_plan.run_plan", interrupted)
    done = hengwen("batch", "submit", plan)
    assert done.code == 130
    assert "the same command resumes the run" in done.err
