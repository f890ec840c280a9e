"""``hengwen import scores``, and the commands that then read the scores without one call."""

from __future__ import annotations

import random
from pathlib import Path

import pytest


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Write what two judges and two people say about two checkpoints, and one failure of a judge."""
    generator = random.Random(5)
    lines = ["model,step,question_id,judge,rater,rating"]
    for step, model in enumerate(("base", "tuned"), start=1):
        for question in range(40):
            quality = generator.randint(1, 5 - (step == 2) * 2)
            for name in ("g4", "q3"):
                lines.append(f"{model},{step},{question},{name},,{max(1, quality - generator.randint(0, 1))}")
            lines += [f"{model},{step},{question},,{rater},{quality}" for rater in ("ann", "bo")]
    lines[1] = lines[1].rpartition(",")[0] + ",error"
    file = tmp_path / "judged.csv"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


@pytest.mark.slow
def test_every_command_reads_imported_scores(hengwen, judged: Path) -> None:
    done = hengwen("import", "scores", "judged.csv", "--scale", "1,2,3,4,5")
    assert done.code == 0
    assert done.out == "hengwen.db: 2 runs, 159 scores, 1 failure (1 parse_error)\n"
    assert (
        "columns: score=rating, id=question_id, checkpoint=model, step=step, judge=judge, rater=rater"
        in done.err
    )
    again = hengwen("import", "scores", "judged.csv", "--scale", "1,2,3,4,5")
    assert again.out.endswith("known already, nothing recorded\n")
    assert set(hengwen("report", "--json").json["runs"][0]["scores"]) == {
        *("scores/g4.level", "scores/q3.level", "scores/human.g4.level", "scores/human.q3.level")
    }
    compared = hengwen("compare", "base", "tuned", "--json").json["scores"]
    assert {score["outcome"] for score in compared} == {"worse"}
    assert {score["differs"] for score in hengwen("drift", "--json").json["scores"]} == {"differ"}
    calibrated = hengwen("calibrate", "hengwen.db", "--json").json["calibrations"]
    assert [(item["score"], item["decision"]) for item in calibrated] == [
        ("g4.level", "certified"),
        ("q3.level", "certified"),
    ]
    ranked = hengwen("peer-review", "hengwen.db", "--json").json
    assert [model["name"] for model in ranked["models"]] == ["base", "tuned"]
    assert ranked["failures"] == 1
    (gate,) = hengwen("gate", "judged", "--gate", "scores/g4.level >= 4.9", "--json").json["gates"]
    assert gate["outcome"] == "failed"


def test_a_wrong_column_is_one_line(hengwen, judged: Path) -> None:
    done = hengwen("import", "scores", "judged.csv", "--columns", "score=ratings")
    assert done.code == 2
    assert done.err == "hengwen: judged.csv: no column 'ratings'; did you mean 'rating'?\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--judge-name", "gpt-x", "--scale", "1-10"], ["--scorer", "gpt-x"], []])
def test_every_imported_score_is_reported_tested_and_decides(
    hengwen, tmp_path: Path, options: list[str]
) -> None:
    generator = random.Random(3)
    lines = ["model,id,fluency,tone"]
    for model, fall in (("base", 0), ("tuned", 2)):
        lines += [f"{model},{i},{generator.randint(6, 8)},{8 - fall + i % 2}" for i in range(20)]
    (tmp_path / "judged.csv").write_text("\n".join(lines) + "\n", "utf-8")
    columns = ["--columns", "score=fluency", "--columns", "score=tone"]
    assert hengwen("import", "scores", "judged.csv", *columns, *options).code == 0
    scores = hengwen("compare", "base", "tuned", "--json").json["scores"]
    assert [(item["address"].endswith("tone"), item["family"]) for item in scores] == [
        (False, "headline"),
        (True, "headline"),
    ]
    assert scores[1]["outcome"] == "worse"
    first = hengwen("report").out.splitlines()[1]
    assert first.startswith("Ship base.")
    assert "tone" in first


@pytest.mark.slow
def test_a_judge_without_levels_is_calibrated_by_raters_one_by_one_or_by_majority(
    hengwen, judged: Path
) -> None:
    assert hengwen("import", "scores", "judged.csv", "--scale", "1-5").code == 0
    for raters in ("mean", "majority", "ann"):
        done = hengwen("calibrate", "hengwen.db", "--raters", raters, "-v")
        assert done.code in {0, 3}
        assert "quadratic kappa" in done.out
    assert "no labels by the rater 'zoe'" in hengwen("calibrate", "hengwen.db", "--raters", "zoe").err


def test_without_a_scale_calibrate_says_how_to_give_one(hengwen, judged: Path) -> None:
    assert hengwen("import", "scores", "judged.csv").code == 0
    done = hengwen("calibrate", "hengwen.db")
    assert (done.code, "or --scale when the scores are imported" in done.err) == (2, True)
