"""The judges of a plan in the browser: the documents of calibrate and judge-drift, and a scatter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.view.conftest import TOKEN, client_of

from hengwen import open_store, run_plan


def computed(client: TestClient, show: str) -> str:
    """Return the page once it has what takes seconds."""
    for _ in range(300):
        page = client.get("/judges", params={"show": show})
        if "Refresh" not in page.headers:
            break
    return page.text


@pytest.mark.slow
def test_each_judge_has_its_line_and_its_anchors(client) -> None:
    page = client.get("/judges").text
    assert "0 of 2 judges certified." in page
    assert "judge persona/persona_generic" in page
    assert "to test: hengwen doctor --judge rules --rubric persona_generic" in page
    assert "Mean that persona/persona_generic gave the anchors" in page
    assert "ckpt-4000: 0.844 (n=8)" in page
    assert "confusion-1" not in page, "what takes seconds waits to be asked for"


@pytest.mark.slow
def test_the_calibration_has_a_dot_for_each_cell_of_the_confusion_table(client) -> None:
    page = computed(client, "calibration")
    assert "agreement with human labels (n=48, prompts 12, raters 1)" in page
    dots = re.findall(r"<title>people ([\d.]+), judge ([\d.]+): (\d+)</title>", page)
    assert sum(int(count) for *_, count in dots) == 48
    assert ("1", "0.75", "14") in dots
    assert "Not certified." in page


@pytest.mark.slow
def test_the_drift_of_judges_is_the_document_of_judge_drift(client) -> None:
    page = computed(client, "drift")
    assert "<h2>Judge drift</h2>" in page
    assert "Cannot tell: lyric craft, character." in page


@pytest.mark.slow
def test_without_labels_the_way_to_them_is_named(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "input": "问"}\n', "utf-8")
    (tmp_path / "c.jsonl").write_text('{"id": "a", "output": "答"}\n', "utf-8")
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "name: p\ntasks: [{name: t, samples: s.jsonl, judges: [{rubric: muice_live}]}]\n"
        "checkpoints: [{name: c, responses: c.jsonl}]\n",
        "utf-8",
    )
    with open_store(tmp_path / "s.db") as store:
        run_plan(plan, store=store)
    client = client_of(tmp_path / "s.db")
    client.get("/", params={"token": TOKEN})
    for show in ("", "calibration", "drift"):
        page = computed(client, show)
        assert "0 of 1 judge certified." in page
    assert "run hengwen view --label PLAN" in computed(client, "calibration")
    assert client.get("/judges", params={"plan": "no such plan"}).status_code == 200
