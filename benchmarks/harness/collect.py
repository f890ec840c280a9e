"""Run benchmark scripts, and read their figures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from .environment import error_line
from .figures import PER_SECOND, Entry, Figure, Problem, from_json

if TYPE_CHECKING:
    from .topics import Script

BENCHMARKS = Path(__file__).resolve().parents[1]
NO_FIGURES = "printed no figures"
STOP_SECONDS = 10
"""Seconds in which an interrupted script must stop its servers."""


def run_script(script: Script, python: Path, *, rounds: int | None, is_quick: bool) -> list[Entry]:
    """Run a script in a process of its own.

    Args:
        script: The script.
        python: Python of the environment of the benchmarks.
        rounds: Rounds of each figure; None for the number that the script sets.
        is_quick: Whether to add the options of a quick measurement.

    Returns:
        Figures and problems. If the script fails or exceeds its time limit, a problem follows the figures
        that it had printed.
    """
    rounds = rounds or script.rounds
    options = [*script.options, *(script.quick if is_quick else ())]
    path = str(BENCHMARKS / script.name)
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS), "OPENAI_API_KEY": "none"}
    if not script.is_pytest:
        options += ["--rounds", str(rounds)] if script.rounds else []
        output, error = _run([str(python), path, "--json", *options], environment, script.seconds)
        entries = parse_lines(output)
        return [*entries, *_script_problem(script, error or ("" if entries else NO_FIGURES))]
    with tempfile.TemporaryDirectory() as name:
        report, outcomes = Path(name) / "report.json", Path(name) / "outcomes.xml"
        command = [str(python), "-m", "pytest", path, "-c", os.devnull, "--rootdir", name, *options]
        command += ["-q", "-p", "no:cacheprovider", "--benchmark-only", f"--benchmark-json={report}"]
        command += ["--benchmark-timer=harness.figures.cpu_seconds", f"--junitxml={outcomes}"]
        environment["BENCH_ROUNDS"] = str(rounds)
        _, error = _run(command, environment, script.seconds)
        entries = []
        if report.exists() and report.stat().st_size:
            entries += figures_of_pytest(json.loads(report.read_text("utf-8")))
        problems = problems_of_pytest(outcomes.read_text("utf-8")) if outcomes.exists() else []
    if not entries and not problems:
        error = error or NO_FIGURES
    return [*entries, *problems, *([] if problems else _script_problem(script, error))]


def parse_lines(output: str) -> list[Entry]:
    """Parse the lines of a script; a line that is no figure is a problem."""
    entries: list[Entry] = []
    for line in output.splitlines():
        try:
            entries.append(from_json(line))
        except ValueError:
            entries.append(Problem(case="output of the script", message=error_line(line)))
    return entries


def figures_of_pytest(report: dict[str, Any]) -> list[Entry]:
    """Return a figure for each round in a JSON report of pytest-benchmark; rounds are in seconds of CPU."""
    figures: list[Entry] = []
    medians: dict[tuple[str, str], float] = {}
    for benchmark in report["benchmarks"]:
        facts = benchmark["extra_info"]
        factor = PER_SECOND[facts["unit"]] / facts["count"]
        figures += [
            Figure(
                case=facts["case"],
                system=facts["system"],
                value=seconds * factor,
                unit=f"{facts['unit']} of CPU",
                **facts["targets"],
            )
            for seconds in benchmark["stats"]["data"]
        ]
        case, system = facts["case"], facts["system"]
        medians[case, system] = median(benchmark["stats"]["data"]) * factor
        smaller, high = facts.get("growth") or ("", None)
        if (smaller, system) in medians:
            ratio = medians[case, system] / medians[smaller, system]
            figures.append(
                Figure(case=f"{case} / {smaller}", system=system, value=ratio, unit="x", high=high)
            )
    return figures


def problems_of_pytest(xml: str) -> list[Problem]:
    """Return a problem for each test in a JUnit report that failed or was skipped."""
    problems = []
    for case in ElementTree.fromstring(xml).iter("testcase"):
        for kind in ("failure", "error", "skipped"):
            for outcome in case.iter(kind):
                errors = [line[2:] for line in (outcome.text or "").splitlines() if line.startswith("E ")]
                message = error_line("\n".join(errors) or outcome.get("message") or "")
                name = case.get("name") or case.get("classname") or ""
                problems.append(Problem(case=name, message=message))
    return problems


def _script_problem(script: Script, error: str) -> list[Problem]:
    return [Problem(case=script.name, message=error)] if error else []


def _run(command: list[str], environment: dict[str, str], seconds: int) -> tuple[str, str]:
    """Run a program; return its output, and the error line if it fails or exceeds the time limit."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=errors, start_new_session=True
        )
        error = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            _stop(process)
            error = f"stopped after {seconds} s"
        except BaseException:  # Ctrl-C, which the script does not receive in a session of its own
            _stop(process)
            raise
        output.seek(0)
        errors.seek(0)
        text = output.read()
        if process.returncode and not error:
            error = error_line(errors.read() or text)
        return text, error


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a script and its children, so that it stops its servers; kill them after ``STOP_SECONDS``."""
    try:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
