"""Result files of MuChin's own inference become the same plan as rows of a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen.errors import DataError
from hengwen.importers.muchin import import_muchin

TEMPLATE = "(verse)\ncR"


def write(folder: Path, number: str, *lyrics: object, **fields: object) -> Path:
    """Write one result file as MuChin's inference does."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "done_ts": 1705810287,
        "o_msstr": TEMPLATE,
        "o_theme": "雨",
        "results": [{"gen_lrc": lyric, "seccost": 1.5, "obj_evl": None, "sbj_evl": None} for lyric in lyrics],
    }
    path = folder / f"pid_{number}_all.json"
    path.write_text(json.dumps({**data, **fields}, ensure_ascii=False), "utf-8")
    return path


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_folder_of_results_is_a_plan_with_a_checkpoint_for_each_folder(tmp_path: Path) -> None:
    for checkpoint in ("ckpt2001", "ckpt1001"):
        write(tmp_path / "ciio" / checkpoint / "pairs4_v1" / "ntie2_2401201654", "001", "下雨", "雨停")
        write(tmp_path / "ciio" / checkpoint / "pairs2_v1" / "ntie1_2401201558", "001", "晴天", o_theme="晴")
    (tmp_path / "ciio" / "pairs4_v1.json").write_text("[]", "utf-8")
    result = import_muchin(tmp_path / "ciio", tmp_path / "plan")
    assert (result.prompts, result.answers, result.checkpoints) == (2, 6, ("ckpt1001", "ckpt2001"))
    assert rows(tmp_path / "plan" / "prompts.jsonl") == [
        {"id": "pairs2_v1/001", "input": "晴", "metadata": {"template": TEMPLATE}},
        {"id": "pairs4_v1/001", "input": "雨", "metadata": {"template": TEMPLATE}},
    ]
    assert rows(tmp_path / "plan" / "ckpt1001.jsonl") == [
        {"id": "pairs2_v1/001", "repeat": 1, "output": "晴天"},
        {"id": "pairs4_v1/001", "repeat": 1, "output": "下雨"},
        {"id": "pairs4_v1/001", "repeat": 2, "output": "雨停"},
    ]


def test_repeats_go_on_over_the_runs_of_a_checkpoint(tmp_path: Path) -> None:
    for run in ("ntie1_2401", "ntie1_2402"):
        write(tmp_path / "a" / "set" / run, "7", run)
    import_muchin(tmp_path / "a", tmp_path / "plan")
    assert [(row["repeat"], row["output"]) for row in rows(tmp_path / "plan" / "a.jsonl")] == [
        (1, "ntie1_2401"),
        (2, "ntie1_2402"),
    ]


def test_one_file_in_any_folder_is_named_after_that_folder(tmp_path: Path) -> None:
    file = write(tmp_path / "mine", "012", "下雨")
    result = import_muchin(file, tmp_path / "plan")
    assert (result.answers, result.checkpoints) == (1, ("mine",))
    assert rows(tmp_path / "plan" / "prompts.jsonl")[0]["id"] == "012"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"pid_1_all.json:1: not valid JSON"),
        ("[" * 100_000, r"pid_1_all.json: nested too deeply"),
        ("[]", r"pid_1_all.json: expected an object with 'o_msstr'"),
        ('{"results": {}}', r"pid_1_all.json: expected an object with 'o_msstr'"),
        ('{"results": []}', r"pid_1_all.json: field 'o_msstr' must be text"),
        ('{"results": [], "o_msstr": "(verse)\\nc", "o_theme": ""}', r": no results"),
        (
            '{"results": [], "o_msstr": " ", "o_theme": ""}',
            r"field 'o_msstr' is empty; it is the template of the lyric",
        ),
        (
            '{"results": [{"gen_lrc": null}], "o_msstr": "(verse)\\nc", "o_theme": ""}',
            r"pid_1_all.json: result 1: field 'gen_lrc' must be text",
        ),
        (
            '{"results": [1], "o_msstr": "(verse)\\nc", "o_theme": ""}',
            r"pid_1_all.json: result 1: field 'gen_lrc' must be text",
        ),
    ],
)
def test_a_malformed_file_is_named_and_nothing_is_written(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pid_1_all.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        import_muchin(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_missing_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pid_9_all.json: no such file"):
        import_muchin(tmp_path / "pid_9_all.json", tmp_path / "out")
    (tmp_path / "pid_9_all.json").write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"pid_9_all.json:1: not UTF-8"):
        import_muchin(tmp_path / "pid_9_all.json", tmp_path / "out")


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no pid_\*_all.json in this folder"):
        import_muchin(tmp_path, tmp_path / "out")


def test_a_prompt_with_two_templates_names_both_files(tmp_path: Path) -> None:
    write(tmp_path / "a" / "set" / "ntie1_1", "7", "雨")
    write(tmp_path / "b" / "set" / "ntie1_1", "7", "雨", o_msstr="(verse)\ncc")
    with pytest.raises(DataError, match=r"b/set.*'set/7' has another theme or template than in .*/a/set/"):
        import_muchin(tmp_path, tmp_path / "out")
