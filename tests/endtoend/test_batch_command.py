"""The words after ``hengwen run PLAN --batch``: estimate, export, import and cancel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from batch_server import BatchServer, good, serving_batches  # noqa: F401 - a fixture

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
    done = hengwen("run", plan, "--batch", "--dry-run")
    assert done.code == 0
    assert "judge (judge): 3 calls in 1 batch file, about " in done.out
    (estimate,) = hengwen("run", plan, "--batch", "--dry-run", "--json").json["expected"]
    assert estimate == {**online, "cost": pytest.approx(online["cost"] / 2), "files": 1}
    assert "files" not in online


def test_a_dry_run_counts_no_call_that_is_in_an_open_batch(hengwen, plan: Path, tmp_path: Path) -> None:
    assert hengwen("run", plan, "--batch", "export", tmp_path / "out").code == 0
    assert hengwen("run", plan, "--batch", "--dry-run").out.startswith("no calls needed\n")


def test_a_run_in_batches_prints_its_state_and_the_report(hengwen, plan: Path) -> None:
    done = hengwen("run", plan, "--batch", "--poll", "0")
    assert done.code == 0
    assert "1 open batch: 0 of 3 calls done" in done.err.splitlines()
    assert "persona_generic" in done.out


def test_an_export_names_its_files_and_the_next_command(hengwen, plan: Path, tmp_path: Path) -> None:
    done = hengwen("run", plan, "--batch", "export", tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    assert done.code == 0
    assert f"exported: {path}" in done.err
    assert f"hengwen run {plan} --batch import REPLIES" in done.err
    again = hengwen("run", plan, "--batch", "export", tmp_path / "other", "--json")
    assert again.json["calls"] == 3
    (path,) = again.json["exported"]
    replies = tmp_path / "replies.jsonl"
    requests = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    replies.write_text("".join(f"{json.dumps(good(request, 0))}\n" for request in requests[:2]), "utf-8")
    part = hengwen("run", plan, "--batch", "import", replies)
    assert part.code == 0
    assert (
        f"1 calls have no reply yet; export them with: hengwen run {plan} --batch export FOLDER" in part.err
    )
    replies.write_text("".join(f"{json.dumps(good(request, 0))}\n" for request in requests), "utf-8")
    full = hengwen("run", plan, "--batch", "import", replies)
    assert full.code == 0
    assert "no reply yet" not in full.err


def test_nothing_is_exported_if_no_call_is_missing(hengwen, plan: Path, tmp_path: Path) -> None:
    assert hengwen("run", plan, "--batch", "--poll", "0", "-q").code == 0
    done = hengwen("run", plan, "--batch", "export", tmp_path / "out")
    assert (done.code, done.err.splitlines()[-1]) == (0, "no calls needed")


def test_a_cancellation_without_open_batches_says_so(hengwen, plan: Path) -> None:
    done = hengwen("run", plan, "--batch", "cancel", "--json")
    assert (done.code, done.json) == (0, {"schema": 1, "cancelled": True})
