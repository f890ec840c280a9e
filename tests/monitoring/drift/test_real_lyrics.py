"""The six checkpoints of real lyrics: they differ, and do not drift."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hengwen import ScoreDrift, Store, drift_report, open_store, run_plan
from hengwen.importers.muchin import import_muchin


def only(store: Store, **arguments: object) -> ScoreDrift:
    (score,) = drift_report(store, **arguments).scores
    return score


@pytest.mark.slow
def test_the_real_lyrics_differ_and_do_not_drift(shared: Callable[[str], Path], tmp_path: Path) -> None:
    imported = import_muchin(shared("data/muchin-checkpoints.jsonl"), tmp_path / "plan")
    with open_store(tmp_path / "x.db") as store:
        run_plan(imported.plan, store=store)
        score = only(store, scores=["lyrics/lyric.total"])
    assert (score.differs, score.drifts) == ("differ", "no change beyond the usual movement seen")
    assert [round(item.mean, 1) for item in score.means] == [77.8, 73.8, 86.1, 83.5, 82.0, 78.2]
    assert len(score.difference.baseline) == 5
    assert score.difference.prompts == 26
    fallen = {
        (score.means[item.earlier].checkpoint, score.means[item.later].checkpoint): item
        for item in score.comparisons
    }["ckpt2001", "ckpt3_2001"]
    assert (fallen.verdict, fallen.test.difference) == ("worse", pytest.approx(-7.90, abs=0.005))
    assert 0.012 < fallen.p_adjusted < 0.0304
    assert score.shrunken
    assert len(score.changes) == 10
