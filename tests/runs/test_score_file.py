"""One file scored into another: every row accounted for, in order, with flat memory."""

from __future__ import annotations

import csv
import json
import tracemalloc
from pathlib import Path

import pytest

from hengwen.errors import ConfigError, DataError
from hengwen.objective import score_lyric
from hengwen.runs.score_file import score_file

TEMPLATE = "(verse)\nccR\nccR"
LYRIC = "(verse)\n看海去\n听风曲"
GOOD = {"id": "a", "template": TEMPLATE, "lyric": LYRIC}


def write(folder: Path, *rows: object, name: str = "in.jsonl") -> Path:
    path = folder / name
    text = "".join(
        (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows
    )
    path.write_text(text, "utf-8")
    return path


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_rows_are_scored_in_order_and_bad_ones_say_why(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        GOOD,
        "nonsense",
        {**GOOD, "template": ""},
        {"id": "d", "template": TEMPLATE, "lyric": 3},
        GOOD,
    )
    done = score_file(source, tmp_path / "out.jsonl", columns={"lyric": "output"})
    rows = read(tmp_path / "out.jsonl")
    assert (done.rows, done.failed) == (5, 3)
    assert "in.jsonl:2: not valid JSON" in done.first_failure
    assert [(row["line"], row["status"]) for row in rows] == [
        (1, "ok"),
        (2, "scorer_error"),
        (3, "scorer_error"),
        (4, "scorer_error"),
        (5, "ok"),
    ]
    expected = score_lyric(LYRIC, TEMPLATE)
    assert rows[0]["lyric.total"] == expected.total
    assert "in.jsonl:3: " in rows[2]["message"]
    assert rows[3]["message"].endswith("in.jsonl:4: field 'output' must be text, got int")
    assert all("lyric.total" not in row for row in rows if row["status"] != "ok")
    assert all(row["signature"].startswith("lyric|rules:document") for row in rows)


def test_csv_goes_in_and_out_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    with source.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(GOOD))
        writer.writeheader()
        writer.writerows([GOOD, {**GOOD, "id": "=HYPERLINK(1)"}, {**GOOD, "id": "c", "template": ""}])
    done = score_file(source, tmp_path / "out.csv", columns={"lyric": "output"})
    assert (done.rows, done.failed) == (3, 1)
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text("utf-8").splitlines()))
    assert float(rows[0]["lyric.total"]) == score_lyric(LYRIC, TEMPLATE).total
    assert rows[1]["id"] == "'=HYPERLINK(1)"
    assert (rows[2]["lyric.total"], rows[2]["status"]) == ("", "scorer_error")


def test_all_columns_of_all_rows_are_in_a_csv(tmp_path: Path) -> None:
    rows = [{**GOOD, "model": "m", "ok": True}, "nonsense", {**GOOD, "tags": ["a", "b"], "message": "mine"}]
    score_file(write(tmp_path, *rows), tmp_path / "out.csv", columns={"lyric": "output"})
    first, bad, last = csv.DictReader((tmp_path / "out.csv").read_text("utf-8").splitlines(keepends=True))
    assert list(first)[:2] == ["line", "id"]
    others = ["template", "lyric", "model", "ok", "tags", "source.message"]
    assert list(first)[-9:] == ["status", "message", "signature", *others]
    assert (first["lyric"], first["template"], first["model"], first["ok"]) == (LYRIC, TEMPLATE, "m", "true")
    assert (bad["model"], bad["lyric"], bad["status"]) == ("", "", "scorer_error")
    assert (last["tags"], last["message"], last["source.message"]) == ('["a", "b"]', "", "mine")


def test_scores_of_two_scorers_meet_in_one_file(tmp_path: Path) -> None:
    source = write(tmp_path, {**GOOD, "output": LYRIC})
    score_file(source, tmp_path / "a.jsonl")
    score_file(tmp_path / "a.jsonl", tmp_path / "b.jsonl", scorer="length")
    (row,) = read(tmp_path / "b.jsonl")
    assert row["lyric.total"] == score_lyric(LYRIC, TEMPLATE).total
    assert (row["length.characters"], row["signature"].partition("|")[0]) == (13, "length")
    assert row["source.signature"].startswith("lyric|")


@pytest.mark.slow
def test_a_scorer_of_a_file_scores_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from hengwen import Score\n"
        "class Own:\n"
        "    signature, names = 'own|v:1', ('own.length',)\n"
        "    def score(self, sample, response):\n"
        "        return [Score(name='own.length', value=len(response.text), signature=self.signature)]\n",
        "utf-8",
    )
    source = write(tmp_path, {**GOOD, "output": "abc"})
    for workers in (1, 2):
        score_file(source, tmp_path / "out.jsonl", scorer=f"{tmp_path}/own.py:Own", workers=workers)
        (row,) = read(tmp_path / "out.jsonl")
        assert (row["own.length"], row["signature"][:13]) == (3, "own|v:1|code:")


def test_options_reach_the_scorer(tmp_path: Path) -> None:
    score_file(
        write(tmp_path, GOOD),
        tmp_path / "out.jsonl",
        options={"rules": "muchin"},
        columns={"lyric": "output"},
    )
    (row,) = read(tmp_path / "out.jsonl")
    assert row["lyric.total"] == score_lyric(LYRIC, TEMPLATE, rules="muchin").total


@pytest.mark.slow
def test_workers_change_nothing(tmp_path: Path) -> None:
    source = write(
        tmp_path, *[{**GOOD, "id": f"r{i}", "lyric": LYRIC[: i % 14]} for i in range(450)], "bad", GOOD
    )
    for workers in (1, 2):
        score_file(source, tmp_path / f"{workers}.jsonl", columns={"lyric": "output"}, workers=workers)
    assert read(tmp_path / "1.jsonl") == read(tmp_path / "2.jsonl")


@pytest.mark.slow
def test_a_row_at_which_a_process_dies_is_a_failure_and_the_others_are_scored(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import os\n"
        "from hengwen import Score\n"
        "class Own:\n"
        "    signature, names = 'own|v:1', ('own.length',)\n"
        "    def score(self, sample, response):\n"
        "        if response.text == 'boom':\n"
        "            os._exit(9)\n"
        "        return [Score(name='own.length', value=len(response.text), signature=self.signature)]\n",
        "utf-8",
    )
    rows = [{**GOOD, "id": f"r{number}", "output": "boom" if number == 7 else "abc"} for number in range(10)]
    source = write(tmp_path, *rows)
    done = score_file(source, tmp_path / "out.jsonl", scorer=f"{tmp_path}/own.py:Own", workers=2)
    assert (done.rows, done.failed) == (10, 1)
    written = read(tmp_path / "out.jsonl")
    assert [row["own.length"] for row in written if row["status"] == "ok"] == [3] * 9
    assert (written[7]["line"], written[7]["id"], written[7]["output"]) == (8, "r7", "boom")
    assert written[7]["status"] == "scorer_error"
    assert "in.jsonl:8: the worker process that scored it died: exit code 9" in written[7]["message"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"target": "out.txt"}, ConfigError, "cannot tell the format of"),
        ({"scorer": "lyrics"}, ConfigError, "unknown scorer 'lyrics'; did you mean 'lyric'"),
        ({"scorer": "distinct_n"}, ConfigError, "scores sets of answers; use it in a plan"),
        ({"options": {"rules": "mine"}}, ConfigError, "scorer 'lyric': "),
        ({"target": "no/folder/out.jsonl"}, ConfigError, "does not exist; create it first"),
        ({"source": "none.jsonl"}, DataError, "none.jsonl: no such file"),
    ],
)
def test_what_cannot_work_is_said_and_leaves_no_file(
    tmp_path: Path, call: dict, error: type, message: str
) -> None:
    source = tmp_path / call.pop("source") if "source" in call else write(tmp_path, GOOD)
    target = tmp_path / call.pop("target", "out.jsonl")
    with pytest.raises(error, match=message):
        score_file(source, target, **call)
    assert sorted(path.name for path in tmp_path.iterdir()) in (["in.jsonl"], [])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        source = write(tmp_path, *[{**GOOD, "id": str(i)} for i in range(count)])
        score_file(source, tmp_path / "out.jsonl", columns={"lyric": "output"})  # caches are warm
        tracemalloc.start()
        score_file(source, tmp_path / "out.jsonl", columns={"lyric": "output"})
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(2000) < peak(200) + 200_000
