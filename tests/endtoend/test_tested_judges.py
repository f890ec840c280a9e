"""The command that a result names for a judge that nobody tested: once it has run, the result says so."""

from __future__ import annotations

import re
import shlex

import pytest

pytestmark = pytest.mark.slow


def command_of(report) -> str:
    """Return the options of the command that the report names for its judge."""
    (judge,) = report["judges"]
    assert judge["admission"] is None
    return judge["doctor_options"]


def verdict_in(report) -> str:
    (judge,) = report["judges"]
    return judge["admission"]["verdict"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_judge_that_an_option_names_is_tested_by_its_name(
    run, program, judge_server, suite, language: str
) -> None:
    judge_server.delay = 0
    plan = suite(2)
    plan.write_text(
        plan.read_text("utf-8").replace("_generic", f'_generic", "language": "{language}'), "utf-8"
    )
    by_name = ("--judge", "openai/tiny", "--base-url", judge_server.url)
    code, report, err = run(plan, *by_name)
    assert code == 0, err
    words = shlex.split(command_of(report))
    prompts = ["--prompt-lang", "en"] if language == "en" else []
    assert words == ["--judge", "openai/tiny", "--rubric", "persona_generic", *prompts, *by_name[2:]]
    assert program("doctor", *words)[0] == 3
    assert verdict_in(run(plan, *by_name)[1]) == "not admitted"


def test_a_judge_with_settings_of_its_own_is_tested_with_its_plan(run, program, judge_server, suite) -> None:
    judge_server.delay = 0
    backend = {"provider": "openai", "model": "tiny", "base_url": judge_server.url}
    plan = suite(2, backends={"warm": {**backend, "params": {"temperature": 0.5}}, "other": backend})
    text = plan.read_text("utf-8")
    judges = '"judges": [{"rubric": "persona_generic", "backend": "warm"}]'
    plan.write_text(re.sub(r'"judges": \[.*?\]', judges, text), "utf-8")
    code, report, err = run(plan)
    assert code == 0, err
    assert command_of(report) == "PLAN"
    code, out, err = program("doctor", plan, "--dry-run")
    assert (code, out) == (0, "")
    assert err.startswith("openai/tiny on persona_generic: 173 verdicts, ")
    code, out, err = program("doctor", plan)
    assert code == 3, err
    assert f"hengwendoctor{plan}" in "".join(out.split())
    assert verdict_in(run(plan)[1]) == "not admitted"
    panel = '"judges": [{"rubric": "persona_generic", "panel": ["warm", "other"]}]'
    plan.write_text(re.sub(r'"judges": \[.*?\]', panel, text), "utf-8")
    code, _, err = program("doctor", plan, "--json")
    assert (code, "2 judges (openai/tiny, openai/tiny)" in err) == (2, True)
    _, report, _ = run(plan)
    assert command_of(report) == "PLAN"
    assert [member["verdict"] for member in report["judges"][0]["members"]] == ["not admitted", None]
