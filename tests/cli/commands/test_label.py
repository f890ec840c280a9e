"""``hengwen label``: what is shown, what is written, and that nothing entered is lost."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest
from label_plan import ANSWERS, LIVE, PLAN, TOPIC, jsonl, labels, with_labels
from rich.cells import cell_len

from hengwen.cli.ui.label_form import ask_rater, available_commands, single_keys
from hengwen.labels.queue import draw_questions
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.prompts import load_rubric
from hengwen.text.safety import replace_controls


@pytest.fixture
def form(hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the plan; then fill the form with these entries."""
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    (tmp_path / "live.jsonl").write_text(jsonl(LIVE), "utf-8")
    (tmp_path / "topic.jsonl").write_text(jsonl(TOPIC), "utf-8")
    for name, rows in ANSWERS.items():
        (tmp_path / f"{name}.jsonl").write_text(jsonl(rows), "utf-8")
    monkeypatch.delenv("HENGWEN_RATER", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("HENGWEN_LANG", "zh")

    def fill(entries: str, *arguments: object, rater: str | None = "ann"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{entry}\n" for entry in entries.split())))
        named = [] if rater is None else ["--rater", rater]
        return hengwen("label", "plan.yaml", *named, *arguments)

    return fill


def test_seven_answers_are_labelled_and_the_plan_takes_the_labels(form, tmp_path: Path) -> None:
    done = form("A b C d E a a")
    assert done.code == 0
    written = labels(tmp_path / "labels.csv")
    assert [label.value for label in written] == [1, 0.75, 0.5, 0.25, 0, 1, 1]
    assert {label.rater for label in written} == {"ann"}
    assert {label.score for label in written} == {"muice_live.level", "muice_new_topic.level"}
    assert "ann 新标 7 条，7 条中已完成 7 条" in done.err
    assert "要使用这些标注，请在 plan.yaml 里加上：labels: labels.csv" in done.err
    with_labels(tmp_path)
    suite = load_suite(load_plan(tmp_path / "plan.yaml"))
    assert (len(suite.labels), suite.warnings) == (7, ())


def test_a_plan_cannot_have_a_file_outside_its_folder_written(form, tmp_path: Path) -> None:
    outside = tmp_path.parent / "new.csv"
    (tmp_path / "plan.yaml").write_text(PLAN + "labels: ../new.csv\n", "utf-8")
    outside.write_text("task,checkpoint,id,repeat,score,value,rater\n", "utf-8")
    try:
        done = form("A A A A A A A")
        assert outside.read_text("utf-8") == "task,checkpoint,id,repeat,score,value,rater\n"
        assert done.code == 2
        assert "在 plan.yaml 的文件夹之外；请用 -o 指定" in done.err
        assert form("A A A A A A A", "-o", "own.csv").code == 0
    finally:
        outside.unlink()


@pytest.mark.slow
def test_labels_keep_the_text_they_are_for_but_no_formula(form, tmp_path: Path, hengwen) -> None:
    form("A A A A A A A")
    texts = {(x.task, x.checkpoint, x.id, x.repeat): x.output for x in labels(tmp_path / "labels.csv")}
    for checkpoint, rows in ANSWERS.items():
        for row in rows:
            expected = "" if row["output"].startswith("=") else replace_controls(row["output"])
            assert texts[row["task"], checkpoint, row["id"], row["repeat"]] == expected
    with_labels(tmp_path)
    done = hengwen("run", "plan.yaml", "--json")
    assert "for another text" not in done.err
    scores = done.json["runs"][0]["scores"]
    assert scores["live/human.muice_live.level"]["n"] == 3


def test_the_form_is_blind(form, tmp_path: Path, hengwen) -> None:
    hengwen("run", "plan.yaml", "--quiet")
    out = form("A A A A A A q").out
    assert "day-1" not in out
    assert "day-2" not in out
    assert "baseline by rules" not in out
    assert "规则基线" not in out


def test_an_answer_cannot_touch_the_terminal(form) -> None:
    out = form("s s s s s s s").out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out)
    assert "owned" not in out
    assert "[bold]红[/bold]反看 1" in out
    assert "晚安" in out
    assert "（空）" in out


def test_boxes_are_straight_around_chinese(form) -> None:
    from rich.cells import cell_len

    lines = [line for line in form("s s s s s s s").out.splitlines() if line.startswith(("│", "╭", "╰"))]
    assert len(lines) > 20
    assert {cell_len(line) for line in lines} == {80}


def test_the_rubric_comes_before_the_first_answer_and_again_on_request(form) -> None:
    rubric = load_rubric("muice_live")
    before, first, second = re.split(r"\d/5", form("s ? q", "--task", "live").out)
    assert "A  " not in first
    assert "A  " in before
    lines = second.splitlines()
    levels = [line for line in lines if line[:3] in ("A  ", "B  ", "C  ", "D  ", "E  ")]
    assert [line[0] for line in levels] == list("ABCDE")
    assert max(map(cell_len, lines)) <= 80
    text = "".join(line.strip() for line in lines)
    for level in rubric.levels.values():
        assert "".join(level.in_language("zh").split()) in "".join(text.split())


@pytest.fixture
def press(form, hengwen, monkeypatch: pytest.MonkeyPatch):
    """Fill the form on a terminal, where each key counts at once."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def fill(keys: str, *arguments: object):
        pressed = iter(keys)
        monkeypatch.setattr("typer.getchar", lambda: next(pressed))
        monkeypatch.setattr(sys, "stdin", Terminal())
        return hengwen("label", "plan.yaml", "--rater", "ann", *arguments)

    return fill


def test_on_a_terminal_one_key_is_a_label(press, tmp_path: Path) -> None:
    done = press("axＢuBq")
    assert [label.value for label in labels(tmp_path / "labels.csv")] == [1, 0.75]
    assert "“x”？等级：A, B, C, D, E" in done.out


def test_levels_with_long_names_have_numbers_as_keys() -> None:
    assert single_keys({"poor": 0, "fair": 0.5, "good": 1}) == {"1": "poor", "2": "fair", "3": "good"}
    assert single_keys({"0": 0, "1": 1}) == {"0": "0", "1": "1"}
    assert single_keys({"q": 0, "z": 1}) == {}, "a key is not a command too"
    assert single_keys([f"level {number}" for number in range(10)]) == {}


def test_a_screen_of_24_rows_holds_a_question_with_a_long_prompt(press, tmp_path: Path) -> None:
    rows = [{**LIVE[0], "input": "题目很长。" * 200, "references": ["参考\n" * 50]}, LIVE[1]]
    (tmp_path / "live.jsonl").write_text(jsonl(rows), "utf-8")
    out = press("sssss?q", "--task", "live").out
    for screen in re.split(r"(?m)^─+ \d/5", out)[1:5]:
        assert len(screen.splitlines()) <= 24
    long = next(screen for screen in re.split(r"(?m)^─+ \d/5", out)[1:] if "很长" in screen)
    assert long.index("参考") < long.index("回答"), "the answer comes last"
    assert "全文：?" in long


def test_what_the_rubric_uses_is_shown_and_nothing_else(form) -> None:
    out = form("s s s s s s s").out
    assert "你是阿月。" in out
    assert out.count("你是阿月。") == 1, "a persona is told once"
    assert "很好呀" in out
    assert out.count("─ 参考 ─") == 3, "the answers to the one sample with a reference"
    assert "完全入戏" not in out
    assert "观众的话接得准" in out


def test_a_criterion_is_labelled_by_its_own_question(form, tmp_path: Path) -> None:
    done = form("b b b b b", "--score", "muice_live.voice", "--lang", "en")
    assert "only: Character: do tone, temper" in done.out
    assert {label.score for label in labels(tmp_path / "labels.csv")} == {"muice_live.voice"}
    assert "5 of 5 done" in done.err


def test_the_order_is_drawn_by_the_seed_and_a_larger_sample_holds_the_smaller(form, tmp_path: Path) -> None:
    suite = load_suite(load_plan(tmp_path / "plan.yaml"))

    def places(**options):
        return [
            (q.response.task, q.response.checkpoint, q.response.sample_id, q.response.repeat)
            for q in draw_questions(suite, **options)
        ]

    assert places() == places()
    assert sorted(places()) == sorted(places(seed=1))
    assert len({tuple(places(seed=seed)) for seed in range(9)}) > 4
    assert places(limit=3) == places()[:3]
    firsts = {places(seed=seed)[0] for seed in range(60)}
    assert firsts == set(places()), "every answer may come first"


def test_a_sample_is_the_same_for_every_rater_and_goes_on_where_it_stopped(form, tmp_path: Path) -> None:
    form("A q", "-n", 3)
    form("B B B B", "-n", 3, rater="bob")
    done = form("C C C", "-n", 3)
    assert "ann 新标 2 条，3 条中已完成 3 条" in done.err
    written = labels(tmp_path / "labels.csv")
    by = {
        name: {(x.task, x.id, x.checkpoint, x.repeat) for x in written if x.rater == name}
        for name in ("ann", "bob")
    }
    assert by["ann"] == by["bob"]
    assert [x.value for x in written if x.rater == "ann"] == [1, 0.5, 0.5]
    assert "ann 新标 0 条，3 条中已完成 3 条" in form("", "-n", 3).err


def test_skipping_writes_nothing_and_comes_again(form, tmp_path: Path) -> None:
    done = form("s s s s s s s")
    assert not (tmp_path / "labels.csv").exists()
    assert "ann 新标 0 条，7 条中已完成 0 条，跳过 7 条（下次再问）" in done.err
    assert "1/7" in form("q").out


def test_undo_takes_back_labels_and_skips_one_by_one(form, tmp_path: Path) -> None:
    done = form("u A B s u u C q")
    assert "没有可撤销的操作" in done.out
    assert [label.value for label in labels(tmp_path / "labels.csv")] == [1, 0.5]
    assert "ann 新标 2 条，7 条中已完成 2 条" in done.err
    assert "skipped" not in done.err


def test_undo_to_the_beginning_leaves_a_header_that_can_be_gone_on_with(form, tmp_path: Path) -> None:
    form("A u q")
    header = "task,id,checkpoint,repeat,output,score,value,rater,drawn\n"
    assert (tmp_path / "labels.csv").read_text("utf-8") == header
    form("E q")
    assert [label.value for label in labels(tmp_path / "labels.csv")] == [0]


def test_a_slip_is_asked_again_and_never_a_label(form, tmp_path: Path) -> None:
    done = form("X AA 0.5 \x1b[A ? Ａ q")
    assert done.out.count("等级：A, B, C, D, E") == 4
    assert "\x1b" not in done.out
    assert [label.value for label in labels(tmp_path / "labels.csv")] == [1], "a full-width A is an A"


def test_what_was_entered_before_the_input_ends_is_kept(form, tmp_path: Path) -> None:
    done = form("A B")
    assert done.code == 0
    assert len(labels(tmp_path / "labels.csv")) == 2


def test_ctrl_c_keeps_all_and_says_so(form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hengwen) -> None:
    entries = iter(["A", "B"])

    def interrupted() -> str:
        entry = next(entries, None)
        if entry is None:
            raise KeyboardInterrupt
        return entry

    monkeypatch.setattr("builtins.input", interrupted)
    done = hengwen("label", "plan.yaml", "--rater", "ann")
    assert done.code == 130
    assert "ann 新标 2 条" in done.err
    assert len(labels(tmp_path / "labels.csv")) == 2


def test_every_label_is_on_the_disk_before_the_next_question(
    form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hengwen
) -> None:
    seen = []

    def entry() -> str:
        path = tmp_path / "labels.csv"
        seen.append(len(labels(path)) if path.exists() else 0)
        return "A"

    monkeypatch.setattr("builtins.input", entry)
    hengwen("label", "plan.yaml", "--rater", "ann")
    assert seen == [0, 1, 2, 3, 4, 5, 6]


def test_a_rater_is_asked_for_with_the_user_as_default(form, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LOGNAME", "me")
    form("小满 A q", rater=None)
    assert [label.rater for label in labels(tmp_path / "labels.csv")] == ["小满"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\nB\nq\n"))
    assert ask_rater(None, "en") == "me"


@pytest.mark.parametrize("name", ["", "=cmd()", "-x", " ", "a\nb", "\x1b[2J", "x" * 81])
def test_a_rater_must_have_a_plain_name(form, name: str) -> None:
    done = form("A", rater=name)
    assert done.code == 2


def test_labels_of_a_text_that_changed_are_told_and_left(form, tmp_path: Path) -> None:
    form("A A A A A A A")
    rows = [{**row, "output": row["output"] + "改"} for row in ANSWERS["day-1"]]
    (tmp_path / "day-1.jsonl").write_text(jsonl(rows), "utf-8")
    done = form("B B B")
    # the label of the empty answer keeps no text that could differ
    assert "ann 的 3 个标注是对另一段文字作的；请从 labels.csv 里删去" in done.err
    assert len(labels(tmp_path / "labels.csv")) == 7


def test_labels_go_where_the_plan_has_them_also_when_the_file_is_new(form, tmp_path: Path) -> None:
    with_labels(tmp_path)
    done = form("A q")
    assert "to use the labels" not in done.err
    assert len(labels(tmp_path / "labels.csv")) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--task", "lve"], 2, "计划里没有任务 'lve'；是不是 'live'？"),
        (
            ["--score", "muice_live.vice"],
            2,
            "没有评审给出 'muice_live.vice'；是不是 'muice_live.voice'？",
        ),
        (["--task", "topic", "--score", "muice_live.voice"], 2, "没有评审给出 'muice_live.voice'"),
        (["--lang", "fr"], 2, "--lang is zh or en"),
        (["-o", "labels.txt"], 2, "看不出 'labels.txt' 的格式"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_asked(form, arguments, code, message) -> None:
    done = form("A A", *arguments)
    assert done.code == code
    assert message in " ".join(done.err.replace("│", " ").split())
    assert "等级" not in done.out


def test_answers_that_were_generated_come_from_the_store(form, tmp_path: Path, hengwen) -> None:
    plan = PLAN.replace("{name: day-2, responses: day-2.jsonl}", "{name: live-2, backend: s}")
    plan += "backends: {s: {provider: replay, options: {answers: replay.jsonl}}}\n"
    from hengwen.records import Response, Run, Sample
    from hengwen.store import open_store

    (tmp_path / "plan.yaml").write_text(plan, "utf-8")
    done = form("q")
    assert "检查点 'live-2' 在 hengwen.db 中还没有回答；请先运行：hengwen run" in done.err
    with open_store(tmp_path / "hengwen.db") as store:
        ledger = store.ledger()
        ledger.begin(Run(id="r", plan="p", plan_hash="", checkpoint="live-2", order=1))
        sample = Sample(id="a", input="今天好吗？", task="live")
        ledger.record_response(
            "r", sample, Response(sample_id="a", text="店里的", task="live", checkpoint="live-2")
        )
        ledger.commit()
    done = form("A A A A A")
    assert "5 条中已完成 5 条" in done.err
    assert "店里的" in done.out
    assert "live-2" in {label.checkpoint for label in labels(tmp_path / "labels.csv")}


def test_a_rubric_whose_labels_are_commands_keeps_both_apart() -> None:
    commands = available_commands(["Q", "s", "x"])
    assert (commands[":q"], commands[":s"], commands["u"]) == ("q", "s", "u")
    assert not {"q", "s"} & set(commands)


def test_each_label_says_how_its_answer_was_drawn(form, tmp_path: Path) -> None:
    form("A B q", "-n", 3)
    form("C q", "--task", "live", "--seed", 4, rater="bob")
    assert [label.drawn for label in labels(tmp_path / "labels.csv")] == [
        *["random|seed:0|from:7|strata:checkpoint,prompt"] * 2,
        "random|seed:4|from:5|strata:checkpoint,prompt",
    ]


def test_a_file_without_a_column_for_the_draw_still_works_and_is_warned_of(form, tmp_path: Path) -> None:
    old = "task,id,checkpoint,repeat,output,score,value,rater\n"
    (tmp_path / "labels.csv").write_text(old, "utf-8")
    done = form("A q")
    assert "labels.csv 没有 'drawn' 列" in done.err
    assert [(label.value, label.drawn) for label in labels(tmp_path / "labels.csv")] == [(1, "")]
    assert (tmp_path / "labels.csv").read_text("utf-8").startswith(old)


@pytest.mark.slow
def test_pairs_for_training_come_from_the_labels_and_nothing_is_labelled(form, tmp_path: Path) -> None:
    form("A B C D E A B")
    before = (tmp_path / "labels.csv").read_bytes()
    done = form("", "--pairs", "pairs.jsonl", rater=None)
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert f"pairs.jsonl：{len(pairs)} 个偏好对" in done.err
    assert pairs
    assert all(pair["chosen"] != pair["rejected"] and pair["margin"] > 0 for pair in pairs)
    assert (tmp_path / "labels.csv").read_bytes() == before
    assert form("", "--pairs", "live.jsonl").code == 2, "data of the plan is not overwritten"
    assert form("", "--pairs", "labels.csv").code == 2, "nor are the labels"
