"""Format results of gates as files for CI (JUnit XML, Markdown); names and messages in them are escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from hengwen.documents.cells import verdicts_on_rewards
from hengwen.documents.gates.gate_text import (
    NOTHING_DECIDES,
    OUTCOMES,
    gate_details,
    gate_word,
    is_warning,
    report_title,
)
from hengwen.documents.render.markdown import escape
from hengwen.text.language import in_language
from hengwen.text.numbers import one_line, strip_controls

if TYPE_CHECKING:
    from hengwen.monitoring.gates.results import GateReport, GateResult
    from hengwen.text.language import Language

MAX_DETAILS = 2000
"""Maximum number of characters of the details of a gate in a file."""
MARKS = {"passed": "✅", "failed": "❌", "inconclusive": "❔", "error": "⛔"}
WARNING_MARK = "⚠️"
_TITLES = {0: "passed", 1: "error", 3: "failed", 4: "inconclusive"}


def junit_xml(report: GateReport, language: Language) -> str:
    """Return the gates as JUnit XML, one test case each; warnings are in the ``system-out`` of the suite."""
    kinds = [_junit_kind(gate) for gate in report.gates]
    counts = {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
    }
    root = ElementTree.Element("testsuites", {"name": "hengwen", **counts})
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": _text(report_title(report)), **counts, "time": "0"}
    )
    for gate, kind in zip(report.gates, kinds, strict=True):
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": _text(f"hengwen.{report.plan}"), "name": _text(gate.expression), "time": "0"},
        )
        details = _text(gate_details(gate).in_language(language))
        if kind:
            word = gate_word(gate).in_language(language)
            element = ElementTree.SubElement(case, kind, {"message": f"{word}: {details}"})
            element.text = details
        else:
            ElementTree.SubElement(case, "system-out").text = details
    warnings = _warnings(report, language)
    if warnings:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(warnings)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def summary_markdown(report: GateReport, language: Language) -> str:
    """Return the gates as a Markdown table with a heading; warnings follow the table."""
    title = OUTCOMES[_TITLES[report.exit_code]] if report.exit_code or report.decides else NOTHING_DECIDES
    outcome = title.in_language(language)
    heads = ("结果", "条件", "依据") if language == "zh" else ("result", "gate", "why")
    lines = [
        f"### {escape(f'hengwen gate: {outcome}')}",
        "",
        _cell(report_title(report)),
        "",
        f"| {' | '.join(heads)} |",
        "| --- | --- | --- |",
    ]
    for gate in report.gates:
        mark = WARNING_MARK if is_warning(gate) else MARKS[gate.outcome]
        word = gate_word(gate).in_language(language)
        details = gate_details(gate).in_language(language)
        lines.append(f"| {mark} {_cell(word)} | {_cell(gate.expression)} | {_cell(details)} |")
    for warning in _warnings(report, language):
        lines += ["", f"{WARNING_MARK} {_cell(warning)}"]
    return "\n".join(lines) + "\n"


def comment_markdown(report: GateReport, language: Language) -> str:
    """Return a pull-request comment: the summary, after a hidden line by which a CI job finds the comment."""
    return f"{comment_mark(report.plan)}\n{summary_markdown(report, language)}"


def comment_mark(plan: str) -> str:
    """Return the hidden line by which a CI job finds the pull-request comment about a plan."""
    return f"<!-- hengwen-gate:{one_line(plan, 100).replace('--', '-').replace('>', '')} -->"


def _junit_kind(gate: GateResult) -> str:
    """Return the name of the XML element for the outcome of a test case; empty if the case passed."""
    if gate.outcome == "passed":
        return ""
    if gate.outcome == "error":
        return "error"
    outcome = gate.enforced or "inconclusive"
    return {"failed": "failure", "error": "error"}.get(outcome, "skipped")


def _warnings(report: GateReport, language: Language) -> list[str]:
    """Return the warnings of a report, and what its rewards do not show, one line each."""
    word = "警告：" if language == "zh" else "warning: "
    rewards = [in_language(verdict.sentence, language) for verdict in verdicts_on_rewards(report.rewards)]
    return [_text(text) for text in (*(f"{word}{warning}" for warning in report.warnings), *rewards)]


def _text(text: str) -> str:
    return one_line(strip_controls(text), MAX_DETAILS)


def _cell(text: str) -> str:
    """Return a table cell; an invisible character keeps GitHub from making links of #numbers."""
    return escape(_text(text)).replace("\\#", "#&#8203;")
