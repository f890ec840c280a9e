"""JUnit, summary and comment are well-formed, whatever the names and messages are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each_row

from hengwen.cli.gate_files import comment_mark, comment_markdown, junit_xml, summary_markdown
from hengwen.monitoring.gates.results import GateOutcome, GateReport, GateResult, TermResult
from hengwen.plans.gates import Tier
from hengwen.records import Run

HOSTILE = "x|y\n<script>\x00\x1b[31m@someone #12 ]]> & \ud800 www.example.org https://example.org `c` ✂"


def gate(outcome: GateOutcome, tier: Tier = "fail", detail: str = "", **more) -> GateResult:
    term = TermResult(text="t/s >= 1", kind="score", outcome=outcome, reason="nothing scored", detail=detail)
    rest = {"enforced": outcome if tier == "fail" else None, "expression": "t/s >= 1", **more}
    return GateResult(tier=tier, outcome=outcome, terms=(term,), **rest)


def report(*gates: GateResult, plan: str = "p", warnings: tuple[str, ...] = ()) -> GateReport:
    run = Run(id="r1", plan=plan, plan_hash="", checkpoint="c")
    return GateReport(plan=plan, run=run, gates=gates or (gate("passed"),), warnings=warnings)


@each_row(
    ("result", "element"),
    [
        (gate("passed"), "system-out"),
        (gate("failed"), "failure"),
        (gate("inconclusive"), "skipped"),
        (gate("error"), "error"),
        (gate("failed", "warn"), "skipped"),
        (gate("inconclusive", "warn"), "skipped"),
        (gate("error", "warn"), "error"),
        (gate("failed", enforced="inconclusive"), "skipped"),
    ],
)
def test_a_gate_is_a_test_case_of_junit(result: GateResult, element: str) -> None:
    root = ElementTree.fromstring(junit_xml(report(result), "en"))
    (suite,) = root
    (case,) = suite
    assert [child.tag for child in case] == [element]
    counts = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    for kind, name in counts.items():
        assert root.get(name) == suite.get(name) == str(int(kind == element))
    assert (case.get("classname"), case.get("name")) == ("hengwen.p", "t/s >= 1")


@pytest.mark.slow
@given(st.text() | st.just(HOSTILE))
def test_junit_is_well_formed_whatever_a_server_says(text: str) -> None:
    xml = junit_xml(report(gate("failed", detail=text)), "zh")
    (failure,) = ElementTree.fromstring(xml.encode()).iter("failure")
    assert failure.get("message").startswith("未通过")


@pytest.mark.slow
@given(st.text() | st.just(HOSTILE))
def test_a_summary_is_one_table_row_a_gate(text: str) -> None:
    markdown = summary_markdown(report(gate("failed", detail=text), gate("passed")), "en")
    markdown.encode()
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    for row in rows:
        assert len(re.split(r"(?<!\\)\|", row)) == 5
        assert "<" not in row


@given(st.text() | st.just(HOSTILE))
def test_names_of_plans_and_gates_are_inert_in_every_file(name: str) -> None:
    hostile = report(gate("failed", expression=name), plan=name)
    ElementTree.fromstring(junit_xml(hostile, "en").encode())
    comment = comment_markdown(hostile, "en")
    comment.encode()
    mark, *lines = comment.splitlines()
    assert re.fullmatch(r"<!-- hengwen-gate:[^<>]*(<[^<>]*)* -->", mark)
    assert "--" not in mark.removeprefix("<!--").removesuffix("-->")
    text = "".join(lines)
    assert not re.search(r"<|@(?!&#8203;)", text)
    assert len([line for line in lines if line.startswith("|")]) == 3


def test_a_summary_calls_nobody_and_links_nothing() -> None:
    markdown = summary_markdown(report(gate("failed", detail=HOSTILE)), "en")
    assert "<script>" not in markdown
    assert "\x1b" not in markdown
    assert "@&#8203;someone #&#8203;12" in markdown
    assert "www&#46;example.org https&#58;//example.org" in markdown


def test_the_summary_has_the_outcome_of_the_job_and_of_each_gate() -> None:
    markdown = summary_markdown(report(gate("failed"), gate("failed", "warn"), gate("passed")), "en")
    assert markdown.startswith("### hengwen gate: failed\n\np: c (r1)\n\n| result | gate | why |\n")
    assert "| ❌ failed | t/s &gt;= 1 |" in markdown
    assert "| ⚠️ warning (failed) |" in markdown
    assert "| ✅ passed |" in markdown
    assert "| ⛔ not scored |" in summary_markdown(report(gate("error", "warn")), "en")
    assert summary_markdown(report(gate("passed")), "zh").startswith("### hengwen gate: 通过\n")


def test_a_comment_starts_with_the_mark_of_its_plan() -> None:
    comment = comment_markdown(report(), "en")
    assert comment.splitlines()[0] == comment_mark("p") == "<!-- hengwen-gate:p -->"
    assert "-->" not in comment_mark("a--> <b>").removesuffix(" -->")


def test_warnings_are_in_every_file() -> None:
    warned = report(gate("failed"), warnings=("the run r1 is interrupted, not finished", "second"))
    (suite,) = ElementTree.fromstring(junit_xml(warned, "en"))
    assert [child.tag for child in suite] == ["testcase", "system-out"]
    assert suite[-1].text == "warning: the run r1 is interrupted, not finished\nwarning: second"
    for markdown in (summary_markdown(warned, "en"), comment_markdown(warned, "en")):
        assert "\n\n⚠️ warning: the run r1 is interrupted, not finished\n\n⚠️ warning: second\n" in markdown
    assert "警告：second" in summary_markdown(warned, "zh")
    assert "警告：second" in junit_xml(warned, "zh")
    assert "system-out" not in junit_xml(report(gate("failed")), "en")


@given(st.text() | st.just(HOSTILE))
def test_a_warning_is_escaped_and_on_one_line(text: str) -> None:
    warned = report(gate("failed"), warnings=(text,))
    (suite,) = ElementTree.fromstring(junit_xml(warned, "en").encode())
    assert suite[-1].text.startswith("warning:")
    assert "\n" not in suite[-1].text
    markdown = summary_markdown(warned, "en")
    markdown.encode()
    last = markdown.splitlines()[-1]
    assert last.startswith("⚠️ warning:")
    assert "<" not in last
    assert len(markdown.splitlines()) == len(summary_markdown(report(gate("failed")), "en").splitlines()) + 2


def test_a_warning_calls_nobody_and_links_nothing() -> None:
    markdown = summary_markdown(report(gate("failed"), warnings=(HOSTILE,)), "en")
    assert "<script>" not in markdown
    assert "@&#8203;someone #&#8203;12" in markdown
    assert "www&#46;example.org https&#58;//example.org" in markdown
