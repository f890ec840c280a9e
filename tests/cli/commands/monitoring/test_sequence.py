"""``hengwen sequence``: a column of numbers, in words and as JSON."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

SEED = "5\n4\n5\n4\n5\n4\n5\n4\n"


def test_the_published_example_as_json(hengwen, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(SEED, "utf-8")
    summary = hengwen("sequence", "x.txt", "--json").json
    assert [summary["metrics"][name]["value"] for name in ("pen", "cin", "lis")] == [
        0.6931471805599453,
        10,
        2,
    ]
    assert (summary["schema"], summary["n"], summary["mean"], summary["top_share"]) == (1, 8, 4.5, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("language", "message"), [("zh", "逆序数"), ("en", "Inversions: 10 of 28 pairs")])
def test_words_in_the_language_that_is_asked_for(
    hengwen, tmp_path: Path, language: str, message: str
) -> None:
    (tmp_path / "x.txt").write_text(SEED, "utf-8")
    assert message in hengwen("sequence", "x.txt", "--lang", language).out


@pytest.mark.slow
def test_the_numbers_are_written_as_rows(hengwen, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(SEED, "utf-8")
    done = hengwen("sequence", "x.txt", "-o", "x.csv", "-o", "x.html")
    assert (done.code, done.err) == (0, "report: x.csv\nreport: x.html\n")
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        values = {row["metric"]: float(row["value"]) for row in csv.DictReader(file)}
    assert values == {"pen": 0.6931471805599453, "cin": 10, "lis": 2, "lnds": 4}


def test_numbers_come_from_standard_input_and_from_a_column(hengwen, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SEED.encode())))
    first = hengwen("sequence", "-", "--json").json
    (tmp_path / "x.csv").write_text(
        "step,score\n" + "".join(f"1,{value}\n" for value in SEED.split()), "utf-8"
    )
    assert hengwen("sequence", "x.csv", "--column", "score", "--json").json == first
    rows = "".join(f'{{"score": {value}}}\n' for value in SEED.split())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    assert hengwen("sequence", "-", "--column", "score", "--json").json == first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("5\nfour\n", ["x.txt"], "x.txt:2: the line must be a number, got 'four'"),
        ("5\nnan\n", ["x.txt"], "x.txt:2: the line must be a finite number, got 'nan'"),
        ("", ["x.txt"], "x.txt: "),
        ("a,b\n1,2\n", ["x.csv"], "name one with --column"),
        ("a,b\n1,2\n", ["x.csv", "--column", "c"], "x.csv:2: field 'c' is missing"),
        ("5\n", ["x.txt", "--column", "c"], "--column is for .jsonl and .csv"),
        ("5\n", ["x.txt", "--lang", "fr"], "--lang is zh or en, got 'fr'"),
        ("5\n", ["y.txt"], "y.txt: no such file"),
    ],
)
def test_wrong_numbers_are_named_by_line(
    hengwen, tmp_path: Path, text: str, arguments: list, message: str
) -> None:
    (tmp_path / arguments[0].replace("y.", "x.")).write_text(text, "utf-8")
    done = hengwen("sequence", *arguments)
    assert done.code == 2
    assert message in done.err


def test_one_score_is_too_short_for_an_entropy_and_says_so(hengwen, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("5\n", "utf-8")
    done = hengwen("sequence", "x.txt", "--json")
    assert (done.code, "pen" in done.json["metrics"], done.json["metrics"]["cin"]["value"]) == (0, False, 0)
