"""Scores of whole sets of answers: coverage of the jackknife, size and power of the exchange of prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(samples: int) -> Iterator[Figure]:
    """Measure coverage, size and power for the share of distinct words."""
    from tests.stats.set_exchange_simulations import coverage, rejections

    for prompts in (8, 12, 26, 60):
        yield Figure(case=f"{prompts} prompts: covered", value=coverage(prompts, samples), unit="", low=0.93)
    for prompts in (8, 26, 60):
        for name, options, high in (
            ("no difference", {}, 0.08),
            ("answers 1.3 times as long", {"longer": 1.3}, 0.08),
            ("15 % of the words from 20 words", {"collapse": 0.15}, None),
        ):
            share = rejections(prompts, samples, **options)
            yield Figure(case=f"{prompts} prompts, {name}: differ", value=share, unit="", high=high)
