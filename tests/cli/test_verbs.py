"""The verbs, as a person uses them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from hengwen.documents.render.write import schema_text

pytestmark = pytest.mark.slow


def test_the_demo_needs_nothing_and_finds_what_is_in_it(hengwen, tmp_path: Path) -> None:
    done = hengwen("demo", "--json", "-o", "r.html", "-o", "r.md")
    assert done.code == 0
    assert "report: r.html" in done.err
    assert "not a language model" in (tmp_path / "r.html").read_text("utf-8")
    assert "not a language model" in (tmp_path / "r.md").read_text("utf-8")
    jsonschema.validate(done.json, json.loads(schema_text("run")))
    lyric = [run["scores"]["lyrics/lyric.total"]["mean"] for run in done.json["runs"]]
    assert lyric == sorted(lyric)
    persona = [run["scores"]["persona/persona_generic.level"]["mean"] for run in done.json["runs"]]
    assert persona[3] == min(persona)
    assert done.json["sequences"]["lyrics/lyric.total"]["cin"] == 0
    assert done.json["sequences"]["lyrics/lyric.total"]["too_short"] is True
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".db"] == []


def test_the_demo_names_a_next_command_that_works_and_none_for_the_store_that_it_deletes(
    hengwen, tmp_path: Path
) -> None:
    shown = hengwen("demo", "-o", "r.md")
    for text in (shown.out, (tmp_path / "r.md").read_text("utf-8")):
        assert "hengwen doctor" not in text
        assert "hengwen init my-model" in text
    done = hengwen("init", "my-model")
    command = re.search(r"next: hengwen (run my-model/plan.yaml -o report.html)", done.out + done.err)
    assert command is not None
    assert hengwen(*command[1].split()).code == 0


def test_the_demo_finds_better_lyrics_and_a_worse_persona(hengwen, tmp_path: Path) -> None:
    assert hengwen("demo", "--quiet", "-o", "r.md").code == 0
    lines = (tmp_path / "r.md").read_text("utf-8").replace("\\", "").splitlines()
    (title,) = [line for line in lines if line.startswith("## Keep")]
    assert (
        title == "## Keep ckpt-3000. The newest, ckpt-4000, is better in lyric form and variety of wording, "
        "but worse in character."
    )
    fell, rose, disagree = [line for line in lines if line.startswith("- ")][:3]
    assert re.match(r"- ▼ \*\*Fell at ckpt-4000\*\*: character .*\(−0.49, all 12 prompts worse", fell)
    assert re.match(r"- ▲ \*\*Rose at ckpt-4000\*\*: lyric form .*\(\+17.3, all 12 prompts better", rose)
    assert "lyric form and variety of wording rise while character falls at ckpt-4000" in disagree
    assert "Kept: ckpt-3000," in disagree
    assert any(line.startswith("- – **No difference seen**: lyric craft: can hardly tell ") for line in lines)
    scores = [
        line.split(" | ") for line in lines if re.match(r"\| (lyric|persona|distinct)\S* \|.*ckpt", line)
    ]
    assert [(row[0], row[-1]) for row in scores] == [
        ("| persona_generic.level", "▼ fallen |"),
        ("| lyric.total", "▲ risen |"),
        ("| distinct_2.checkpoint", "▲ risen |"),
        ("| lyric_craft.level", "– no difference seen |"),
    ]


def test_the_table_names_checkpoints_scores_and_the_baseline(hengwen) -> None:
    out = hengwen("demo", "-v").out
    for text in (
        "ckpt-4000",
        "lyric.total",
        "human.persona_generic.level",
        "not a language model",
        "too short",
    ):
        assert text in out


def test_the_demo_says_the_same_twice_although_a_key_is_in_the_environment(
    hengwen, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = hengwen("demo", "--json").json
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key")
    done = hengwen("demo", "--json")
    assert [run["scores"] for run in done.json["runs"]] == [run["scores"] for run in without["runs"]]
    assert done.json["usage"] == {}
    assert "sk-planted-key" not in done.out + done.err
    doctor = hengwen("doctor")
    assert "OPENAI_API_KEY: set" in doctor.out
    assert "sk-planted-key" not in doctor.out + doctor.err


def test_a_run_is_kept_reported_again_pinned_and_removed(hengwen, plan: Path, tmp_path: Path) -> None:
    first = hengwen("run", "plan.yaml", "--json", "-o", "r.json").json
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == first
    again = hengwen("report", "--json").json
    assert again["runs"] == first["runs"]
    assert again["sequences"] == first["sequences"]
    name = first["runs"][0]["id"]
    assert "baseline" in hengwen("runs", "pin", name).out
    assert f"* {name}" in hengwen("runs", "list").out
    shown = hengwen("runs", "show", "a").out
    assert "lyrics/lyric.total: 2/2" in shown
    assert "None" not in shown
    assert hengwen("report", "b", "--json").json["runs"][0]["checkpoint"] == "b"
    assert hengwen("runs", "rm", name, "--yes").code == 0
    assert len(hengwen("runs", "list").out.splitlines()) == 1


def test_the_same_command_again_weighs_nothing_anew(hengwen, plan: Path) -> None:
    first = hengwen("run", "plan.yaml", "--json").json
    assert hengwen("run", "plan.yaml", "--json").json["runs"] == first["runs"]
    fresh = hengwen("run", "plan.yaml", "--json", "--fresh").json
    assert fresh["runs"][0]["id"] != first["runs"][0]["id"]
    assert fresh["runs"][0]["scores"] == first["runs"][0]["scores"]


def test_a_new_checkpoint_leaves_the_runs_of_the_others_alone(hengwen, plan: Path) -> None:
    first = hengwen("run", "plan.yaml", "--json").json
    plan.write_text(
        plan.read_text("utf-8").replace("labels:", "  - {name: c, responses: b.jsonl}\nlabels:"), "utf-8"
    )
    second = hengwen("run", "plan.yaml", "--json").json
    assert [run["id"] for run in second["runs"][:2]] == [run["id"] for run in first["runs"]]
    assert second["runs"][2]["checkpoint"] == "c"


def test_changed_options_make_a_new_run_and_keep_the_old_one(hengwen, plan: Path) -> None:
    first = hengwen("run", "plan.yaml", "--json").json
    plan.write_text(plan.read_text("utf-8").replace("[lyric]", "[{lyric: {rules: muchin}}]"), "utf-8")
    second = hengwen("run", "plan.yaml", "--json").json
    assert second["runs"][0]["id"] != first["runs"][0]["id"]
    assert hengwen("report", first["runs"][0]["id"], "--json").json["runs"][0] == first["runs"][0]


def test_a_limit_weighs_the_first_samples_and_the_rest_can_follow(hengwen, plan: Path) -> None:
    some = hengwen("run", "plan.yaml", "--json", "-n", "1").json
    total = some["runs"][0]["scores"]["lyrics/lyric.total"]
    assert (total["n"], total["prompts"], total["prompts_expected"], total["prompt_coverage"]) == (
        1,
        1,
        2,
        0.5,
    )
    assert "1/2 prompts (50%) · 1 answer" in hengwen("report", "-v").out
    full = hengwen("run", "plan.yaml", "--json").json
    total = full["runs"][0]["scores"]["lyrics/lyric.total"]
    assert (total["n"], total["prompts_expected"], total["prompt_coverage"]) == (2, 2, 1)


def test_the_order_of_the_plan_is_the_order_of_training(hengwen, plan: Path) -> None:
    text = plan.read_text("utf-8").replace("  - {name: a, responses: a.jsonl}\n", "")
    plan.write_text(text.replace("labels:", "  - {name: a, responses: a.jsonl}\nlabels:"), "utf-8")
    hengwen("run", "plan.yaml", "-q")
    assert [run["checkpoint"] for run in hengwen("report", "--json").json["runs"]] == ["b", "a"]


def test_a_started_plan_runs_at_once(hengwen, tmp_path: Path) -> None:
    assert hengwen("init", "mine").code == 0
    assert hengwen("validate", "mine/plan.yaml").out.endswith("is a valid plan\n")
    done = hengwen("run", "mine/plan.yaml", "--json")
    assert done.code == 0
    assert len(done.json["runs"]) == 3
    again = hengwen("init", "mine")
    assert (again.code, "use --force" in again.err) == (2, True)
    assert hengwen("init", "mine", "--force").code == 0


def test_each_command_shows_something_on_a_started_plan(hengwen) -> None:
    hengwen("init", "mine")
    hengwen("run", "mine/plan.yaml", "--quiet")
    compared = hengwen("compare", "step-100", "step-200", "--json").json
    assert {score["address"]: score["outcome"] for score in compared["scores"]}[
        "lyrics/lyric.total"
    ] == "better"
    assert "\nLyric form " in hengwen("drift", "--lang", "en").out
    gates = hengwen("gate", "mine/plan.yaml", "--baseline", "step-200", "--json").json["gates"]
    assert [gate["outcome"] for gate in gates] == ["passed", "failed"]
    assert "A run of mine detects" in hengwen("power", "mine/plan.yaml", "--lang", "en").out
    assert hengwen("calibrate", "mine/plan.yaml", "--lang", "en").out.count("not certified") >= 1


def test_doctor_says_what_there_is(hengwen) -> None:
    out = hengwen("doctor").out
    for text in ("python 3", "numpy", "extra postgres", "scorers: ", ", lyric", "judges: rubric, rules"):
        assert text in out


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hengwen", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("hengwen 0.")


@pytest.mark.parametrize(
    "verb",
    [
        [],
        ["demo"],
        ["init"],
        ["validate"],
        ["run"],
        ["report"],
        ["runs"],
        ["runs", "list"],
        ["import", "muchin"],
        ["doctor"],
    ],
    ids=" ".join,
)
def test_every_verb_explains_itself(hengwen, verb: list[str]) -> None:
    done = hengwen(*verb, "--help")
    assert done.code == 0
    assert "Usage" in done.out


def test_the_tokenizer_is_chosen_once_for_a_task_and_stands_in_the_signature(hengwen, plan: Path) -> None:
    prompts = plan.parent / "prompts.jsonl"
    rows = [json.loads(line) for line in prompts.read_text("utf-8").splitlines()]
    for row, reference in zip(rows, ("天上的云", "OK"), strict=True):  # the second alone would be 13a
        row["references"] = [reference]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    plan.write_text(plan.read_text("utf-8").replace("[lyric]", "[bleu, corpus_bleu]"), "utf-8")
    scores = hengwen("run", "plan.yaml", "--json").json["runs"][0]["scores"]
    assert "tok:zh" in scores["lyrics/bleu.sentence"]["signature"]
    corpus = scores["lyrics/bleu.corpus"]
    assert "tok:zh" in corpus["signature"]
    assert (corpus["method"], corpus["ci"][0] <= corpus["mean"] <= corpus["ci"][1]) == ("scorer", True)
