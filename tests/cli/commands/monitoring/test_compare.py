"""``hengwen compare``: what is printed, in which width and language, and how it ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import yaml
from rich.cells import cell_len

pytestmark = pytest.mark.slow

PASSES = """\
from dataclasses import dataclass
from hengwen import Scale, Score


@dataclass(frozen=True)
class Passes:
    version: int = 1
    names = ("passes.value",)

    @property
    def signature(self) -> str:
        return f"passes|v:{self.version}"

    def score(self, sample, response):
        value = float("好" in response.text)
        return [Score(name="passes.value", value=value, signature=self.signature, scale=Scale(low=0, high=1))]
"""


def evaluate(hengwen, checkpoint: str, outputs: list[str], scorers: object = "passes.py:Passes") -> None:
    """Run a plan whose checkpoint gives these outputs, one a prompt; an empty one is missing."""
    Path("passes.py").write_text(PASSES, "utf-8")
    ids = [f"p{index}" for index in range(len(outputs))]
    Path("samples.jsonl").write_text("".join(f'{{"id": "{name}", "input": "问"}}\n' for name in ids), "utf-8")
    Path(f"{checkpoint}.jsonl").write_text(
        "".join(
            f'{{"id": "{name}", "output": "{text}"}}\n'
            for name, text in zip(ids, outputs, strict=True)
            if text
        ),
        "utf-8",
    )
    plan = {
        "name": "p",
        "tasks": [{"name": "t", "samples": "samples.jsonl", "scorers": [scorers]}],
        "checkpoints": [{"name": checkpoint, "responses": f"{checkpoint}.jsonl"}],
    }
    Path("plan.yaml").write_text(yaml.safe_dump(plan), "utf-8")
    assert hengwen("run", "plan.yaml", "--quiet", "--trust").code == 0


@pytest.fixture
def demo(hengwen, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with the runs of the packaged demo."""
    from importlib.resources import files

    assert hengwen("run", files("hengwen.demo") / "data" / "plan.yaml", "--quiet").code == 0
    monkeypatch.setenv("COLUMNS", "80")
    return "hengwen.db"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_fits_eighty_columns(hengwen, demo: str, language: str) -> None:
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "--lang", language, "--weights", "precision")
    assert done.code == 0
    assert max(map(cell_len, done.out.splitlines())) <= 80


def test_each_score_is_said_in_words(hengwen, demo: str) -> None:
    lines = hengwen("compare", "ckpt-3000", "ckpt-4000").out.splitlines()
    assert lines[0] == "ckpt-3000 → ckpt-4000"
    assert "headline scores: 3 tests, p corrected by Holm" in lines
    assert any(line.startswith("breakdowns: ") and line.endswith("p corrected by BH") for line in lines)
    start = lines.index("persona/persona_generic.level: worse")
    text = " ".join(line.strip() for line in lines[start + 1 : start + 4])
    assert text.startswith("0.760 → 0.281, difference -0.479 [-0.554, -0.405], p = .0015, 12 prompts ")
    assert "smallest detectable difference 0.125; 0 wins, 12 losses, 0 ties; Cliff's delta -1.00" in text
    assert "P(B>A) 0.00" in text
    assert "lyrics/lyric_craft.level: no difference seen" in lines
    group = lines.index("lyrics/distinct_2.checkpoint: not comparable")
    assert lines[group + 1].strip() == "one value for a group of answers, none for each prompt"


def test_chinese_has_no_english_sentences(hengwen, demo: str) -> None:
    out = hengwen("compare", "ckpt-3000", "ckpt-4000", "--lang", "zh").out
    assert "persona/persona_generic.level: 更差" in out
    assert "主要分数：共 3 次检验，p 按 Holm 法校正" in out
    assert "可检出的最小差别" in out
    assert "difference" not in out


def test_json_has_everything(hengwen, demo: str) -> None:
    document = hengwen("compare", "ckpt-3000", "ckpt-4000", "--json").json
    assert document["families"]["headline"] == {"correction": "holm", "tests": 3}
    assert document["before"]["checkpoint"] == "ckpt-3000"
    scores = {score["address"]: score for score in document["scores"]}
    level = scores["persona/persona_generic.level"]
    assert (level["outcome"], level["family"]) == ("worse", "headline")
    assert level["test"]["prompts"] == 12
    assert level["interval"]["bounds"] == level["interval"]["t"]
    assert {"p_adjusted", "detectable", "effects", "mcnemar_p", "equal_length", "weighted"} <= level.keys()


def test_quiet_prints_nothing(hengwen, demo: str) -> None:
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_weights_are_labelled_as_another_estimand(hengwen, demo: str) -> None:
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "--weights", "precision")
    assert "weighted by precision (another estimand): " in done.out
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "--weights", "size")
    assert (done.code, done.out) == (2, "")
    assert "--weights is equal or precision, got 'size'" in done.err


def test_runs_that_are_not_comparable_are_refused_with_their_difference(hengwen) -> None:
    evaluate(hengwen, "a", ["好"] * 7)
    evaluate(hengwen, "b", ["好"] * 7, {"passes.py:Passes": {"version": 2}})
    done = hengwen("compare", "a", "b")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "hengwen: a and b are not comparable: signatures differ: v:1 (a); v:2 (b) (t/passes.value); run both "
        "with the same settings, or compare what is equal (--common) or other scores (--score)\n"
    )


def test_common_says_how_many_prompts_are_left_out(hengwen) -> None:
    evaluate(hengwen, "a", ["坏"] * 12)
    Path("samples.jsonl").unlink()
    evaluate(hengwen, "b", ["好"] * 12)
    assert hengwen("compare", "a", "b", "--common").code == 0
    text = Path("samples.jsonl").read_text("utf-8").replace('"p1", "input": "问"', '"p1", "input": "另问"')
    Path("samples.jsonl").write_text(text, "utf-8")
    assert hengwen("run", "plan.yaml", "--quiet", "--trust", "--fresh").code == 0
    assert "samples differ: " in hengwen("compare", "a", "b").err
    done = hengwen("compare", "a", "b", "--common")
    assert "1 prompt that differs between the runs is left out" in done.out
    assert "11 wins, 0 losses, 0 ties" in done.out


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            ["坏"] * 12, ["好"] * 11 + ["坏"], "McNemar's p = .0010, not corrected", id="passes and failures"
        ),
        pytest.param(["坏"] * 4, ["好"] * 4, "at least 6 independent prompts are needed", id="few"),
        pytest.param(["坏"] * 4, ["好"] * 4, "t/passes.value: too few prompts", id="few in words"),
        pytest.param(["好"] * 8, ["好"] * 8, "all prompts have the same difference", id="constant"),
        pytest.param(["好"] * 8, ["好"] * 8, "p = 1.00", id="constant p"),
        pytest.param(
            ["好"] * 8, ["好"] * 4 + [""] * 4, "too many missing scores for a verdict", id="missing samples"
        ),
        pytest.param(
            ["好"] * 8, ["好"] * 4 + [""] * 4, "only 100% / 50% of the prompts have a score", id="shares"
        ),
        pytest.param(["好"] * 12, ["好。"] * 12, "all lengths changed by the same ratio", id="one ratio"),
        pytest.param(["好"] * 8, ["好"] * 8, "not estimated below 10 independent prompts", id="no slope"),
    ],
)
def test_what_cannot_be_decided_is_said(hengwen, before: list[str], after: list[str], expected: str) -> None:
    evaluate(hengwen, "a", before)
    evaluate(hengwen, "b", after)
    done = hengwen("compare", "a", "b")
    assert done.code == 0
    assert expected in done.out


def test_without_repeats_there_are_no_weights(hengwen) -> None:
    evaluate(hengwen, "a", ["好"] * 8)
    evaluate(hengwen, "b", ["好"] * 8)
    done = hengwen("compare", "a", "b", "--weights", "precision")
    assert "no weights: prompts have no repeats to average" in done.out


def test_one_checkpoint_is_not_compared_with_itself(hengwen) -> None:
    evaluate(hengwen, "a", ["好"])
    done = hengwen("compare", "a", "a")
    assert done.code == 2
    assert "'a' and 'a' are one run" in done.err
    assert hengwen("compare", "a", "z").code == 2
    assert hengwen("compare", "a", "z", "--store", "none.db").code == 2


def test_clusters_and_unequal_repeats_are_said(hengwen) -> None:
    evaluate(hengwen, "a", ["坏"] * 8)
    samples = [f'{{"id": "p{i}", "input": "问", "cluster": "c{i // 2}"}}\n' for i in range(8)]
    Path("samples.jsonl").write_text("".join(samples), "utf-8")
    for name, repeats in (("a", 1), ("b", 2)):
        rows = [
            f'{{"id": "p{i}", "output": "好", "repeat": {r + 1}}}\n' for i in range(8) for r in range(repeats)
        ]
        Path("a.jsonl").write_text("".join(rows), "utf-8")
        plan = Path("plan.yaml").read_text("utf-8").replace("name: a", f"name: {name}")
        Path("plan.yaml").write_text(plan, "utf-8")
        assert hengwen("run", "plan.yaml", "--quiet", "--trust", "--fresh").code == 0
    out = hengwen("compare", "a", "b").out
    assert "8 prompts in 4 clusters" in out
    assert "8 prompts with unequal repeats: equally many of both are compared" in out


def test_a_run_of_an_older_version_is_warned_of(hengwen) -> None:
    for name in "ab":
        evaluate(hengwen, name, ["好"] * 8)
    with sqlite3.connect("hengwen.db") as connection:
        connection.execute("UPDATE run SET facts = '{}' WHERE checkpoint = 'b'")
    connection.close()
    done = hengwen("compare", "a", "b")
    assert done.code == 0
    assert "b is a run of an older version: whether it is comparable is not known" in done.err


def test_without_a_first_run_the_pinned_baseline_is_compared(hengwen, demo: str) -> None:
    assert hengwen("compare", "ckpt-4000").code == 2
    assert "has no baseline: name two runs, or pin one" in hengwen("compare", "ckpt-4000").err
    hengwen("runs", "pin", "ckpt-2000")
    assert hengwen("compare", "ckpt-4000").out.splitlines()[0] == "ckpt-2000 → ckpt-4000"
    report = hengwen("report", "--lang", "en").out
    assert "the last with the baseline ckpt-2000" in " ".join(report.split())
    assert "ckpt-2000 (baseline)" in report
    assert "at most two" in hengwen("compare", "ckpt-1000", "ckpt-2000", "ckpt-3000").err
