"""``hengwen compare``: what is printed and written, what is refused, and how it ends."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
import yaml

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
def demo(hengwen) -> str:
    """A store with the runs of the packaged demo."""
    from importlib.resources import files

    assert hengwen("run", files("hengwen.demo") / "data" / "plan.yaml", "--quiet").code == 0
    return "hengwen.db"


def test_each_score_is_said_in_words_and_written_to_files(hengwen, demo: str) -> None:
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "-o", "c.html", "-o", "c.csv")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "compare ckpt-3000 → ckpt-4000 · 12 common prompts"
    assert lines[1].startswith("ckpt-4000 is worse than ckpt-3000 in character, but better")
    assert any(line.startswith("▼ Worse: character 0.7") for line in lines)
    assert "Cliff's delta" not in done.out
    verbose = hengwen("compare", "ckpt-3000", "ckpt-4000", "-v").out
    assert "headline scores: 3 tests, p corrected by maxT" in verbose
    assert "ckpt-4000 0.91 is better than ckpt-3000" in " ".join(verbose.split())
    assert "Cliff's delta" in verbose
    assert "Cliff&#39;s delta" in Path("c.html").read_text("utf-8")
    assert Path("c.csv").read_text("utf-8").startswith("table,score,")
    chinese = hengwen("compare", "ckpt-3000", "ckpt-4000", "--lang", "zh").out
    assert "▼ 变差：人设一致" in chinese


def test_json_has_everything(hengwen, demo: str) -> None:
    document = hengwen("compare", "ckpt-3000", "ckpt-4000", "--json").json
    assert document["families"]["headline"] == {"correction": "step-down", "tests": 3}
    assert document["before"]["checkpoint"] == "ckpt-3000"
    scores = {score["address"]: score for score in document["scores"]}
    level = scores["persona/persona_generic.level"]
    assert (level["outcome"], level["family"]) == ("worse", "headline")
    assert level["test"]["prompts"] == 12
    assert level["interval"]["bounds"] == level["interval"]["pseudo"]
    assert {"p_adjusted", "detectable", "effects", "mcnemar_p", "equal_length", "weighted"} <= level.keys()


def test_quiet_prints_nothing(hengwen, demo: str) -> None:
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_weights_are_checked(hengwen, demo: str) -> None:
    document = hengwen("compare", "ckpt-3000", "ckpt-4000", "--weights", "precision", "--json").json
    assert document["weights"] == "precision"
    assert any(score["weighted"] for score in document["scores"])
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
    assert "11/0/0" in hengwen("compare", "a", "b", "--common", "-v").out


def test_one_checkpoint_is_not_compared_with_itself(hengwen) -> None:
    evaluate(hengwen, "a", ["好"])
    done = hengwen("compare", "a", "a")
    assert done.code == 2
    assert "'a' and 'a' are one run" in done.err
    assert hengwen("compare", "a", "z").code == 2
    assert hengwen("compare", "a", "z", "--store", "none.db").code == 2


def test_clusters_and_unequal_repeats_are_counted(hengwen) -> None:
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
    document = hengwen("compare", "a", "b", "--json").json
    (score,) = document["scores"]
    assert (score["test"]["prompts"], score["test"]["clusters"], score["subsampled"]) == (8, 4, 8)


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
    assert hengwen("compare", "ckpt-4000").out.splitlines()[0].startswith("compare ckpt-2000 → ckpt-4000 ")
    report = hengwen("report", "--lang", "en", "-v").out
    assert "ckpt-2000 (baseline)" in report
    assert "at most two" in hengwen("compare", "ckpt-1000", "ckpt-2000", "ckpt-3000").err


def test_a_page_has_the_worst_prompts_with_both_answers_and_no_link_leads_nowhere(hengwen, demo: str) -> None:
    done = hengwen("compare", "ckpt-3000", "ckpt-4000", "-o", "c.html")
    assert done.code == 0
    assert done.out.split("worst prompts of ")[1].startswith("character, ckpt-3000 → ckpt-4000")
    page = Path("c.html").read_text(encoding="utf-8")
    assert page.count('<details class="change" id="persona/persona_generic.level/changes/prompts/') == 10
    assert page.count('<mark class="reference">') > 0
    ids = set(re.findall(r'\bid="([^"]*)"', page))
    assert set(re.findall(r'href="#([^"]*)"', page)) <= ids
