"""The tasks of the Muice protocol as data: what is asked how often, by which rubric, rules and scale."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from hengwen.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

ScaleKey = Literal["mean_times", "sum_divided_by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaTask:
    """One task."""

    name: str
    about: str
    """For the reader of a plan."""
    rubric: str
    """The packaged rubric that it is weighed by."""
    repeats: int
    """Answers to each prompt."""
    rules: tuple[str, ...]
    """The deterministic rules beside the judge, in the order of the plan."""
    scale: tuple[ScaleKey, float]
    """How the values become the published score."""
    note: tuple[str, str] | None = None
    """What the judge is asked to look at besides the rubric, in Chinese and in English."""


_CHAT_RULES = ("broken", "near_duplicate", "target_copy", "plain_text")

TASKS: Mapping[str, PersonaTask] = MappingProxyType(
    {
        task.name: task
        for task in (
            PersonaTask(
                name="new_topic",
                about="opens a conversation by itself, from a fixed topic prompt",
                rubric="muice_new_topic",
                repeats=5,
                rules=("broken", "near_duplicate", "plain_text"),
                scale=("mean_times", 10),
            ),
            PersonaTask(
                name="live",
                about="replies to a viewer of its live stream",
                rubric="muice_live",
                repeats=3,
                rules=_CHAT_RULES,
                scale=("mean_times", 10),
            ),
            PersonaTask(
                name="emotion",
                about="listens to somebody with a trouble or a joy",
                rubric="muice_live",
                repeats=3,
                rules=_CHAT_RULES,
                scale=("mean_times", 10),
            ),
            PersonaTask(
                name="comprehensive",
                about="all kinds of exchanges, each answered once and compared with its reference in style",
                rubric="muice_live",
                repeats=1,
                rules=("broken", "target_copy", "plain_text"),
                scale=("sum_divided_by", 10),
                note=(
                    "这项任务比较的是风格：看回答的口吻、性情、用词和分寸与参考回答相差多少，"
                    "内容不同不算缺点。",
                    "This task compares style: how far are tone, temper, choice of words and measure from "
                    "those of the reference? Another content is no fault.",
                ),
            ),
        )
    }
)
"""By name, in the order of the protocol."""

PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "muice-llmtuner": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 1024},
        "muicebot": {"temperature": 0.75, "top_p": 0.95, "max_tokens": 4096, "top_k": 3},
        "provider-default": {},
    }
)
"""Sampling parameters by name: the document says "default parameters", and programs differ in theirs."""
DEFAULT_PRESET = "muice-llmtuner"


def sampling(preset: str) -> dict[str, float]:
    """Return the sampling parameters of a preset; none are set for ``provider-default``.

    Raises:
        ConfigError: Nobody knows the preset.

    Examples:
        >>> sampling("muice-llmtuner")
        {'temperature': 0.7, 'top_p': 0.9, 'max_tokens': 1024}
    """
    if preset not in PRESETS:
        raise ConfigError(f"unknown preset {preset!r}{did_you_mean(preset, PRESETS)}")
    return dict(PRESETS[preset])
