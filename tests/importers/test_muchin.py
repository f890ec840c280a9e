"""Lyrics of real checkpoints to a plan, and their scores to 1e-9."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from rows import each_row

from hengwen import load_plan, open_store, run_plan
from hengwen.errors import ConfigError, DataError
from hengwen.importers.muchin import import_muchin
from hengwen.records import Score

MEANS = {
    "ckpt1001": 76.539,
    "ckpt1002": 75.059,
    "ckpt2001": 83.148,
    "ckpt3001": 83.868,
    "ckpt3_1001": 81.538,
    "ckpt3_2001": 76.740,
}
PARTS = ("total", "phase1", "phase2_1", "phase2_2", "phase3", "phase4")


@pytest.mark.slow
def test_the_real_lyrics_get_the_published_totals(shared: Callable[[str], Path], tmp_path: Path) -> None:
    source, expected = (
        shared("data/muchin-checkpoints.jsonl"),
        shared("data/muchin-checkpoints-expected.jsonl"),
    )
    imported = import_muchin(source, tmp_path / "plan")
    assert (imported.prompts, imported.answers, list(imported.checkpoints)) == (26, 360, list(MEANS))
    with open_store(tmp_path / "x.db") as store:
        result = run_plan(imported.plan, store=store)
        outcomes = {
            (row.checkpoint, row.sample_id, row.repeat, row.score.name): row.outcome
            for row in store.rows(result.runs)
        }
    totals = defaultdict(list)
    for line in expected.read_text("utf-8").splitlines():
        expected_row = json.loads(line)
        key = (expected_row["checkpoint"], expected_row["id"], expected_row["repeat"])
        for part in PARTS:
            outcome = outcomes[(*key, f"lyric.{part}")]
            assert isinstance(outcome, Score)
            assert outcome.value == pytest.approx(expected_row["document"][part], abs=1e-9), key
        totals[expected_row["checkpoint"]].append(outcomes[(*key, "lyric.total")].value)
    means = {name: round(sum(values) / len(values), 3) for name, values in totals.items()}
    assert means == MEANS
    assert {len(values) for values in totals.values()} == {60}
    assert result.unscored == ()


ROW = {
    "id": "a",
    "checkpoint": "c1",
    "repeat": 1,
    "theme": "雨",
    "template": "(verse)\ncR",
    "lyric": "(verse)\n下雨",
}


def write(folder: Path, *rows: dict) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_checkpoints_keep_the_order_of_the_file_or_take_the_one_that_is_given(tmp_path: Path) -> None:
    source = write(tmp_path, {**ROW, "checkpoint": "z"}, {**ROW, "checkpoint": "b"})
    assert import_muchin(source, tmp_path / "one").checkpoints == ("z", "b")
    assert import_muchin(source, tmp_path / "two", order=["b", "z"]).checkpoints == ("b", "z")


@each_row(
    "names, steps",
    [
        (["sft-checkpoint-500", "sft-checkpoint-1000"], [500, 1000]),
        (["step20", "step3"], [3, 20]),
        (["ckpt_7"], [7]),
        (["a-ckpt-1", "b-ckpt-2"], [None, None]),
        (["ckpt-1", "final"], [None, None]),
        (["ckpt-1", "ckpt-01"], [None, None]),
    ],
)
def test_steps_in_the_names_of_one_training_are_those_of_the_plan(
    tmp_path: Path, names: list[str], steps: list[int | None]
) -> None:
    rows = [{**ROW, "checkpoint": name} for name in names]
    result = import_muchin(write(tmp_path, *rows), tmp_path / "p", force=True)
    plan = load_plan(result.plan)
    assert result.has_steps is (None not in steps)
    assert [checkpoint.step for checkpoint in plan.checkpoints] == steps


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"template": "(verse)\ncc"}, r"in.jsonl:2: 'a' has another theme or template than on line 1"),
        ({"checkpoint": "../../etc"}, r"in.jsonl:2: checkpoint '../../etc': a name has only letters"),
        ({"lyric": None}, r"in.jsonl:2: field 'lyric' is missing"),
        ({"template": ""}, r"in.jsonl:2: field 'template' is missing"),
    ],
)
def test_a_wrong_row_is_named_by_line_and_nothing_is_written(
    tmp_path: Path, change: dict, message: str
) -> None:
    source = write(tmp_path, ROW, {**ROW, "repeat": 2, **change})
    with pytest.raises(DataError, match=message):
        import_muchin(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_plan_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    source = write(tmp_path, ROW)
    import_muchin(source, tmp_path / "out")
    with pytest.raises(ConfigError, match="exists; name another folder or use --force"):
        import_muchin(source, tmp_path / "out")
    import_muchin(source, tmp_path / "out", force=True)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["c1", "c2"], "the file has no checkpoint 'c2'; known: c1"),
        (["c1", "c1"], "must name each of c1 once"),
    ],
)
def test_an_order_names_each_checkpoint_once(tmp_path: Path, order: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        import_muchin(write(tmp_path, ROW), tmp_path / "out", order=order)


def test_a_lyric_that_comes_twice_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, ROW, {**ROW, "repeat": 2}, {**ROW, "checkpoint": "c2"}, {**ROW, "repeat": 2})
    with pytest.raises(
        DataError, match=r"in.jsonl:4: repeat 2 of 'a' by 'c1' is a duplicate, first seen at in.jsonl:2"
    ):
        import_muchin(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_no_file_can_have_is_refused_and_a_surrogate_is_replaced(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"in.jsonl:1: checkpoint 'x+\.\.\.: a name has at most 100 characters"
    ):
        import_muchin(write(tmp_path, {**ROW, "checkpoint": "x" * 5_000}), tmp_path / "out")
    import_muchin(write(tmp_path, {**ROW, "lyric": "(verse)\n雨\ud800"}), tmp_path / "out")
    assert "雨\ufffd" in (tmp_path / "out" / "c1.jsonl").read_text("utf-8")
