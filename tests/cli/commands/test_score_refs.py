"""``hengwen score --refs``: every option works or is refused with one line."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from hengwen.objective import compare_systems, corpus_scores

HYPOTHESES = ["今晚月色真美", "我在灯下等你回来", "你好"]
BASELINE = ["今晚月亮", "我在窗前等你回来", "好"]
REFERENCES = ["今晚月色很美", "我在灯下等你", "你好呀"]
REFS = ("hyp.txt", "--refs", "ref.txt")
OTHERS = ["今晚月亮真圆", "", ""]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    for name, lines in (
        ("hyp", HYPOTHESES),
        ("base", BASELINE),
        ("ref", REFERENCES),
        ("other", OTHERS),
        ("partial", [REFERENCES[0], "", REFERENCES[2]]),
    ):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def test_a_blank_line_is_a_missing_reference(hengwen) -> None:
    done = hengwen("score", "hyp.txt", "--refs", "ref.txt", "--refs", "other.txt", "--json")
    rows = [list(row) for row in zip(REFERENCES, OTHERS, strict=True)]
    assert [score["value"] for score in done.json["scores"]] == [
        score.value for score in corpus_scores(HYPOTHESES, rows)
    ]
    assert (done.code, done.err) == (0, "")


def test_a_text_without_a_reference_is_left_out_with_a_warning_and_fails_under_strict(hengwen) -> None:
    done = hengwen("score", "hyp.txt", "--refs", "partial.txt", "--metrics", "bleu,rougeL")
    assert done.code == 0
    assert re.findall(r"^(\S+) .*\]  +(\d+)  +(\d+)$", done.out, re.MULTILINE) == [
        ("bleu.corpus", "2", "1"),
        ("rouge_l.mean", "2", "1"),
    ]
    assert done.err == (
        "hengwen: warning: bleu.corpus, rouge_l.mean: left out 1 of 3 texts, first: "
        "text 2: the reference is empty\n"
    )
    assert hengwen("score", "hyp.txt", "--refs", "partial.txt", "--strict").code == 1
    assert hengwen("score", "hyp.txt", "--refs", "ref.txt", "--strict").code == 0


def test_the_output_file_has_a_row_for_each_metric(hengwen, tmp_path: Path) -> None:
    hengwen("score", "hyp.txt", "--refs", "ref.txt", "-o", "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    scores = corpus_scores(HYPOTHESES, REFERENCES)
    assert [(row["score"], float(row["value"]), row["score_signature"]) for row in rows] == [
        (score.name, score.value, score.signature) for score in scores
    ]
    assert [float(row["value_low"]) for row in rows] == [score.interval[0] for score in scores]
    quiet = hengwen("score", "hyp.txt", "--refs", "ref.txt", "-o", "out.json", "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "report: out.json\n")
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert len(written["scores"]) == 3


def test_options_reach_the_metrics(hengwen) -> None:
    settings = ["tokenize=char", "rougeL.beta=2", "several=pooled", "ter.tokenize=whitespace"]
    settings += ["confidence=0.9", "resamples=20"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    done = hengwen("score", *REFS, "--seed", "3", "--metrics", "bleu,ter,rougeL", *arguments, "--json")
    bleu, ter, rouge = done.json["scores"]
    assert (bleu["tokenizer"], ter["tokenizer"], rouge["tokenizer"]) == ("char", "whitespace", "char")
    assert "|beta:2|refs:pooled|" in rouge["signature"]
    assert bleu["confidence"] == 0.9


def test_a_tokenizer_that_a_metric_does_not_know_is_a_warning(hengwen) -> None:
    done = hengwen("score", "hyp.txt", "--refs", "ref.txt", "--set", "tokenize=zh")
    assert done.err == "hengwen: warning: tokenize zh does not exist for rougeL, which uses auto\n"


def test_two_systems_are_compared_by_a_paired_test(hengwen, tmp_path: Path) -> None:
    arguments = [*REFS, "--baseline", "base.txt", "--paired", "bs", "--trials", "50", "--seed", "5"]
    done = hengwen("score", *arguments, "--metrics", "chrf,rougeL", "-o", "out.csv", "--json")
    expected = compare_systems(
        HYPOTHESES, BASELINE, REFERENCES, metrics=["chrf", "rougeL"], test="bs", trials=50, seed=5
    )
    assert [comparison["p"] for comparison in done.json["comparisons"]] == [test.p for test in expected]
    assert [score["name"] for score in done.json["baseline"]] == ["chrf.corpus", "rouge_l.mean"]
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            (float(row["difference"]), float(row["p"]), row["p_test"], row["p_trials"], row["p_seed"])
            for row in csv.DictReader(file)
        ]
    assert rows == [(test.difference, test.p, "bs", "50", "5") for test in expected]
    text = hengwen("score", *arguments, "--metrics", "chrf").out
    assert "p: paired bootstrap, 50 trials, seed 5, n=3; not corrected" in text


def test_the_test_is_approximate_randomization_by_default(hengwen) -> None:
    done = hengwen("score", "hyp.txt", "--refs", "ref.txt", "--baseline", "base.txt", "--metrics", "rougeL")
    assert "p: approximate randomization, 10,000 trials, seed 12345, n=3" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*REFS, "--scorer", "bleu"), "--scorer does not apply with --refs: choose metrics with --metrics"),
        (
            (*REFS, "--column", "a=b"),
            "--column does not apply with --refs: its files have one text per line",
        ),
        ((*REFS, "--workers", "2"), "--workers does not apply with --refs: it uses one process"),
        ((*REFS, "--paired", "bs"), "--paired needs --baseline, the other system"),
        ((*REFS, "--trials", "9"), "--trials needs --baseline, the other system"),
        ((*REFS, "-o", "out.txt"), "unknown format '.txt' of 'out.txt'; "),
        (
            (*REFS, "--metrics", "chrf", "--set", "tokenize=char"),
            "unknown option 'tokenize' of chrf; known: beta, lowercase, width, word_order",
        ),
        ((*REFS, "--set", "confidence=95"), "confidence must lie in (0, 1), got 95"),
        ((*REFS, "--set", "resamples=0"), "resamples must be a whole number >= 1, got 0"),
        (
            (*REFS, "--set", "tokenize=ja-mecab"),
            "tokenize ja-mecab needs the package MeCab, install it with pip install 'sacrebleu[ja]'",
        ),
        ((*REFS, "--baseline", "none.txt"), "none.txt: no such file"),
        ((*REFS, "--baseline", "blank.txt"), "blank.txt: every hypothesis is empty: no overlap is defined"),
        ((*REFS, "--baseline", "marks.txt"), "marks.txt: too short for 4-grams"),
        (
            ("marks.txt", "--refs", "marks.txt", "--baseline", "hyp.txt", "--metrics", "rougeL"),
            "marks.txt: no text has a ROUGE: text 1: the hypothesis has no token",
        ),
        (
            ("rows.jsonl", "--refs", "ref.txt"),
            "rows.jsonl: --refs compares text files with one text per line, not .jsonl files",
        ),
        (("hyp.txt", "--metrics", "bleu"), "--metrics needs --refs, which compares text files"),
        (("hyp.txt", "--baseline", "base.txt"), "--baseline needs --refs, which compares text files"),
        (("hyp.txt", "--seed", "1"), "--seed needs --refs, which compares text files"),
    ],
)
def test_what_does_not_apply_is_refused_with_one_line(
    hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "blank.txt").write_text("\n\n \n", "utf-8")
    (tmp_path / "marks.txt").write_text("！\n？\n……\n", "utf-8")
    monkeypatch.setattr("hengwen.objective.overlap.optional_tokenizers.find_spec", lambda name: None)
    done = hengwen("score", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"hengwen: {message}")
    assert done.err.count("\n") == 1


def test_a_text_that_only_one_system_has_a_rouge_for_is_no_part_of_the_test(hengwen, tmp_path: Path) -> None:
    (tmp_path / "left.txt").write_text("今晚\n！\n！\n", "utf-8")
    (tmp_path / "right.txt").write_text("！\n我在\n！\n", "utf-8")
    done = hengwen("score", "left.txt", "--refs", "ref.txt", "--baseline", "right.txt", "--metrics", "rougeL")
    assert (done.code, done.err) == (2, "hengwen: right.txt: no text has rouge_l.mean for both systems\n")


@pytest.mark.slow
def test_an_output_that_is_an_input_is_refused_before_the_work(hengwen, tmp_path: Path) -> None:
    for name in ("hyp.txt", "ref.txt", "base.txt"):
        (tmp_path / "out.csv").unlink(missing_ok=True)
        (tmp_path / "out.csv").hardlink_to(tmp_path / name)
        done = hengwen("score", *REFS, "--baseline", "base.txt", "-o", "out.csv")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f"out.csv: the output would replace the input {name}" in done.err
    done = hengwen("score", *REFS, "-o", "absent/out.csv")
    assert (done.code, done.out) == (2, "")


def test_one_text_has_no_interval(hengwen, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("今晚月色真美", "utf-8")
    done = hengwen("score", "one.txt", "--refs", "one.txt", "--metrics", "chrf", "-o", "out.json")
    assert re.search(r"^chrf.corpus +100.00 +1 +–$", done.out, re.MULTILINE)
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["scores"][0]["interval"] is None


def test_rows_are_counted_as_json_where_asked(hengwen, tmp_path: Path) -> None:
    row = {"id": "a", "template": "(verse)\ncc", "output": "(verse)\n月光"}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    done = hengwen("score", "in.jsonl", "-o", "out.jsonl", "--json")
    assert done.json == {"schema": 1, "output": "out.jsonl", "rows": 1, "failed": 0, "first_failure": ""}
    assert done.err == ""
