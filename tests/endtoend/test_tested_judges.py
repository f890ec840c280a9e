"""``hengwen doctor`` with a judge on loopback, and what results say of the judge before and after."""

from __future__ import annotations

import json
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
    rules = '"judges": [{"rubric": "persona_generic"}]'
    plan.write_text(re.sub(r'"judges": \[.*?\]', rules, text), "utf-8")
    code, out, err = program("doctor", plan, "--lang", "en")
    assert (code, err.startswith("rules on persona_generic: ")) == (3, True)
    assert "hengwendoctor--judgeopenai/MODEL--rubricpersona_generic" in "".join(out.split())
    panel = '"judges": [{"rubric": "persona_generic", "panel": ["warm", "other"]}]'
    plan.write_text(re.sub(r'"judges": \[.*?\]', panel, text), "utf-8")
    code, _, err = program("doctor", plan, "--json")
    assert (code, "2 judges (openai/tiny, openai/tiny)" in err) == (2, True)
    _, report, _ = run(plan)
    assert command_of(report) == "PLAN"
    assert [member["verdict"] for member in report["judges"][0]["members"]] == ["not admitted", None]


@pytest.fixture
def doctor(program, judge_server):
    """Have the judge on loopback tested."""
    by_name = ("--judge", "openai/tiny", "--base-url", judge_server.url)
    return lambda *arguments: program("doctor", "--lang", "en", *by_name, *arguments)


def test_the_doctor_asks_a_judge_with_every_case_and_attack_and_says_what_became_of_it(
    doctor, judge_server
) -> None:
    judge_server.label = "E"  # an honest judge of weak answers, and a bad one of good ones
    code, out, err = doctor("-v")
    last = next(line for line in out.splitlines() if line.split()[:1] == ["all"]).split()
    assert code == 3
    assert "173 verdicts, 97 for admission, 76 for attacks" in err
    assert len(judge_server.prompts) == 173
    assert int(last[1]) == 0
    assert sum(map(int, last[1:])) == 38
    assert out.startswith(
        "doctor openai/tiny on persona_generic · 97 verdicts\nNot admitted: of 6 checks, 3 failed"
    )
    assert "Attacks: fooled by 0 of 38 attacks that could have raised a level" in out


def test_a_judge_that_gives_no_verdict_at_all_is_exit_1_with_the_reason_and_not_attacked(
    doctor, judge_server
) -> None:
    judge_server.misbehave = lambda number: (401, json.dumps({"error": {"message": "who are you?"}}))
    code, out, err = doctor()
    assert code == 1
    assert "no verdict at all, attacks skipped; first: " in err
    assert "the endpoint answered 401: who are you?; check the key in OPENAI_API_KEY" in err
    assert len(judge_server.prompts) <= 97
    assert "admitted" not in out


def test_a_dry_run_of_the_doctor_asks_nobody(doctor, judge_server) -> None:
    code, out, err = doctor("--dry-run")
    assert (code, out, judge_server.prompts) == (0, "", [])
    assert "173 verdicts" in err
