"""``hengwen monitor``: alarms in words and as JSON, exit codes, and a stream that is still written."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

BASELINE = [0.5, 0.75, 0.75, 1.0] * 30
QUIET = [0.75, 1.0, 0.5, 0.75] * 5
LOW = [0.25, 0.5, 0.75] * 10


def write(name: str, scores: list[float]) -> None:
    Path(name).write_text("".join(f"{score}\n" for score in scores), "utf-8")


@pytest.fixture(autouse=True)
def files(hengwen) -> None:
    write("baseline.txt", BASELINE)
    write("quiet.txt", QUIET)
    write("low.txt", [*QUIET, *LOW])


@pytest.mark.slow
def test_no_alarm_ends_with_0_and_says_how_often_there_would_be_a_false_one(hengwen) -> None:
    done = hengwen("monitor", "baseline.txt", "quiet.txt", "--scale", "0", "1", "-o", "m.csv")
    assert done.code == 0
    assert "No alarm in 20 scores." in done.out
    assert "an alarm within 1000 scores has a probability of about 0.05" in done.out
    assert "neighbouring scores of the baseline are not seen to correlate" in done.out
    header, row = Path("m.csv").read_text("utf-8").splitlines()
    columns = dict(zip(header.split(","), row.split(","), strict=True))
    assert (columns["scores"], columns["mean"], columns["baseline"], columns["difference"]) == (
        *("20", "0.75", "0.75", "0.0"),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "options", "zh", "en"),
    [
        (QUIET, ["--scale", "0", "1"], "区间可随时查看", "the intervals may be read at any time"),
        (
            QUIET * 6,
            [],
            "区间可随时查看，但未给出 --scale，只是近似",
            "the intervals may be read at any time, but are approximate without --scale",
        ),
        (
            QUIET,
            [],
            "未给出 --scale，满 100 个且不全相同的分数后才有区间",
            "without --scale, intervals need 100 scores that are not all equal",
        ),
    ],
)
def test_the_intervals_are_only_promised_with_a_scale(hengwen, scores, options, zh: str, en: str) -> None:
    write("scores.txt", scores)
    for language, text in (("zh", zh), ("en", en)):
        done = hengwen("monitor", "baseline.txt", "scores.txt", *options, "--lang", language)
        assert text in done.out.splitlines()


def test_an_alarm_ends_with_3_and_is_printed_before_the_summary(hengwen) -> None:
    done = hengwen("monitor", "baseline.txt", "low.txt", "--horizon", "40", "--direction", "down")
    assert done.code == 3
    lines = done.out.splitlines()
    alarm = "score 25: alarm, the mean is lower than the baseline's, probably since score 19"
    assert lines[:3] == [alarm, "monitor · 50 scores", f"{alarm.capitalize()}."]
    assert lines[-1] == "the stream is longer: more false alarms are to be expected"


def test_the_alarm_in_chinese(hengwen) -> None:
    done = hengwen("monitor", "baseline.txt", "low.txt", "--lang", "zh", "--horizon", "50")
    assert "警报，均值下降，变化大约始于第 19 个分数" in done.out
    assert "无变化时，前 50 个分数内误报的概率约为 0.05" in done.out


def test_stop_ends_at_the_alarm(hengwen) -> None:
    whole = hengwen("monitor", "baseline.txt", "low.txt", "--horizon", "50", "--json")
    stopped = hengwen("monitor", "baseline.txt", "low.txt", "--horizon", "50", "--json", "--stop")
    assert (whole.code, stopped.code) == (3, 3)
    assert whole.json["alarm"] == stopped.json["alarm"]
    assert (whole.json["n"], stopped.json["n"]) == (50, whole.json["alarm"]["at"])


@pytest.mark.slow
def test_json_has_settings_and_state(hengwen) -> None:
    options = ["--scale", "0", "1", "--alpha", "0.01", "--json"]
    document = hengwen("monitor", "baseline.txt", "quiet.txt", *options).json
    assert document["schema"] == 1
    assert (document["alpha"], document["horizon"], document["scale"]) == (0.01, 1000, [0, 1])
    assert (document["n"], document["alarm"], document["mean"]) == (20, None, 0.75)
    assert document["down"] < document["down_threshold"]


def test_quiet_prints_nothing(hengwen) -> None:
    done = hengwen("monitor", "baseline.txt", "low.txt", "--quiet", "--horizon", "50")
    assert (done.code, done.out, done.err) == (3, "", "")


@pytest.mark.slow
def test_scores_come_from_a_column_and_json_lines_from_standard_input(hengwen, monkeypatch) -> None:
    first = hengwen("monitor", "baseline.txt", "low.txt", "--json").json
    rows = "".join(f'{{"id": "a", "score": {score}}}\n' for score in [*QUIET, *LOW])
    Path("baseline.csv").write_text("score\n" + "".join(f"{score}\n" for score in BASELINE), "utf-8")
    Path("low.jsonl").write_text(rows, "utf-8")
    column = ["--column", "score", "--json"]
    assert hengwen("monitor", "baseline.csv", "low.jsonl", *column).json == first
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    assert hengwen("monitor", "baseline.csv", "-", *column).json == first


@pytest.mark.slow
def test_a_stream_that_is_still_written_raises_its_alarm_at_once(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "hengwen", "monitor", "baseline.txt", "-", "--horizon", "50", "--lang", "en"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{score}\n" for score in [*QUIET, *LOW]))
        process.stdin.flush()
        line = process.stdout.readline()  # standard input is still open
        process.stdin.close()
        rest = process.stdout.read()
    assert line.startswith("score 27: alarm")
    assert rest.startswith("monitor · 50 scores")
    assert process.returncode == 3


@pytest.mark.slow
def test_standard_input_of_the_shell_is_the_same_as_a_file(hengwen, monkeypatch) -> None:
    first = hengwen("monitor", "baseline.txt", "low.txt", "--json").out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("low.txt").read_bytes())))
    assert json.loads(hengwen("monitor", "baseline.txt", "-", "--json").out) == json.loads(first)
