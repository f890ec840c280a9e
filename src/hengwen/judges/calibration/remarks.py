"""Remarks of a calibration: a code, and the numbers and names that belong to it; documents have the words."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads it
from dataclasses import dataclass, field
from typing import Literal

RemarkCode = Literal[
    "no_pairs",
    "few_labels",
    "few_prompts",
    "labels_on_one_level",
    "judge_on_one_level",
    "undefined_kappa",
    "undefined_within",
    "kappa",
    "within_kappa",
    "undefined_resamples",
    "raters_disagree",
    "majority",
    "one_rater",
    "chosen_answers",
    "unbalanced",
    "few_labels_for_maps",
    "few_prompts_for_maps",
    "no_levels_for_maps",
    "few_labels_for_mean",
    "rounded",
    "not_random",
]


@dataclass(frozen=True, slots=True)
class Remark:
    """A reason for a decision, or a warning."""

    code: RemarkCode
    values: Mapping[str, int | float | str] = field(default_factory=dict)
    """Numbers and names by what they are, such as ``n`` and ``needed``."""
