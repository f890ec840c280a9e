"""Runs whose judge is a model behind an endpoint: what it says, what it costs, how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen import open_store

KEY = "sk-planted-4f1c9e"


def judged_by(server) -> tuple[str, ...]:
    return ("--judge", "openai/tiny", "--base-url", server.url)


def judged(plan: Path, backend: str = "j") -> Path:
    """Let a backend of the plan read its rubric."""
    plain = '"rubric": "persona_generic"'
    plan.write_text(plan.read_text("utf-8").replace(plain, f'{plain}, "backend": "{backend}"'), "utf-8")
    return plan


@pytest.mark.slow
def test_a_verdict_becomes_a_level_and_its_criteria(run, judge_server, suite) -> None:
    code, report, _ = run(suite(5), *judged_by(judge_server))
    assert code == 0
    scores = report["runs"][0]["scores"]
    assert len(scores) == 6
    level = scores["t/persona_generic.level"]
    assert (level["mean"], level["n"], level["coverage"], level["kind"]) == (0.75, 5, 1.0, "judge")
    assert "openai/tiny" in level["signature"]
    assert "rules" not in level["signature"]
    assert report["usage"]["judge"] == {"calls": 5, "input_tokens": 500, "output_tokens": 100}
    assert judge_server.keys == {KEY}


@pytest.mark.slow
def test_a_model_is_not_called_a_rules_judge_beside_a_scorer_with_rules(
    run, judge_server, suite, tmp_path: Path
) -> None:
    plan = suite(2)
    scorer = '"scorers": [{"lyric": {"rules": "document"}}], "judges"'
    plan.write_text(plan.read_text("utf-8").replace('"judges"', scorer), "utf-8")
    prompts = tmp_path / "prompts.jsonl"
    template = r'"metadata": {"template": "(verse)\ncccR"}, "input"'
    prompts.write_text(prompts.read_text("utf-8").replace('"input"', template), "utf-8")
    page, text = tmp_path / "r.html", tmp_path / "r.md"
    code, _, err = run(plan, *judged_by(judge_server), "-o", page, "-o", text)
    assert code == 0, err
    assert "lyric|rules:document" in page.read_text("utf-8")
    for report in (page, text):
        assert "规则评审" not in report.read_text("utf-8")
        assert "judged by rules" not in report.read_text("utf-8")


@pytest.mark.slow
def test_nothing_is_asked_again_by_the_same_command(run, judge_server, suite) -> None:
    plan = suite(5)
    first = run(plan, *judged_by(judge_server))[1]
    second = run(plan, *judged_by(judge_server))[1]
    assert second["runs"] == first["runs"]
    assert len(judge_server.prompts) == 5
    run(plan, *judged_by(judge_server), "--fresh")
    assert len(judge_server.prompts) == 10


@pytest.mark.slow
def test_a_new_answer_needs_one_verdict(run, judge_server, suite) -> None:
    run(suite(5), *judged_by(judge_server))
    code, report, _ = run(suite(6), *judged_by(judge_server))
    assert (code, report["runs"][0]["scores"]["t/persona_generic.level"]["n"]) == (0, 6)
    assert len(judge_server.prompts) == 6


def test_the_endpoint_in_the_plan_is_used_as_the_plan_says(run, judge_server, suite) -> None:
    backends = {
        "j": {
            "provider": "openai",
            "model": "m",
            "base_url": judge_server.url,
            "params": {"temperature": 0.3},
        }
    }
    plan = judged(suite(2, backends=backends))
    code, report, _ = run(plan)
    assert code == 0
    assert "openai/m|temp:0.3" in report["runs"][0]["scores"]["t/persona_generic.level"]["signature"]


@pytest.mark.slow
def test_a_judge_that_fails_sometimes_is_asked_again(run, judge_server, suite) -> None:
    judge_server.misbehave = lambda number: (500, "oops") if number % 3 == 0 else None
    code, report, _ = run(suite(6), *judged_by(judge_server))
    assert code == 0
    assert report["runs"][0]["scores"]["t/persona_generic.level"]["coverage"] == 1.0


@pytest.mark.slow
def test_words_that_are_no_verdict_are_failures_and_no_zeros(run, judge_server, suite) -> None:
    words = json.dumps(
        {"choices": [{"message": {"content": "五星好评"}, "finish_reason": "stop"}], "model": "m"}
    )
    judge_server.misbehave = lambda number: (200, words) if number <= 6 else None  # a repair and a fresh call
    code, report, err = run(suite(6), *judged_by(judge_server), "-j", "1")
    level = report["runs"][0]["scores"]["t/persona_generic.level"]
    assert (code, level["n"], level["mean"], level["failures"]) == (0, 4, 0.75, {"parse_error": 2})
    assert "2 failures: 2 parse_error (first: " in err
    assert "; means do not include them" in err
    code, report, _ = run(suite(6), *judged_by(judge_server))
    assert report["runs"][0]["scores"]["t/persona_generic.level"]["n"] == 6
    assert len(judge_server.prompts) == 6 + 4 + 2


def test_an_unreachable_judge_is_exit_1_and_what_was_scored_is_kept(run, suite, tmp_path: Path) -> None:
    plan = suite(
        4,
        backends={
            "j": {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0}
        },
    )
    text = plan.read_text("utf-8").replace(
        '"rubric": "persona_generic"', '"rubric": "persona_generic", "backend": "j"'
    )
    plan.write_text(text.replace('"judges"', '"scorers": ["distinct_n"], "judges"'), "utf-8")
    code, report, err = run(plan)
    assert code == 1
    assert "hengwen: no scores for t/persona_generic.level" in err
    assert "all other scores are in hengwen.db" in err
    assert "4 failures: 4 transport_error (first: no answer from http://127.0.0.1:9/v1: " in err
    scores = report["runs"][0]["scores"]
    assert scores["t/distinct_2.checkpoint"]["n"] == 1
    assert (scores["t/persona_generic.level"]["n"], scores["t/persona_generic.level"]["mean"]) == (0, None)
    assert scores["t/persona_generic.level"]["failures"] == {"transport_error": 4}
    reason = scores["t/persona_generic.level"]["first_messages"]["transport_error"]
    assert reason.startswith("no answer from http://127.0.0.1:9/v1: ")
    with open_store(tmp_path / "hengwen.db") as store:
        assert store.runs()[0].status == "finished"


def test_a_subject_is_asked_and_its_answers_are_weighed(run, judge_server, suite) -> None:
    plan = suite(3)
    spec = json.loads(plan.read_text("utf-8"))
    spec["backends"] = {"s": {"provider": "openai", "model": "m", "base_url": judge_server.url}}
    spec["checkpoints"] = [{"name": "live", "backend": "s"}]
    spec["tasks"][0] |= {"repeats": 2, "prompt": {"system": "你是墨团", "user": "问：{{ input }}"}}
    plan.write_text(json.dumps(spec, ensure_ascii=False), "utf-8")
    text = json.dumps(
        {"choices": [{"message": {"content": "船友，我在呐。"}, "finish_reason": "stop"}], "model": "m"}
    )
    judge_server.misbehave = lambda number: (200, text)
    code, report, _ = run(plan)
    assert code == 0
    assert report["runs"][0]["scores"]["t/persona_generic.level"]["n"] == 6
    assert report["usage"]["subject"]["calls"] == 6
    assert all("你是墨团" in prompt and "问：第" in prompt for prompt in judge_server.prompts)


def answered_by(plan: Path, backend: dict[str, object], **task: object) -> Path:
    """Let a backend answer the prompts, and count the letters of its answers."""
    spec = json.loads(plan.read_text("utf-8"))
    spec["backends"] = {"s": backend}
    spec["checkpoints"] = [{"name": "live", "backend": "s"}]
    spec["tasks"][0] |= {"scorers": ["length"], "judges": [], **task}
    plan.write_text(json.dumps(spec, ensure_ascii=False), "utf-8")
    return plan


@pytest.mark.slow
def test_a_backend_may_be_asked_for_more_answers_and_the_plan_says_what_they_become(
    run, judge_server, suite
) -> None:
    backend = {"provider": "openai", "model": "m", "base_url": judge_server.url}
    plan = answered_by(suite(2), backend, reduce="worst", repeats=3)

    def say(number: int) -> tuple[int, str]:
        text = "字" * number
        return 200, json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})

    judge_server.misbehave = say
    code, report, _ = run(plan, "-j", "1")
    shortest = report["runs"][0]["scores"]["t/length.characters"]
    assert (code, shortest["n"], len(judge_server.prompts)) == (0, 6, 6)
    assert shortest["signature"].endswith("|repeats:worst")
    assert shortest["mean"] < 3.5  # of 1..6
    code, report, _ = run(answered_by(plan, backend, repeats=1))
    assert report["runs"][0]["scores"]["t/length.characters"]["n"] == 2


def test_recorded_replies_are_found_beside_the_plan(
    run, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = answered_by(suite(2), {"provider": "replay", "file": "said.jsonl"})
    lines = [{"messages": [["user", f"第{number}个问题"]], "text": "字" * number} for number in (0, 1)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "said.jsonl").write_text(text, "utf-8")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, report, _ = run(plan)
    assert code == 0
    assert report["runs"][0]["scores"]["t/length.characters"]["mean"] == 0.5


def test_a_chat_model_may_be_built_by_a_function_of_ones_own(
    run, suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_models.py").write_text(
        "from langchain_core.language_models import FakeListChatModel\n"
        "def build():\n    return FakeListChatModel(responses=['四个字啊'])\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    plan = answered_by(suite(2), {"provider": "langchain", "factory": "own_models:build"})
    code, report, _ = run(plan, "--trust")
    assert code == 0
    assert report["runs"][0]["scores"]["t/length.characters"]["mean"] == 4


def test_a_panel_asks_each_member_and_shares_no_signature_with_one_judge(run, judge_server, suite) -> None:
    backends = {
        name: {"provider": "openai", "model": name, "base_url": judge_server.url} for name in ("j1", "j2")
    }
    plan = suite(3, backends=backends)
    plain = '"rubric": "persona_generic"'
    plan.write_text(
        plan.read_text("utf-8").replace(plain, f'{plain}, "panel": ["j1", "j2"], "reduce": "mean"'), "utf-8"
    )
    code, report, _ = run(plan)
    level = report["runs"][0]["scores"]["t/persona_generic.level"]
    assert (code, level["n"], level["mean"], len(judge_server.prompts)) == (0, 3, 0.75, 6)
    assert "openai/j1" in level["signature"]
    assert "openai/j2" in level["signature"]
    assert "panel:mean" in level["signature"]


PRICED = {"provider": "openai", "model": "m", "price": {"input": 10.0, "output": 10.0}}


@pytest.mark.slow
def test_a_budget_is_not_passed_and_a_higher_one_goes_on(run, judge_server, suite) -> None:
    plan = judged(suite(8, backends={"j": {**PRICED, "base_url": judge_server.url}}))
    judge_server.tokens = (2000, 400)  # 0.024 a call
    code, report, err = run(plan, "--budget", "0.08", "-j", "1")
    paid_calls = len(judge_server.prompts)
    assert (code, 0 < paid_calls < 8) == (5, True)
    assert "budget reached" in err
    used = report["usage"]["judge"]
    assert (used["input_tokens"] + used["output_tokens"]) * 10 / 1_000_000 <= 0.08
    level = report["runs"][0]["scores"]["t/persona_generic.level"]
    assert (level["n"], level["failures"]) == (paid_calls, {"budget": 8 - paid_calls})
    code, report, _ = run(plan, "--budget", "5")
    assert (code, report["runs"][0]["scores"]["t/persona_generic.level"]["n"]) == (0, 8)
    assert len(judge_server.prompts) == 8


@pytest.mark.slow
def test_a_dry_run_asks_nobody_keeps_nothing_and_counts_what_is_missing(run, judge_server, suite) -> None:
    plan = judged(suite(4, backends={"j": {**PRICED, "base_url": judge_server.url}}))
    code, report, _ = run(plan, "--dry-run")
    (expected,) = report["expected"]
    assert (code, judge_server.prompts) == (0, [])
    assert (expected["backend"], expected["role"], expected["usage"]["calls"]) == ("j", "judge", 4)
    tokens = expected["usage"]["input_tokens"] + expected["usage"]["output_tokens"]
    assert expected["cost"] == pytest.approx(tokens * 10 / 1_000_000)
    run(plan, "-n", "3")
    assert run(plan, "--dry-run")[1]["expected"][0]["usage"]["calls"] == 1
    run(plan)
    assert run(plan, "--dry-run")[1]["expected"][0]["usage"]["calls"] == 0
    assert run(plan, "--dry-run", "--fresh")[1]["expected"][0]["usage"]["calls"] == 4
    assert len(judge_server.prompts) == 4


def test_a_dry_run_counts_subjects_with_their_judges_and_leaves_unknown_costs_unknown(
    run, judge_server, suite
) -> None:
    spec = {"provider": "openai", "model": "m", "base_url": judge_server.url}
    plan = judged(suite(3, backends={"j": spec, "s": spec}))
    text = plan.read_text("utf-8").replace('"responses": "a.jsonl"', '"backend": "s"')
    plan.write_text(text, "utf-8")
    by_role = {row["role"]: row for row in run(plan, "--dry-run")[1]["expected"]}
    assert {role: row["usage"]["calls"] for role, row in by_role.items()} == {"subject": 3, "judge": 3}
    assert by_role["judge"]["cost"] is None
    assert judge_server.prompts == []


def test_a_budget_without_prices_is_refused(run, judge_server, suite) -> None:
    code, _, err = run(suite(2), *judged_by(judge_server), "--budget", "1")
    assert (code, judge_server.prompts) == (2, [])
    assert "a budget needs prices: --judge has none; say --price IN,OUT" in err


@pytest.mark.slow
def test_an_endpoint_that_asks_to_slow_down_is_obeyed_and_loses_nothing(run, judge_server, suite) -> None:
    judge_server.misbehave = lambda number: (429, "slow down") if number % 4 == 0 else None
    code, report, _ = run(suite(20), *judged_by(judge_server), "-j", "8")
    assert (code, report["runs"][0]["scores"]["t/persona_generic.level"]["n"]) == (0, 20)


def test_a_prompt_template_that_fails_is_told_before_anything_is_paid(run, judge_server, suite) -> None:
    plan = suite(2)
    spec = json.loads(plan.read_text("utf-8"))
    spec["backends"] = {"s": {"provider": "openai", "model": "m", "base_url": judge_server.url}}
    spec["checkpoints"] = [{"name": "live", "backend": "s", "prompt": {"user": "{{ mood }}: {{ input }}"}}]
    plan.write_text(json.dumps(spec, ensure_ascii=False), "utf-8")
    code, _, err = run(plan)
    assert (code, judge_server.prompts) == (2, [])
    assert "sample 'q0': prompt template: 'mood' is undefined" in err


@pytest.mark.slow
def test_the_key_stands_in_no_store_no_report_and_no_message(
    run, judge_server, suite, tmp_path: Path
) -> None:
    judge_server.misbehave = lambda number: (401, f"bad key {KEY}") if number == 1 else None
    outputs = ("-o", "r.html", "-o", "r.md", "-o", "r.json")
    _, report, err = run(suite(3), *judged_by(judge_server), *outputs, "-j", "1")
    assert KEY not in err + json.dumps(report)
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path.name
