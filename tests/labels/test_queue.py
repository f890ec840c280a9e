"""The order in which answers are labelled: a random sample that is spread over checkpoints and prompts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hengwen.judges.calibration.means import ppi_mean
from hengwen.labels.queue import _sampling_order
from hengwen.records import Response


def answers(prompts: int, checkpoints: int, repeats: int) -> list[Response]:
    return [
        Response(task="t", sample_id=f"p{p}", checkpoint=f"c{c}", repeat=r, text="")
        for p in range(prompts)
        for c in range(checkpoints)
        for r in range(1, repeats + 1)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_every_beginning_of_the_order_is_spread_over_checkpoints_and_prompts(seed: int) -> None:
    everything = answers(12, 3, 4)
    order = sorted(everything, key=_sampling_order(everything, seed))
    assert len({answer.sample_id for answer in order[:12]}) >= 11
    for n in (12, 36, 72, 144):
        by_checkpoint = Counter(answer.checkpoint for answer in order[:n])
        assert max(by_checkpoint.values()) - min(by_checkpoint.values()) <= 3
        by_prompt = Counter((answer.checkpoint, answer.sample_id) for answer in order[:n])
        assert max(by_prompt.values()) <= n // 36 + 1


@pytest.mark.slow
def test_every_answer_is_as_likely_to_come_early_also_where_prompts_have_unequal_repeats() -> None:
    everything = answers(6, 2, 1) + [
        Response(task="t", sample_id="p0", checkpoint="c0", repeat=r, text="") for r in range(2, 8)
    ]
    early: Counter[int] = Counter()
    for seed in range(1200):
        key = _sampling_order(everything, seed)
        early.update(answer.repeat for answer in everything if key(answer)[0] < 1 / 3)
    shares = [early[r] / 1200 for r in range(2, 8)] + [early[1] / 1200 / 12]
    assert shares == pytest.approx([1 / 3] * 7, abs=0.055)


@pytest.mark.slow
def test_labels_in_this_order_narrow_the_corrected_mean_more_than_labels_in_any_order() -> None:
    rng = np.random.default_rng(0)
    levels = np.linspace(0, 1, 5)
    everything = answers(20, 6, 3)
    prompt = np.array([int(answer.sample_id[1:]) for answer in everything])
    checkpoint = np.array([int(answer.checkpoint[1:]) for answer in everything])
    widths: dict[str, list[float]] = {"spread": [], "any": []}
    held: Counter[str] = Counter()
    for seed in range(40):
        quality = 0.55 + rng.normal(0, 0.25, 20)[prompt] + np.linspace(-0.15, 0.15, 6)[checkpoint]
        quality += rng.normal(0, 0.2, len(everything))
        human = levels[np.abs(quality[:, None] - levels).argmin(1)]
        seen = 0.8 * quality + 0.2 + rng.normal(0, 0.12, 20)[prompt] + rng.normal(0, 0.12, len(everything))
        judge = levels[np.abs(seen[:, None] - levels).argmin(1)]
        key = _sampling_order(everything, seed)
        orders = {
            "spread": np.array(sorted(range(len(everything)), key=lambda i: key(everything[i]))),
            "any": rng.permutation(len(everything)),
        }
        for name, order in orders.items():
            for c in range(6):
                labelled, others = (part[checkpoint[part] == c] for part in (order[:90], order[90:]))
                mean = ppi_mean(
                    human[labelled].tolist(),
                    judge[labelled].tolist(),
                    judge[others].tolist(),
                    clusters=[f"{p}" for p in prompt[labelled]],
                    other_clusters=[f"{p}" for p in prompt[others]],
                    bounds=(0, 1),
                )
                widths[name].append(mean.high - mean.low)
                held[name] += mean.low <= human[checkpoint == c].mean() <= mean.high
    assert np.mean(widths["spread"]) < 0.9 * np.mean(widths["any"])
    assert held["spread"] >= 0.95 * 240
