"""Benchmarks are not run here, only what combines their figures to a page."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from rows import each_row

from harness import environment
from harness.collect import figures_of_pytest, parse_lines, problems_of_pytest, run_script
from harness.environment import error_line, requirements
from harness.figures import Figure, Problem, print_entries, to_json
from harness.machine import Load, LoadSampler
from harness.results import TopicResult, number, results_page, rows_of
from harness.topics import TOPICS, Script

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPTS = sorted(path.name for path in BENCHMARKS.glob("bench_*.py"))
LOAD = Load(low=0.5, high=1.25, others=0.1, cores=2)


def figure(value, system="hengwen", case="a judgment", unit="ms of CPU", **targets):
    return Figure(case=case, value=value, unit=unit, system=system, **targets)


def result(*entries, **fields):
    values = {
        "name": "judges",
        "title": "Judges",
        "measured_at": "2026-01-02 03:04 UTC",
        "commit": "abc",
        "seconds": 61.2,
        "load": LOAD,
        "machine": {"processor": "P"},
        "versions": {"hengwen": "0.1"},
        "missing": {},
    }
    return TopicResult(**{**values, **fields}, entries={"bench_judges.py": list(entries)})


def test_every_script_belongs_to_a_topic_and_every_topic_names_scripts_that_exist() -> None:
    assert sorted({script.name for topic in TOPICS for script in topic.scripts}) == SCRIPTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_imports_names_that_exist_and_prints_its_help(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script(name.removesuffix(".py"), monkeypatch)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    if hasattr(module, "main"):
        with pytest.raises(SystemExit, match="0"):
            module.main()


def test_no_benchmark_has_more_than_four_hundred_lines() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in BENCHMARKS.rglob("*.py")}
    assert not {name: length for name, length in lengths.items() if length > 400}


def test_no_peer_requires_torch() -> None:
    pins = requirements((BENCHMARKS / "requirements-bench.txt").read_text("utf-8"))
    assert set(requirements((BENCHMARKS / "peers.in").read_text("utf-8"))) <= set(pins)
    assert "torch" not in pins


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    return importlib.import_module(name)


def test_the_start_of_hengwen_is_measured_without_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("bench_start", monkeypatch)
    commands = {
        "python -c pass": ("python", "-c", "pass"),
        "hengwen --help": ("hengwen", "-c", "pass"),
        "import peer": ("peer", "-c", "raise ImportError('no peer')"),
    }
    monkeypatch.setattr(module, "COMMANDS", commands)
    entries = list(module.figures(1))
    assert [entry for entry in entries if isinstance(entry, Problem)] == [
        Problem(case="import peer", system="peer", message="ImportError: no peer")
    ]
    assert len(entries) == 1 + 2 * 3 + 2


def test_a_peer_review_is_measured_without_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("bench_peer_review", monkeypatch)

    def fail_for_the_peer(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        fails = command[-1].startswith("evalica")
        return subprocess.CompletedProcess(command, int(fails), "2 1 100 200", "ImportError: no evalica\n")

    monkeypatch.setattr(subprocess, "run", fail_for_the_peer)
    entries = list(module.figures(argparse.Namespace(judges=1, lengths=False, rounds=1)))
    problems = [entry for entry in entries if isinstance(entry, Problem)]
    assert {(problem.system, problem.message) for problem in problems} == {
        ("evalica", "ImportError: no evalica")
    }
    assert (len(problems), len(entries)) == (2, 2 + 3 * 4)


@pytest.mark.slow
def test_two_processes_are_not_measured_if_the_first_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("bench_two_processes", monkeypatch)
    plan = tmp_path / "plan.yaml"
    with module.run(plan, f"{tmp_path}/x.db") as first:
        first.wait()
        with pytest.raises(module.UnmeasuredError, match="the first process ended too early, with code 2"):
            module.wait_for_replies(f"sqlite:///{tmp_path}/y.db", 1, first)


@pytest.mark.parametrize(
    ("calls", "codes", "message"),
    [(4, [0, 0], "4 calls are not enough for 5 judgments"), (5, [0, 1], r"codes \[0, 1\], expected")],
)
def test_runs_with_missing_judgments_or_a_failure_are_no_figures(
    calls: int, codes: list[int], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("bench_two_processes", monkeypatch)
    with pytest.raises(module.UnmeasuredError, match=message):
        module.check(calls, 5, codes, [0, 0])
    module.check(5, 5, [0, 0], [0, 0])


def test_what_a_script_prints_is_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    entries = [figure(0.5, high=0.8), Problem(case="a judgment", system="peer", message="no module")]
    print_entries(entries, as_json=True)
    assert parse_lines(capsys.readouterr().out) == entries


def test_a_script_alone_prints_figures_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_entries([figure(0.5, high=0.8), Problem(case="x", message="no module")], as_json=False)
    first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["a", "judgment", "hengwen", "0.500", "ms", "of", "CPU", "≤", "0.8"]
    assert second.split() == ["x", "hengwen", "not", "measured:", "no", "module"]


@each_row("value", [float("nan"), float("inf")])
def test_a_figure_is_a_finite_number(value: float) -> None:
    with pytest.raises(ValueError, match=f"a judgment, hengwen: {value} is no figure"):
        figure(value)


@each_row(
    "line",
    [
        "Traceback",
        "[1]",
        '{"value": 1}',
        '{"message": "m", "colour": 1}',
        '{"case": "c", "value": NaN, "unit": "s"}',
        '{"case": "c", "value": null, "unit": "s"}',
    ],
)
def test_a_line_that_is_no_figure_is_a_problem(line: str) -> None:
    assert parse_lines(line) == [Problem(case="output of the script", message=line)]


def test_rounds_of_pytest_become_times_of_one_text() -> None:
    facts = {"case": "a lyric", "system": "peer", "count": 100, "unit": "µs", "targets": {"ratio_high": 0.5}}
    report = {"benchmarks": [{"extra_info": facts, "stats": {"data": [0.5, 0.25]}}]}
    assert figures_of_pytest(report) == [
        figure(value, "peer", "a lyric", "µs of CPU", ratio_high=0.5) for value in (5000, 2500)
    ]


def test_a_round_with_more_input_is_compared_with_the_earlier_one() -> None:
    facts = {"system": "hengwen", "count": 1, "unit": "s", "targets": {}}
    report = {
        "benchmarks": [
            {"extra_info": {**facts, "case": case, "growth": growth}, "stats": {"data": [seconds]}}
            for case, growth, seconds in (
                ("few", None, 2.0),
                ("many", ["few", 1.5], 5.0),
                ("x", ["y", 2], 1.0),
            )
        ]
    }
    assert figures_of_pytest(report) == [
        figure(2.0, case="few", unit="s of CPU"),
        figure(5.0, case="many", unit="s of CPU"),
        figure(2.5, case="many / few", unit="x", high=1.5),
        figure(1.0, case="x", unit="s of CPU"),
    ]


def test_failed_and_skipped_tests_are_problems() -> None:
    xml = (
        '<testsuites><testsuite><testcase name="test_a"/>'
        '<testcase name="test_b"><failure message="no">text\nE   assert 1 == 2\nb.py:3</failure></testcase>'
        '<testcase name="test_c"><skipped message="ordpy is not installed"/></testcase>'
        '<testcase name="" classname="bench_x"><error message="collection failure">E   ImportError: y</error>'
        "</testcase></testsuite></testsuites>"
    )
    assert problems_of_pytest(xml) == [
        Problem(case="test_b", message="assert 1 == 2"),
        Problem(case="test_c", message="ordpy is not installed"),
        Problem(case="bench_x", message="ImportError: y"),
    ]


def run(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, seconds: int = 600):
    (folder / "script.py").write_text(text, "utf-8")
    monkeypatch.setattr("harness.collect.BENCHMARKS", folder)
    script = Script(name="script.py", rounds=None, seconds=seconds)
    return run_script(script, Path(sys.executable), rounds=None, is_quick=False)


def test_a_script_that_fails_keeps_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"print({to_json(figure(1))!r}, flush=True)\nraise ValueError('no port')"
    assert run(text, tmp_path, monkeypatch) == [
        figure(1),
        Problem(case="script.py", message="ValueError: no port"),
    ]


def test_a_script_without_figures_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("", tmp_path, monkeypatch) == [Problem(case="script.py", message="printed no figures")]


def test_a_script_beyond_its_time_limit_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = run("import time\ntime.sleep(600)", tmp_path, monkeypatch, seconds=0)
    assert entries == [Problem(case="script.py", message="stopped after 0 s")]


def test_ctrl_c_interrupts_the_script_so_that_it_stops_its_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, stopped = tmp_path / "started", tmp_path / "stopped"
    script = (
        "import pathlib, time\n"
        f"try:\n    pathlib.Path({str(started)!r}).touch()\n    while True: time.sleep(0.01)\n"
        f"finally:\n    pathlib.Path({str(stopped)!r}).touch()\n"
    )
    wait = subprocess.Popen.wait

    def interrupted_wait(self: subprocess.Popen, timeout: float | None = None) -> int:
        if timeout != 600:
            return wait(self, timeout)
        while not started.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted_wait)
    with pytest.raises(KeyboardInterrupt):
        run(script, tmp_path, monkeypatch)
    assert stopped.exists()


@pytest.mark.slow
def test_a_process_of_a_script_that_outlives_it_delays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.collect.STOP_SECONDS", 0)
    script = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    assert run(script, tmp_path, monkeypatch, seconds=1) == [
        Problem(case="script.py", message="stopped after 1 s")
    ]


def test_rounds_give_a_median_and_peers_a_ratio() -> None:
    entries = [figure(3), figure(8, "peer"), figure(1), figure(2), figure(4, "peer"), figure(7, unit="s")]
    rows = rows_of(entries)
    assert [(row.figure.system, row.figure.unit, row.values, row.ratio) for row in rows] == [
        ("hengwen", "ms of CPU", (3, 1, 2), None),
        ("peer", "ms of CPU", (8, 4), pytest.approx(2 / 6)),
        ("hengwen", "s", (7,), None),
    ]


@each_row(
    ("value", "targets", "text", "is_met"),
    [
        (0.8, {"high": 0.8}, "≤ 0.8", True),
        (0.81, {"high": 0.8}, "≤ 0.8", False),
        (85, {"low": 85}, "≥ 85", True),
        (84, {"low": 85}, "≥ 85", False),
        (0.9, {"low": 0.75, "high": 0.85}, "0.75 to 0.85", False),
        (0.8, {}, "", None),
    ],
)
def test_a_target_is_compared_with_the_median(value, targets, text, is_met) -> None:
    (row,) = rows_of([figure(value, **targets)])
    assert (row.figure.target, row.is_met) == (text, is_met)


@each_row(("peer", "is_met"), [(2.0, True), (1.9, False)])
def test_a_target_of_a_ratio_is_met_by_hengwen(peer: float, is_met: bool) -> None:
    row = rows_of([figure(1), figure(peer, "peer", ratio_high=0.5)])[1]
    assert (row.figure.target, row.is_met) == ("ratio ≤ 0.5", is_met)


def test_a_target_of_a_ratio_is_missed_without_a_figure_of_hengwen() -> None:
    (row,) = rows_of([figure(2, "peer", ratio_high=0.5)])
    assert row.is_met is False


@each_row(
    ("value", "text"),
    [(0, "0"), (5.0, "5"), (0.01234, "0.0123"), (-0.5, "-0.500"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_the_page_has_a_row_for_each_figure_and_a_line_for_each_problem() -> None:
    page = results_page(
        [
            result(
                figure(0.5, high=0.8),
                figure(0.7, high=0.8),
                figure(2, "openai", ratio_high=0.55),
                Problem(case="a judgment", system="deepeval", message="no <module> | name"),
                missing={"ordpy": "no wheel"},
            )
        ]
    )
    assert "| a judgment | hengwen | 0.600 | 0.500 to 0.700 | ms of CPU | 2 |  | ≤ 0.8 | yes |" in page
    assert "| a judgment | openai | 2 |  | ms of CPU | 1 | 0.300 | ratio ≤ 0.55 | yes |" in page
    assert "- deepeval, a judgment: no &lt;module> \\| name" in page
    assert "- ordpy: no wheel" in page
    assert "| Judges | 2 | 0 | 1 |" in page
    assert "Measured 2026-01-02 03:04 UTC at commit abc in 61 s." in page


def test_a_result_is_read_as_it_was_kept() -> None:
    kept = result(figure(0.5, high=0.8), Problem(case="x", message="m"))
    assert TopicResult.from_json(json.loads(json.dumps(kept.to_json()))) == kept


def test_a_busy_machine_is_named() -> None:
    assert "busy:" not in LOAD.note
    assert LOAD.note == (
        "Load average 0.5 to 1.2; programs outside the benchmark's processes, its PostgreSQL and Ray"
        " included, kept 0.1 of 2 cores busy."
    )
    assert "the machine was busy" in replace(LOAD, others=0.4).note
    stolen = replace(LOAD, stolen=0.25).note
    assert "busy; the host took 0.2 cores. **Unless" in stolen
    assert replace(LOAD, others=None).note == "Load average 0.5 to 1.2."


def test_the_load_is_sampled_at_least_once() -> None:
    with LoadSampler() as sampler:
        pass
    assert 0 <= sampler.load.low <= sampler.load.high


def test_an_error_line_names_no_folder_of_the_machine() -> None:
    text = "Traceback\n  ImportError: no name (/home/user/lib/peer/module.py)\n\n"
    assert error_line(text) == "ImportError: no name (…/module.py)"
    assert error_line("") == "no message"


def test_requirements_keep_extras_and_versions_under_the_bare_name() -> None:
    lines = "# peers\nray>=2  # engine\n\nrouge-score==1\npsycopg[binary]\n"
    assert requirements(lines) == {
        "ray": "ray>=2",
        "rouge-score": "rouge-score==1",
        "psycopg": "psycopg[binary]",
    }


def test_peers_are_installed_with_their_extras_and_without_uv_by_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bin/python", "uv"):  # make leaves an empty uv where it is not available
        (tmp_path / name).touch()
    (tmp_path / "peers.in").write_text("psycopg[binary]\nray>=2\n", "utf-8")
    commands = []

    def fail_for_ray(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, int("ray>=2" in command), "{}", "no wheel")

    monkeypatch.setattr(environment, "UV", tmp_path / "uv")
    monkeypatch.setattr(environment, "PEERS", tmp_path / "peers.in")
    monkeypatch.setattr(subprocess, "run", fail_for_ray)
    assert environment.prepare(tmp_path).missing == {"ray": "no wheel"}
    assert [command[-1] for command in commands[1:3]] == ["psycopg[binary]", "ray>=2"]
    assert {command[1] for command in commands[:3]} == {"-m"}
