"""Human values of checkpoints, prompts and answers, and their rankings against those of a score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hengwen import DataError, Scale, Store, drift_report
from hengwen.monitoring.drift.human_agreement import read_human_values
from hengwen.relevance_metrics import compare_rankings


def write(folder: Path, text: str) -> Path:
    path = folder / "human.csv"
    path.write_text(text, "utf-8")
    return path


def test_the_most_precise_row_counts_and_raters_are_averaged(tmp_path: Path) -> None:
    values = read_human_values(
        write(
            tmp_path,
            "checkpoint,task,id,score,value\nc1,,,,1\nc1,,,,2\n,,p,,3\nc1,,p,,4\n,t,p,s,5\nc2,t,,s,6\n",
        )
    )
    assert values.of_checkpoint("c1", "t", "s") == 1.5
    assert values.of_checkpoint("c2", "t", "s") == 6
    assert values.of_checkpoint("c2", "u", "s") is None
    assert values.of_prompt("c1", "t", "p", "s") == 4
    assert values.of_prompt("c2", "t", "p", "s") == 5
    assert values.of_prompt("c2", "u", "p", "s") == 3
    assert values.of_prompt("c2", "u", "q", "s") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("value\n1\n", r"human\.csv:2: names neither a checkpoint nor an id"),
        ("checkpoint,value\nc1,best\n", r"human\.csv:2: field 'value' must be a number, got 'best'"),
    ],
)
def test_malformed_rows_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_human_values(write(tmp_path, text))


VALUES = np.random.default_rng(5).random((8, 5, 2))


def test_people_rank_checkpoints_and_prompts(fill: Callable[..., Store], tmp_path: Path) -> None:
    rows = "".join(f"c{k},,{value}\n" for k, value in enumerate((3, 1, 2, 5, 4)))
    rows += "".join(f",p{p},{p}\n" for p in range(8))
    report = drift_report(fill(VALUES), human=write(tmp_path, "checkpoint,id,value\n" + rows))
    over, *by_checkpoint = report.scores[0].human
    assert (over.checkpoint, over.ranking) == (
        "",
        compare_rankings(VALUES.mean(axis=(0, 2)), [3, 1, 2, 5, 4]),
    )
    assert [item.checkpoint for item in by_checkpoint] == [f"c{k}" for k in range(5)]
    assert by_checkpoint[1].ranking == compare_rankings(VALUES[:, 1].mean(axis=1), list(range(8)))


def test_where_lower_is_better_the_ranking_is_turned(fill: Callable[..., Store], tmp_path: Path) -> None:
    path = write(tmp_path, "checkpoint,value\n" + "".join(f"c{k},{k}\n" for k in range(5)))
    scale = Scale(low=0, high=1, higher_is_better=False)
    falling = np.linspace(0.9, 0.1, 5)[None, :, None] * np.ones((8, 1, 1))
    (score,) = drift_report(fill(falling, scale=scale), human=path).scores
    assert score.human[0].ranking.tau_b == pytest.approx(1)


def test_labels_of_the_store_rank_the_answers_of_a_checkpoint(record, store: Store) -> None:
    scores = {f"p{p}": VALUES[p, 0].tolist() for p in range(8)}
    human = {f"p{p}": [p / 10, 0.8 - p / 10] for p in range(6)}  # two prompts have no label
    record("c0", {"s.value": scores}, human=human)
    record("c1", {"s.value": scores}, order=1)
    (item,) = drift_report(store).scores[0].human
    expected = compare_rankings(VALUES[:6, 0].ravel(), [value for pair in human.values() for value in pair])
    assert (item.checkpoint, item.ranking) == ("c0", expected)


def test_one_value_is_no_ranking(record, store: Store, tmp_path: Path) -> None:
    record("c0", {"s.value": {"p0": [0.5], "p1": [0.6]}}, human={"p0": [1.0]})
    assert drift_report(store).scores[0].human == ()
    assert drift_report(store, human=write(tmp_path, "id,value\np0,1\np9,2\n")).scores[0].human == ()
