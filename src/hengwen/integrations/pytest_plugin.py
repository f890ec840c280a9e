"""Plug-in of pytest: runs plans and scores answers in tests; gates pass or fail a test.

Only pytest is imported until a test uses the fixture, so that other tests do not start later.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hengwen.plans.plan import Plan
    from hengwen.records import Outcome
    from hengwen.runs.options import RunOptions
    from hengwen.runs.run_plan import RunResult

PROPERTY = "hengwen"
"""Name of the properties of a test in JUnit files; each has the record of a gate as JSON."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("hengwen", "evaluation of generated text")
    group.addoption(
        "--hengwen-calls",
        choices=("record", "replay"),
        default="record",
        help="record: calls without a stored reply are made and stored; replay: such calls fail the test.",
    )
    group.addoption(
        "--hengwen-store",
        default=None,
        metavar="STORE",
        help="Path or URL of the store of replies and scores; default: .hengwen/pytest.db.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark."""
    config.addinivalue_line(
        "markers",
        "hengwen_gate(*gates): gates for each plan that the test runs, instead of those of the plan",
    )


@pytest.fixture
def hengwen(request: pytest.FixtureRequest) -> Evaluation:
    """Run plans and score answers; gates of the mark ``hengwen_gate``, or of the plan, decide the test."""
    return Evaluation(request)


class Evaluation:
    """Runs plans and scores answers for one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node: pytest.Item = request.node
        self._replays = request.config.getoption("--hengwen-calls") == "replay"
        store = request.config.getoption("--hengwen-store")
        if store is None:
            folder: Path = request.config.rootpath / ".hengwen"
            folder.mkdir(exist_ok=True)
            store = folder / "pytest.db"
        self._store: str | Path = store

    def run(
        self, plan: Plan | str | Path, *, options: RunOptions | None = None, trust: bool = False
    ) -> RunResult:
        """Run a plan, and check the gates of the test's marks, or else those of the plan.

        A gate that does not pass fails the test, also if it is undecided. Stored replies are reused.
        """
        from hengwen.errors import HengwenError

        __tracebackhide__ = True
        try:
            return self._run(plan, options, trust=trust)
        except HengwenError as error:  # a wrong plan or gate is one line below that of the test
            raise error.with_traceback(None) from None

    def _run(self, plan: Plan | str | Path, options: RunOptions | None, *, trust: bool) -> RunResult:
        from dataclasses import replace

        from hengwen.plans.plan import Plan, load_plan
        from hengwen.runs.options import RunOptions
        from hengwen.runs.run_plan import run_plan

        loaded = plan if isinstance(plan, Plan) else load_plan(plan)
        options = replace(options or RunOptions(), wait=True)  # for other tests that run the plan
        if self._replays:
            self._check_recorded(loaded, options, trust=trust)
        result = run_plan(loaded, store=self._store, options=options, trust=trust)
        marks = self._node.iter_markers("hengwen_gate")
        gates = [str(gate) for mark in marks for gate in mark.args] or [spec.gate for spec in loaded.gates]
        if gates:
            self._check(loaded, gates)
        return result

    def score(self, answer: str, scorer: str, prompt: str = "", **row: Any) -> Outcome:
        """Return the first score of an answer, or why there is none; ``row`` has references and metadata.

        Args:
            answer: The answer.
            scorer: Name of a scorer, such as ``lyric``, or its location, such as ``file.py:Class``.
            prompt: The prompt.
            **row: ``options`` of the scorer; ``references`` and other data of the prompt.
        """
        from hengwen.integrations.outcomes import TextScorer
        from hengwen.runs.score_file import build_scorer

        options: Mapping[str, Any] = row.pop("options", {})
        return TextScorer(build_scorer(scorer, options)).outcome(answer, prompt, row)

    def _check_recorded(self, plan: Plan, options: RunOptions, *, trust: bool) -> None:
        from hengwen.runs.estimate_plan import estimate_plan

        estimates = estimate_plan(plan, store=self._store, options=options, trust=trust)
        calls = sum(estimate.usage.calls for estimate in estimates)
        if calls:
            pytest.fail(
                f"calls of plan {plan.name} are not recorded in {self._store} ({calls}); record them: "
                "pytest --hengwen-calls record",
                pytrace=False,
            )

    def _check(self, plan: Plan, gates: list[str]) -> None:
        from hengwen.documents.gates.gate import gate_document
        from hengwen.monitoring.gates.evaluate_gates import evaluate_gates
        from hengwen.store.store import opened_store

        with opened_store(self._store) as opened:
            record: Any = gate_document(evaluate_gates(opened, plan, gates=gates)).record
        results = [{"run": record["run"]["id"], **gate} for gate in record["gates"]]
        self._node.user_properties += [(PROPERTY, json.dumps(result)) for result in results]
        not_passed = [result for result in results if result["outcome"] != "passed"]
        if not_passed:
            pytest.fail("\n".join(map(_line, not_passed)), pytrace=False)


def _line(result: Mapping[str, Any]) -> str:
    return f"{result['outcome']}: {result['gate']} ({result['text']})"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List all gates with their values; reports of xdist's workers have them as properties."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    results = [
        json.loads(str(value))
        for report in reports
        if report.when == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if results:
        terminalreporter.section("hengwen gates")
        for result in results:
            terminalreporter.line(_line(result))
