"""``hengwen import muice``, as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

SEED = "seeds/004_873db047e97b039a.txt"


def test_the_published_document_becomes_a_good_plan(
    hengwen, shared: Callable[[str], Path], tmp_path: Path
) -> None:
    done = hengwen("import", "muice", shared(SEED), "-o", "muice")
    assert done.code == 0
    assert done.out.startswith(
        "muice/plan.yaml: 3 tasks with 37 prompts (new_topic 7, live 15, emotion 15), "
        "2 rubrics with 11 examples; 1 repaired, 5 warnings: "
    )
    notes = json.loads((tmp_path / "muice" / "repairs.json").read_text("utf-8"))["findings"]
    lines = done.err.splitlines()
    assert len(lines) == len(notes)
    assert [f":{note['line']}: repair: " in done.err for note in notes if note["kind"] == "repair"] == [True]
    assert sum(line.startswith("hengwen: warning: ") for line in lines) == 5
    assert sum("the program spells tag <" in line for line in lines) == 2
    assert hengwen("validate", "muice/plan.yaml").out.endswith("is a valid plan\n")


def test_options_reach_the_suite(hengwen, shared: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text(
        json.dumps({"prompt": "在吗", "label": "在的呀，等你好久"}) + "\n", "utf-8"
    )
    (tmp_path / "train.jsonl").write_text(
        json.dumps({"prompt": "早", "label": "早上好呀，今天也加油"}) + "\n", "utf-8"
    )
    options = ["--test-split", "test.jsonl", "--corpus", "train.jsonl", "--set", "subchoice=one_of_each"]
    done = hengwen(
        "import", "muice", shared(SEED), "-o", "m", *options, "--set", "seed=2", "--set", "preset=muicebot",
        "--set", "exempt_duplicates=true",
    )  # fmt: skip
    assert done.code == 0
    checked = hengwen("validate", "m/plan.yaml")
    assert "task new_topic: 8 samples" in checked.out
    assert "task comprehensive: 1 samples" in checked.out
    plan = (tmp_path / "m" / "plan.yaml").read_text("utf-8")
    assert "leakage: {corpus: ../train.jsonl}" in plan
    assert "sampling preset muicebot" in plan
    assert "<日常问候: 傍晚>" in plan
    live = (tmp_path / "m" / "live.jsonl").read_text("utf-8")
    assert '"number": 2181, "exempt": ["target_copy", "near_duplicate"]' in live


def test_another_file_is_one_line_with_its_place_and_nothing_is_written(hengwen, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n", "utf-8")
    done = hengwen("import", "muice", "notes.md", "-o", "out")
    assert done.code == 2
    assert done.err.startswith("hengwen: notes.md:1: no heading contains '新话题发起'")
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
