"""``hengwen drift``: what is printed and written, what counts as a look, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded_runs import record_run

from hengwen import Run, open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(hengwen) -> None:
    """A store with the runs of the packaged demo."""
    from importlib.resources import files

    assert hengwen("run", files("hengwen.demo") / "data" / "plan.yaml", "--quiet").code == 0


def record(means: list[float], **fields: object) -> None:
    """Record runs of checkpoints c0, c1, ... in the store of the folder."""
    rng = np.random.default_rng(0)
    with open_store("hengwen.db") as store:
        for index, mean in enumerate(means):
            values = np.clip(mean + rng.normal(0, 0.02, 12), 0, 1).tolist()
            scores = {f"p{prompt}": [value] for prompt, value in enumerate(values)}
            record_run(store, f"c{index}", {"s.value": scores}, order=index, **fields)


JITTER = [0.5, 0.7, 0.45, 0.65, 0.52, 0.6]


def test_the_report_is_printed_and_written_in_the_language_of_the_option(hengwen, tmp_path: Path) -> None:
    record(JITTER)
    done = hengwen("drift", "--lang", "zh", "-o", "d.html", "-o", "d.csv", "-v")
    assert done.code == 0
    assert done.err.endswith("report: d.html\nreport: d.csv\n")
    assert "t/s.value：有差别；未见超出平常波动的变化" in done.out
    assert "方差来源\n" in done.out
    assert "方差来源\n" not in hengwen("drift", "--lang", "zh").out
    assert "t/s.value" in Path("d.html").read_text("utf-8")
    assert Path("d.csv").read_text("utf-8").startswith("table,score,")
    assert hengwen("drift", "--human", "h.csv", "-o", "h.csv").code == 2


def test_json_is_the_record_of_the_report(hengwen, tmp_path: Path) -> None:
    record(JITTER)
    document = hengwen("drift", "--json").json
    assert [document[name] for name in ("schema", "plan", "baseline", "newest")] == [1, "p", "r-c0", "r-c5"]
    assert document["families"]["drift"] == {"correction": "holm", "tests": 2}
    (score,) = document["scores"]
    assert (score["differs"], score["drifts"]) == ("differ", "no change beyond the usual movement seen")
    assert score["difference"]["interval"]["bounds"] == score["difference"]["interval"]["pseudo"]
    assert score["steps"]["slope"]["signal_to_noise"] > 0


def test_a_read_only_store_is_looked_at_without_a_record(hengwen, tmp_path: Path) -> None:
    record(JITTER)
    for _ in range(2):
        done = hengwen("drift", "--store", "file:hengwen.db?mode=ro", "--json")
        assert (done.code, done.json["looks"]["drift"]) == (0, 1)
    assert json.loads(hengwen("drift", "--json").out)["looks"]["drift"] == 1


def test_quiet_prints_warnings_only(hengwen, tmp_path: Path) -> None:
    facts: dict[str, object] = {"versions": {}, "tasks": {}}
    record(JITTER, facts={"prompts": "x", **facts})
    with open_store("hengwen.db") as store:
        ledger = store.ledger()
        ledger.begin(Run(id="o", plan="p", plan_hash="", checkpoint="old", facts={"prompts": "y", **facts}))
        ledger.commit()
    done = hengwen("drift", "-q")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "hengwen: warning: left out, because their tasks or prompts differ from the newest run: old\n"
    )
    record([0.5])
    assert "hengwen: warning: run by an older version, so whether they" in hengwen("drift", "-q").err


def test_scores_of_scorers_and_of_judges_can_be_named_together(hengwen, demo: None) -> None:
    alone = hengwen("drift", "--score", "lyrics/lyric.total")
    assert (alone.code, alone.err) == (0, "")
    assert "lyrics/lyric.total" in alone.out
    assert "persona_generic" not in alone.out
    both = hengwen("drift", "--score", "lyrics/lyric.total", "--score", "persona/persona_generic.level")
    assert both.code == 0
    assert "persona/persona_generic.level" in both.out
