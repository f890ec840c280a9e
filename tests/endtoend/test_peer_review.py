"""``hengwen peer-review-plan``: models judge one another's stored answers; no reply is paid for twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import pytest

from hengwen import open_store
from hengwen.cli import main
from hengwen.judges import RubricJudge
from hengwen.judges.trust.admission_report import AdmissionRecord, judge_key
from hengwen.plans.overrides import judge_spec
from hengwen.plans.suite import build_backend
from hengwen.prompts import load_rubric
from hengwen.runs.plan_lock import lock_of

pytestmark = pytest.mark.slow

KEY = "sk-planted-4f1c9e"
MODELS = ("m0", "m1", "m2", "m3")
QUESTIONS = 12
MATCHES = QUESTIONS * len(list(combinations(MODELS, 2)))


def by_model(model: str, first: str, second: str) -> str:
    """Prefer the answer of the model with the lower number; answers end with the name of their model."""
    return "first" if first[-1] < second[-1] else "second"


@pytest.fixture
def plan(tmp_path: Path, judge_server) -> Path:
    """Write a plan whose four models have stored answers, and whose first three models judge."""
    prompts = [{"id": f"q{i}", "input": f"第{i}个问题"} for i in range(QUESTIONS)]
    files = {"prompts": prompts}
    for name in MODELS:
        files[name] = [{"id": f"q{i}", "output": f"第{i}个回答 {name}"} for i in range(QUESTIONS)]
    for name, rows in files.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
    backend = {"provider": "openai", "base_url": judge_server.url, "price": {"input": 1.0, "output": 1.0}}
    document = {
        "name": "p",
        "tasks": [
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "judges": [{"rubric": "persona_generic", "panel": ["m0", "m1", "m2"]}],
            }
        ],
        "backends": {name: {**backend, "model": name} for name in MODELS[:3]},
        "checkpoints": [{"name": name, "responses": f"{name}.jsonl"} for name in MODELS],
    }
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    judge_server.prefer = by_model
    judge_server.delay = 0.0
    return path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Return a function that runs a command in the folder of the test; exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("HENGWEN_LANG", "en")

    def call(*words: object) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["hengwen", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return call


@pytest.fixture
def stored(plan: Path, command, judge_server) -> Path:
    """Store the answers of the plan; the rules judge costs nothing."""
    assert command("run", plan, "--judge", "rules", "-q")[0] == 0
    assert judge_server.prompts == []
    return plan


def test_the_models_rank_one_another_and_do_not_judge_themselves(
    command, stored, judge_server, tmp_path: Path
) -> None:
    code, out, err = command("peer-review-plan", stored, "--json", "--battles", "battles.jsonl")
    assert (code, "Traceback" in err) == (0, False)
    result = json.loads(out)
    assert [model["name"] for model in result["models"]] == list(MODELS)
    # every judge sees the pairs of the three other models, in both orders
    pairs = len(list(combinations(MODELS[:3], 2)))
    assert result["battles"] == len(judge_server.prompts) == 2 * 3 * pairs * QUESTIONS
    assert {judge["name"]: judge["own_share"] for judge in result["judges"]} == dict.fromkeys(MODELS[:3])
    assert all(judge["consistent"] == 1 for judge in result["judges"])
    assert (result["questions"], result["failures"]) == (QUESTIONS, 0)
    rows = [json.loads(line) for line in (tmp_path / "battles.jsonl").read_text("utf-8").splitlines()]
    assert {row["question"] for row in rows} == {f"t/q{i}" for i in range(QUESTIONS)}
    assert all(row["judge"] not in (row["model_a"], row["model_b"]) for row in rows)
    assert all(row["prompt"].startswith("第") for row in rows)
    assert judge_server.keys == {KEY}
    assert KEY not in out + err + (tmp_path / "hengwen.db").read_bytes().decode("latin-1")
    assert [(known["task"], known["judge"], known["models"]) for known in result["judge_trust"]] == [
        ("t", name, ["tiny-judge-1"]) for name in MODELS[:3]
    ]
    assert {(known["kind"], known["admission"]) for known in result["judge_trust"]} == {("pairs", None)}
    assert {known["rubric_source"] for known in result["judge_trust"]} == {"persona_generic"}
    from_file = json.loads(command("peer-review", "battles.jsonl", "--json")[1])
    assert from_file["models"] == result["models"]


def test_the_same_command_pays_for_nothing_twice_and_fresh_judges_again(
    command, stored, judge_server
) -> None:
    first = command("peer-review-plan", stored, "--json")
    calls = len(judge_server.prompts)
    assert command("peer-review-plan", stored, "--json")[1] == first[1]
    assert len(judge_server.prompts) == calls
    with open_store("hengwen.db") as store:
        assert len(store.runs()) == len(MODELS)  # no report lists the review
        (review,) = store.rejudgings(store.latest()[0])
        assert (review.checkpoint, review.status) == ("peer-review", "finished")
        assert len(list(store.attempts(review))) == calls
    assert command("peer-review-plan", stored, "-q", "--fresh")[0] == 0
    assert len(judge_server.prompts) == 2 * calls


def test_an_admission_test_of_the_same_model_and_rubric_is_named(command, stored, judge_server) -> None:
    document = json.loads(stored.read_text("utf-8"))
    document["backends"]["m1"]["params"] = {"temperature": 0}  # as doctor asks it
    stored.write_text(json.dumps(document), "utf-8")
    backend = build_backend(judge_spec("openai/m1", judge_server.url))
    tested = RubricJudge(rubric=load_rubric("persona_generic"), backend=backend)
    record = AdmissionRecord(
        verdict="not admitted", tested="2026-11-20T08:00:00Z", models=("m1",), checks={"repeats": (2, 11)}
    )
    with open_store("hengwen.db") as store:
        store.save_admission(judge_key(tested.signature), record.tested, asdict(record))
    result = json.loads(command("peer-review-plan", stored, "--json")[1])
    verdicts = {known["judge"]: known["admission"] for known in result["judge_trust"]}
    assert verdicts["m1"]["verdict"] == "not admitted"
    assert (verdicts["m0"], verdicts["m2"]) == (None, None)


def test_a_dry_run_counts_the_calls_and_sends_none(command, stored, judge_server) -> None:
    code, out, _ = command("peer-review-plan", stored, "--dry-run", "--json")
    assert (code, judge_server.prompts) == (0, [])
    expected = {row["backend"]: row["usage"]["calls"] for row in json.loads(out)["expected"]}
    assert expected == dict.fromkeys(MODELS[:3], 2 * 3 * QUESTIONS)
    assert all(row["cost"] > 0 for row in json.loads(out)["expected"])
    assert command("peer-review-plan", stored, "-q")[0] == 0
    assert len(judge_server.prompts) == sum(expected.values())
    assert command("peer-review-plan", stored, "--dry-run")[1].startswith("no calls needed")


def test_own_answers_are_judged_if_asked_for(command, stored, judge_server) -> None:
    judge_server.prefer = lambda model, first, second: (
        "first"
        if first.endswith(model)
        else "second"
        if second.endswith(model)
        else by_model("", first, second)
    )
    result = json.loads(command("peer-review-plan", stored, "--json", "--own")[1])
    assert len(judge_server.prompts) == 2 * 3 * MATCHES
    own = {judge["name"]: (judge["own_share"], judge["own_others"]) for judge in result["judges"]}
    assert own["m2"][0] == 1.0
    assert own["m2"][1] < 1.0


def test_a_judge_that_prefers_the_first_answer_gives_ties_or_abstains(command, stored, judge_server) -> None:
    judge_server.prefer = lambda model, first, second: "first"
    result = json.loads(command("peer-review-plan", stored, "--json", "--method", "uniform")[1])
    assert {(judge["consistent"], judge["first_share"]) for judge in result["judges"]} == {(0.0, 1.0)}
    assert {model["rank"] for model in result["models"]} == {1}
    assert "all ties" in {note["code"] for note in result["notes"]}
    assert command("peer-review-plan", stored, "-q", "--battles", "battles.jsonl")[0] == 0
    code, _, err = command("peer-review", "battles.jsonl", "--conflict", "abstain")
    assert (code, "the verdicts of every pair of answers are in conflict" in err) == (2, True)


def test_failures_are_counted_named_and_judged_again_next_time(command, stored, judge_server) -> None:
    judge_server.misbehave = lambda number: (400, '{"error": "no"}') if number % 9 == 0 else None
    code, out, err = command("peer-review-plan", stored, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["failures"] == 216 // 9
    assert result["battles"] == 216 - 216 // 9
    assert "the first failure" in err
    judge_server.misbehave = lambda number: None
    judge_server.prompts.clear()
    again = json.loads(command("peer-review-plan", stored, "--json")[1])
    assert (again["failures"], again["battles"], len(judge_server.prompts)) == (0, 216, 216 // 9)


def test_some_opponents_cost_less_than_all(command, stored, judge_server) -> None:
    assert command("peer-review-plan", stored, "-q", "--opponents", 2, "--own")[0] == 0
    assert len(judge_server.prompts) == 2 * 3 * QUESTIONS * len(MODELS)  # each model has two opponents
    result = json.loads(command("peer-review-plan", stored, "--json", "--opponents", 2, "--own")[1])
    assert [model["name"] for model in result["models"]] == list(MODELS)


def test_an_adaptive_review_stops_when_the_ranking_is_sure(command, stored, judge_server) -> None:
    options = ("--opponents", "adaptive", "--matches", MATCHES, "--own")
    code, out, err = command("peer-review-plan", stored, "--json", *options)
    assert code == 0
    assert len(judge_server.prompts) == 2 * 3 * QUESTIONS * len(MODELS)  # the first round is enough
    assert "not sure yet" not in err
    judge_server.prompts.clear()
    assert command("peer-review-plan", stored, "--json", *options)[1] == out
    assert judge_server.prompts == []


def test_an_adaptive_review_judges_where_models_are_close(command, stored, judge_server) -> None:
    def close(model: str, first: str, second: str) -> str:
        names = {first[-1], second[-1]}
        if names == {"1", "2"}:  # equally good: better on every other question
            return "first" if (int(first[1]) + int(first[-1])) % 2 else "second"
        return by_model(model, first, second)

    judge_server.prefer = close
    rounds = MATCHES - 10
    command("peer-review-plan", stored, "-q", "--opponents", "adaptive", "--matches", rounds, "--own")
    names = [prompt.count(" m1") and prompt.count(" m2") for prompt in judge_server.prompts]
    assert sum(map(bool, names)) == 2 * 3 * QUESTIONS  # every match of the close pair
    assert len(judge_server.prompts) < 2 * 3 * MATCHES


def test_a_budget_that_is_spent_ends_with_code_five(command, stored, judge_server) -> None:
    code, out, err = command("peer-review-plan", stored, "--json", "--budget", 0.05)
    assert code == 5
    assert "the budget is spent" in err
    assert 0 < json.loads(out)["battles"] < 216


def test_verdicts_that_the_budget_leaves_out_are_no_failures(command, stored, judge_server) -> None:
    code, out, err = command("peer-review-plan", stored, "--json", "--budget", 0.05)
    result = json.loads(out)
    assert (code, result["failures"]) == (5, 0)
    assert f"the budget is spent; {216 - result['battles']} verdicts not asked for" in err
    assert "failed" not in err
    assert "first failure" not in err
    judge_server.prompts.clear()
    code, out, err = command("peer-review-plan", stored, "--fresh", "--budget", 0.000001)
    assert (code, out, judge_server.prompts) == (5, "", [])
    assert "no verdict: the budget covers no call; raise the budget" in err


def test_a_review_without_any_verdict_is_an_error(command, stored, judge_server) -> None:
    judge_server.misbehave = lambda number: (400, '{"error": "no"}')
    code, out, err = command("peer-review-plan", stored)
    assert (code, out) == (1, "")
    assert "no verdict: all 216 failed; the first: " in err
    assert "the same command asks them again" in err


def test_a_dry_run_needs_no_lock(command, stored) -> None:
    with open_store("hengwen.db") as store:
        lock = lock_of(store, "p")
        assert lock is not None
        assert lock.acquire()
        try:
            assert command("peer-review-plan", stored, "--dry-run")[0] == 0
            assert command("peer-review-plan", stored)[0] != 0
        finally:
            lock.release()


def changed(path: Path, panel: list[str], backends: dict[str, str]) -> Path:
    """Change a plan: its judges, and the backends that generate the answers of checkpoints."""
    document = json.loads(path.read_text("utf-8"))
    document["tasks"][0]["judges"][0]["panel"] = panel
    for name in {*panel, *backends.values()}:
        document["backends"].setdefault(name, {**document["backends"]["m0"], "model": name})
    for checkpoint in document["checkpoints"]:
        if checkpoint["name"] in backends:
            checkpoint["backend"] = backends[checkpoint["name"]]
            del checkpoint["responses"]
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    return path


def test_two_judges_that_are_one_model_are_an_error(command, stored, judge_server) -> None:
    code, _, err = command("peer-review-plan", changed(stored, ["m0", "m0-gen"], {"m0": "m0-gen"}))
    assert (code, judge_server.prompts) == (2, [])
    assert "task 't': two judges are 'm0'" in err
    assert "keep one of these judges in the plan" in err


def test_a_judge_that_answers_for_two_models_judges_neither(command, stored, judge_server) -> None:
    plan = changed(stored, ["both", "m2"], {"m0": "both", "m1": "both"})
    judges = {
        judge["name"]: judge for judge in json.loads(command("peer-review-plan", plan, "--json")[1])["judges"]
    }
    assert judges["both"]["verdicts"] == 2 * QUESTIONS  # m2 against m3
    assert judges["m2"]["verdicts"] == 2 * QUESTIONS * len(list(combinations(("m0", "m1", "m3"), 2)))


@pytest.mark.parametrize("prefer", ["tie", None], ids=["only ties", "one question"])
def test_an_adaptive_review_is_not_sure_of_what_it_does_not_know(
    command, stored, judge_server, prefer: str | None
) -> None:
    if prefer is not None:
        judge_server.prefer = lambda model, first, second: prefer
    questions = QUESTIONS if prefer else 1
    options = ("--opponents", "adaptive", "--matches", MATCHES, "--own", "--limit", questions)
    _, _, err = command("peer-review-plan", stored, *options)
    assert len(judge_server.prompts) == 2 * 3 * questions * len(list(combinations(MODELS, 2)))
    assert "some orders are not sure yet" in err


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
def test_a_killed_review_resumes_and_pays_for_little_twice(
    command, stored, judge_server, answered, tmp_path: Path, sent: signal.Signals
) -> None:
    judge_server.delay = 0.02
    words = [sys.executable, "-m", "hengwen", "peer-review-plan", str(stored), "-q", "-j", "2"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        answered(100, process)
        process.send_signal(sent)
        _, err = process.communicate(timeout=900)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == (-9 if sent == signal.SIGKILL else 130), err
    assert "Traceback" not in err
    code, out, _ = command("peer-review-plan", stored, "--json")
    assert (code, json.loads(out)["battles"]) == (0, 216)
    # two matches in both orders were in flight
    assert judge_server.answered <= 216 + (8 if sent == signal.SIGKILL else 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--opponents", "some"), "--opponents is all, adaptive or a number from 1, got 'some'"),
        (("--opponents", "0"), "--opponents is all, adaptive or a number from 1, got '0'"),
        (("--opponents", "adaptive"), "--opponents adaptive needs --matches"),
        (("--matches", "5"), "--matches limits --opponents adaptive only"),
        (("--judge", "rules"), "task 't' has no judge with a model"),
    ],
)
def test_wrong_options_are_named(command, stored, judge_server, arguments, message: str) -> None:
    code, _, err = command("peer-review-plan", stored, *arguments)
    assert (code, judge_server.prompts) == (2, [])
    assert message in err


def test_a_plan_without_stored_answers_names_the_next_step(command, plan, judge_server) -> None:
    assert "no such store" in command("peer-review-plan", plan)[2]
    with open_store("hengwen.db"):
        pass
    code, _, err = command("peer-review-plan", plan)
    assert code == 2
    assert (
        "needs stored answers of at least 2 checkpoints of plan 'p', hengwen.db has 0; first: hengwen run"
        in err
    )
    assert f"is now: hengwen peer-review-plan {plan}" in command("peer-review", plan)[2]


def test_prompts_that_changed_are_not_judged(command, stored, tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text(path.read_text("utf-8").replace("第1个问题", "另一个问题"), "utf-8")
    result = json.loads(command("peer-review-plan", stored, "--json")[1])
    assert result["questions"] == QUESTIONS - 1
