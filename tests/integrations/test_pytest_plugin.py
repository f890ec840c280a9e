"""The plug-in of pytest, in test runs of its own."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
from real_tools import requires_tools

pytest_plugins = ["pytester"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not requires_tools(), reason="starts pytest six times: make integrations"),
]

PLUGIN = "hengwen.integrations.pytest_plugin"
TESTS = """
import pytest

@pytest.mark.hengwen_gate("short/length.within >= 0.1")
def test_passes(hengwen):
    assert hengwen.run("plan.yaml").failures == {}

@pytest.mark.hengwen_gate("short/length.within >= 0.1", "short/length.within <= 0.2")
def test_fails(hengwen):
    hengwen.run("plan.yaml")

@pytest.mark.hengwen_gate("short/length.witin >= 0.1")
def test_typo(hengwen):
    hengwen.run("plan.yaml")

def test_score(hengwen):
    assert hengwen.score("abc", "length", options={"least": 2, "most": 4}).value == 1.0
    assert hengwen.score("a", "lyric").status == "scorer_error"
"""
PLAN = """\
name: p
tasks:
  - name: short
    samples: s.jsonl
    scorers: [{length: {least: 2, most: 4}}]
checkpoints: [{name: a, responses: a.jsonl}]
"""


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plug-ins start slowly
    ids = [str(number) for number in range(20)]
    rows = [json.dumps({"id": name, "input": "?", "output": "abc"}) for name in ids]
    for name in ("s.jsonl", "a.jsonl"):
        (pytester.path / name).write_text("\n".join(rows) + "\n", "utf-8")
    (pytester.path / "plan.yaml").write_text(PLAN, "utf-8")
    pytester.makepyfile(TESTS)
    return pytester.path


def test_the_entry_point_is_the_plug_in() -> None:
    (point,) = entry_points(group="pytest11", name="hengwen")
    assert point.value == PLUGIN


def test_gates_decide_tests_and_workers_of_xdist_report_them(pytester: pytest.Pytester, folder: Path) -> None:
    options = ("-p", PLUGIN, "-p", "xdist", "-n", "2", "--strict-markers", "--junit-xml", "j.xml")
    result = pytester.runpytest_subprocess(*options)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*no score 'short/length.witin'; did you mean 'short/length.within'[?]"])
    assert "evaluate_gates.py" not in result.stdout.str()  # a typo has no traceback of Hengwen
    result.stdout.fnmatch_lines(["*hengwen gates*", "passed: short/length.within >= 0.1 (*20 prompts*"])
    result.stdout.fnmatch_lines(["failed: short/length.within <= 0.2 (*"])
    properties = ElementTree.parse(folder / "j.xml").iter("property")
    gates = [json.loads(item.attrib["value"]) for item in properties]
    assert sorted(gate["outcome"] for gate in gates) == ["failed", "passed", "passed"]
    assert {gate["terms"][0]["n"] for gate in gates} == {20}
    assert (folder / ".hengwen" / "pytest.db").exists()


def test_replay_makes_no_call_and_says_which_are_missing(pytester: pytest.Pytester, folder: Path) -> None:
    replies = [{"messages": [["user", "?"]], "repeat": 1, "text": "abc"}]
    (folder / "r.jsonl").write_text(json.dumps(replies[0]) + "\n", "utf-8")
    plan = (
        PLAN.replace("responses: a.jsonl", "backend: m")
        + "backends: {m: {provider: replay, file: r.jsonl}}\n"
    )
    (folder / "plan.yaml").write_text(plan, "utf-8")
    pytester.makepyfile('def test_run(hengwen):\n    hengwen.run("plan.yaml")\n')
    options = ("-p", PLUGIN, "--hengwen-store", "own.db")
    missing = pytester.runpytest_subprocess(*options, "--hengwen-calls", "replay")
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["calls of plan p are not recorded in own.db (*); record them: pytest*"])
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*options, "--hengwen-calls", "replay").assert_outcomes(passed=1)
