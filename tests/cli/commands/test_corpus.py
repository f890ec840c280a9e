"""``hengwen corpus``: every option works or is refused with one line."""

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
    done = hengwen("corpus", "hyp.txt", "--refs", "ref.txt", "--refs", "other.txt", "--json")
    rows = [list(row) for row in zip(REFERENCES, OTHERS, strict=True)]
    assert [score["value"] for score in done.json["scores"]] == [
        score.value for score in corpus_scores(HYPOTHESES, rows)
    ]
    assert (done.code, done.err) == (0, "")


def test_a_text_without_a_reference_is_left_out_with_a_warning_and_fails_under_strict(hengwen) -> None:
    done = hengwen("corpus", "hyp.txt", "--refs", "partial.txt", "--metrics", "bleu,rougeL")
    assert done.code == 0
    assert re.findall(r"^(\S+) .*\]  +(\d+)  +(\d+)$", done.out, re.MULTILINE) == [
        ("bleu.corpus", "2", "1"),
        ("rouge_l.mean", "2", "1"),
    ]
    assert done.err == (
        "hengwen: warning: bleu.corpus, rouge_l.mean: left out 1 of 3 texts, first: "
        "text 2: the reference is empty\n"
    )
    assert hengwen("corpus", "hyp.txt", "--refs", "partial.txt", "--strict").code == 1
    assert hengwen("corpus", "hyp.txt", "--refs", "ref.txt", "--strict").code == 0


def test_the_output_file_has_a_row_for_each_metric(hengwen, tmp_path: Path) -> None:
    hengwen("corpus", "hyp.txt", "--refs", "ref.txt", "-o", "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    scores = corpus_scores(HYPOTHESES, REFERENCES)
    assert [(row["score"], float(row["value"]), row["score_signature"]) for row in rows] == [
        (score.name, score.value, score.signature) for score in scores
    ]
    assert [float(row["value_low"]) for row in rows] == [score.interval[0] for score in scores]
    quiet = hengwen("corpus", "hyp.txt", "--refs", "ref.txt", "-o", "out.json", "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "report: out.json\n")
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert len(written["scores"]) == 3


def test_options_reach_the_metrics(hengwen) -> None:
    settings = ["tokenize=char", "rougeL.beta=2", "multi_ref=pooled", "ter.tokenize=whitespace"]
    settings += ["confidence=0.9", "resamples=20"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    done = hengwen("corpus", *REFS, "--seed", "3", "--metrics", "bleu,ter,rougeL", *arguments, "--json")
    bleu, ter, rouge = done.json["scores"]
    assert (bleu["tokenizer"], ter["tokenizer"], rouge["tokenizer"]) == ("char", "whitespace", "char")
    assert "|beta:2|refs:pooled|" in rouge["signature"]
    assert bleu["confidence"] == 0.9


def test_a_tokenizer_that_a_metric_does_not_know_is_a_warning(hengwen) -> None:
    done = hengwen("corpus", "hyp.txt", "--refs", "ref.txt", "--set", "tokenize=zh")
    assert done.err == "hengwen: warning: tokenize zh does not exist for rougeL, which uses auto\n"


def test_two_systems_are_compared_by_a_paired_test(hengwen, tmp_path: Path) -> None:
    arguments = [*REFS, "--baseline", "base.txt", "--paired", "bs", "--trials", "50", "--seed", "5"]
    done = hengwen("corpus", *arguments, "--metrics", "chrf,rougeL", "-o", "out.csv", "--json")
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
    text = hengwen("corpus", *arguments, "--metrics", "chrf").out
    assert "p: paired bootstrap, 50 trials, seed 5, n=3; not corrected" in text


def test_the_test_is_approximate_randomization_by_default(hengwen) -> None:
    done = hengwen("corpus", "hyp.txt", "--refs", "ref.txt", "--baseline", "base.txt", "--metrics", "rougeL")
    assert "p: approximate randomization, 10,000 trials, seed 12345, n=3" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hyp.txt", "--metrics", "bleu"), "Missing option '--refs'"),
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
            "rows.jsonl: hengwen corpus compares text files with one text per line, not .jsonl files",
        ),
    ],
)
def test_what_does_not_apply_is_refused_with_one_line(
    hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "blank.txt").write_text("\n\n \n", "utf-8")
    (tmp_path / "marks.txt").write_text("！\n？\n……\n", "utf-8")
    monkeypatch.setattr("hengwen.objective.overlap.sacre.find_spec", lambda name: None)
    done = hengwen("corpus", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"hengwen: {message}")
    assert done.err.count("\n") == 1


def test_a_text_that_only_one_system_has_a_rouge_for_is_no_part_of_the_test(hengwen, tmp_path: Path) -> None:
    (tmp_path / "left.txt").write_text("今晚\n！\n！\n", "utf-8")
    (tmp_path / "right.txt").write_text("！\n我在\n！\n", "utf-8")
    done = hengwen(
        "corpus", "left.txt", "--refs", "ref.txt", "--baseline", "right.txt", "--metrics", "rougeL"
    )
    assert (done.code, done.err) == (2, "hengwen: right.txt: no text has rouge_l.mean for both systems\n")


@pytest.mark.slow
def test_an_output_that_is_an_input_is_refused_before_the_work(hengwen, tmp_path: Path) -> None:
    for name in ("hyp.txt", "ref.txt", "base.txt"):
        (tmp_path / "out.csv").unlink(missing_ok=True)
        (tmp_path / "out.csv").hardlink_to(tmp_path / name)
        done = hengwen("corpus", *REFS, "--baseline", "base.txt", "-o", "out.csv")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f"out.csv: the output would replace the input {name}" in done.err
    done = hengwen("corpus", *REFS, "-o", "absent/out.csv")
    assert (done.code, done.out) == (2, "")


def test_one_text_has_no_interval(hengwen, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("今晚月色真美", "utf-8")
    done = hengwen("corpus", "one.txt", "--refs", "one.txt", "--metrics", "chrf", "-o", "out.json")
    assert re.search(r"^chrf.corpus +100.00 +1 +–$", done.out, re.MULTILINE)
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["scores"][0]["interval"] is None


def test_a_text_is_compared_with_its_references_line_by_line(hengwen, tmp_path: Path) -> None:
    (tmp_path / "hyp.txt").write_text("今晚月色真美\n我在灯下等你回来\n", "utf-8")
    (tmp_path / "ref.txt").write_text("今晚月色真美\n我在灯下等你回来\n", "utf-8")
    (tmp_path / "other.txt").write_text("今晚月亮很圆\n我在窗前等你\n", "utf-8")
    sets = ("--refs", "ref.txt", "--refs", "other.txt")
    done = hengwen("corpus", "hyp.txt", *sets, "--metrics", "bleu,rougeL", "--json")
    bleu, rouge = done.json["scores"]
    assert (bleu["name"], bleu["n"], bleu["tokenizer"]) == ("bleu.corpus", 2, "zh")
    assert bleu["value"] == pytest.approx(100)
    assert (rouge["name"], rouge["value"]) == ("rouge_l.mean", 1.0)
    out = hengwen("corpus", "--refs", "other.txt", "hyp.txt").out
    assert re.findall(r"^(\S+) .* 2 ", out, re.MULTILINE) == ["bleu.corpus", "chrf.corpus", "rouge_l.mean"]
    assert "tok:zh" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--refs", "short.txt"], "short.txt: 1 lines, but hyp.txt has 2"),
        (["--refs", "none.txt"], "none.txt: no such file"),
        (["--refs", "empty.txt"], "empty.txt: no lines"),
        (["--refs", "hyp.txt", "--metrics", "blue"], "unknown metric 'blue'; did you mean 'bleu'?"),
    ],
)
def test_references_that_do_not_fit_are_told(
    hengwen, tmp_path: Path, arguments: list[str], message: str
) -> None:
    for name, text in (("hyp.txt", "你好呀\n在吗\n"), ("short.txt", "你好\n"), ("empty.txt", "")):
        (tmp_path / name).write_text(text, "utf-8")
    done = hengwen("corpus", "hyp.txt", *arguments)
    assert (done.code, message in done.err) == (2, True), done.err
