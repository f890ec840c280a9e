"""What bad input gets: one line on stderr with file and line, exit 2, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

CASES: dict[str, tuple[str, str | None, str | bytes, str]] = {
    "unknown plan key": ("plan.yaml", "samples:", "sampels:", "plan.yaml:4: unknown key 'sampels'; did you mean 'samples'?"),
    "plan of another kind": ("plan.yaml", "name: p", "- name: p", "plan.yaml:2: not valid YAML"),
    "missing samples": ("plan.yaml", "prompts.jsonl", "prompt.jsonl", "prompt.jsonl: no such file"),
    "missing answers": ("plan.yaml", "b.jsonl", "c.jsonl", "c.jsonl: no such file"),
    "missing labels": ("plan.yaml", "labels.csv", "lables.csv", "lables.csv: no such file"),
    "unknown scorer": ("plan.yaml", "[lyric]", "[lyrics]", "unknown scorer 'lyrics'; did you mean 'lyric'?"),
    "unknown rubric": ("plan.yaml", "lyric_craft", "lyric_carft", "unknown rubric 'lyric_carft'; did you mean 'lyric_craft'?"),
    "wrong option": ("plan.yaml", "[lyric]", "[{lyric: {rule: muchin}}]", "scorer 'lyric': "),
    "duplicate id": ("prompts.jsonl", '"id": "y"', '"id": "x"', "prompts.jsonl:2: field 'id' repeats 'x', first seen on line 1"),
    "row without an id": ("prompts.jsonl", '"id": "y", ', "", "prompts.jsonl:2: field 'id' is missing"),
    "checkpoint named twice": ("plan.yaml", "{name: b,", "{name: a,", "plan.yaml:10: checkpoint 'a' is named twice, first on line 9"),
    "non-UTF-8 samples": ("prompts.jsonl", "写两行", "写两行".encode("gbk"), "prompts.jsonl:1: not UTF-8 (byte 0x"),
    "non-UTF-8 plan": ("plan.yaml", "name: p", "name: 计".encode("gbk"), "plan.yaml:1: not UTF-8"),
    "empty dataset": ("prompts.jsonl", None, "", "prompts.jsonl: no rows"),
    "empty answers": ("a.jsonl", None, "", "a.jsonl: no rows"),
    "empty template": ("prompts.jsonl", "(verse)\\ncccR\\ncccR", "", "prompts.jsonl:1: "),
    "answer to nothing": ("a.jsonl", '"id": "y"', '"id": "z"', "a.jsonl:2: no task has a sample 'z'"),
    "answer twice": ("a.jsonl", '"id": "y"', '"id": "x"', "a.jsonl:2: repeat 1 of 'x' is a duplicate, first seen on line 1"),
    "label off the scale": ("labels.csv", ",0.5,", ",0.6,", "labels.csv:2: value 0.6 is no level of lyric_craft.level: 0, 0.25, 0.5, 0.75, 1"),
    "label of no score": ("labels.csv", "craft.level", "craft.levle", "labels.csv:2: no judge of task 'lyrics' gives 'lyric_craft.levle'; did you mean"),
    "label of no sample": ("labels.csv", "lyrics,x", "lyrics,z", "labels.csv:2: task 'lyrics' has no sample 'z'"),
    "judge without a key": ("plan.yaml", "rubric: lyric_craft", "{rubric: lyric_craft, backend: j}\nbackends: {j: {provider: openai, model: m}}\nx:", "unknown key 'x'"),
    "terminal codes in an id": ("prompts.jsonl", '"id": "y", ', '"id": "\\u001b[2J", "cluster": [1], ', "prompts.jsonl:2: field 'cluster' must be text"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verb", ["run", "validate"])
def test_bad_input_is_one_line_with_file_and_line_and_exit_2(
    hengwen, plan: Path, case: str, verb: str
) -> None:
    name, old, new, message = CASES[case]
    path = plan.parent / name
    raw = path.read_bytes()
    replacement = new if isinstance(new, bytes) else new.encode()
    if old is None:
        path.write_bytes(replacement)
    else:
        assert old.encode() in raw
        path.write_bytes(raw.replace(old.encode(), replacement, 1))
    done = hengwen(verb, "plan.yaml")
    assert done.code == 2, done
    assert done.err.startswith("hengwen: ")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err


def test_a_template_without_sections_is_a_warning_and_is_scored(hengwen, plan: Path) -> None:
    path = plan.parent / "prompts.jsonl"
    path.write_text(path.read_text("utf-8").replace("(verse)\\n", "", 1), "utf-8")
    done = hengwen("run", "plan.yaml", "--json")
    assert done.code == 0
    assert "prompts.jsonl:1: " in done.err
    assert "section" in done.err
    assert done.json["runs"][0]["scores"]["lyrics/lyric.total"]["n"] == 2


def test_a_missing_answer_is_counted_and_lowers_no_mean(hengwen, plan: Path) -> None:
    path = plan.parent / "b.jsonl"
    path.write_text(path.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    done = hengwen("run", "plan.yaml", "--json")
    assert done.code == 0
    assert "checkpoint 'b' has no answer to 1 of 2 samples of task 'lyrics', first 'y'" in done.err
    cell = done.json["runs"][1]["scores"]["lyrics/lyric.total"]
    assert (cell["n"], cell["coverage"], cell["failures"]) == (1, 0.5, {"missing": 1})
    assert hengwen("run", "plan.yaml", "--strict", "-q").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Missing argument"),
        (["run", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["rnu"], "No such command"),
        (["run", "plan.yaml", "-j", "0"], "-j"),
        (["run", "plan.yaml", "-o", "r.pdf"], "unknown format of report 'r.pdf'"),
        (["run", "plan.yaml", "--judge", "gpt"], "--judge must be PROVIDER/MODEL"),
        (["run", "plan.yaml", "--judge", "openai/gpt"], "OPENAI_API_KEY"),
        (["run", "plan.yaml", "--judge", "opnai/gpt"], "unknown backend 'opnai'; did you mean 'openai'?"),
        (["run", "plan.yaml", "--store", "music://x"], "unknown database 'music'"),
        (["report"], "hengwen.db: no such store"),
        (["runs", "list"], "hengwen.db: no such store"),
        (["runs", "show", "x", "--store", "none.db"], "none.db: no such store"),
        (["import", "muchin", "nowhere.jsonl", "-o", "x"], "nowhere.jsonl: no such file"),
    ],
)
def test_wrong_usage_is_exit_2(hengwen, plan: Path, arguments: list[str], message: str) -> None:
    done = hengwen(*arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_store_in_no_folder_is_exit_1(hengwen, plan: Path) -> None:
    done = hengwen("run", "plan.yaml", "--store", "no/folder/x.db")
    assert (done.code, done.err) == (1, "hengwen: no/folder/x.db: the folder no/folder does not exist\n")


def test_a_report_that_cannot_be_written_keeps_the_run(hengwen, plan: Path) -> None:
    done = hengwen("run", "plan.yaml", "-q", "-o", "no/folder/r.html")
    assert done.code == 2
    assert "folder 'no/folder' of report 'r.html' does not exist" in done.err
    assert len(hengwen("runs", "list").out.splitlines()) == 2
