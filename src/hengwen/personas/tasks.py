"""Tasks of the Muice protocol for evaluating a persona chatbot, with their repeats, rubric and rules."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from hengwen.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

ScaleKey = Literal["mean_times", "sum_divided_by"]


_CHAT_RULES = ("broken", "near_duplicate", "target_copy", "plain_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaTask:
    """One task of the Muice protocol; the default values fit a chat task."""

    name: str
    about: str
    """Description for the reader of a plan."""
    rubric: str = "muice_live"
    """Name of the packaged rubric."""
    repeats: int = 3
    """Number of answers to each prompt."""
    rules: tuple[str, ...] = _CHAT_RULES
    """Names of the rules that may lower (cap) the judge's level, in the order of the plan."""
    scale: tuple[ScaleKey, float] = ("mean_times", 10)
    """Formula that computes the published score from the scores of all answers."""
    task_instruction: tuple[str, str] | None = None
    """Additional instruction to the judge, in Chinese and in English."""


_TASKS = (
    PersonaTask(
        name="new_topic",
        about="opens a conversation by itself, from a fixed topic prompt",
        rubric="muice_new_topic",
        repeats=5,
        rules=("broken", "near_duplicate", "plain_text"),
    ),
    PersonaTask(name="live", about="replies to a viewer of its live stream"),
    PersonaTask(name="emotion", about="listens to somebody with a trouble or a joy"),
    PersonaTask(
        name="comprehensive",
        about="all kinds of exchanges, each answered once and compared with its reference in style",
        repeats=1,
        rules=("broken", "target_copy", "plain_text"),
        scale=("sum_divided_by", 10),
        task_instruction=(
            "这项任务比较的是风格：看回答的口吻、性情、用词和分寸与参考回答相差多少，内容不同不算缺点。",
            "This task compares style: how far are tone, temper, choice of words and measure from "
            "those of the reference? Another content is no fault.",
        ),
    ),
)
TASKS: Mapping[str, PersonaTask] = MappingProxyType({task.name: task for task in _TASKS})
"""Tasks by name, in the order of the Muice protocol."""

PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "muice-llmtuner": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 1024},
        "muicebot": {"temperature": 0.75, "top_p": 0.95, "max_tokens": 4096, "top_k": 3},
        "provider-default": {},
    }
)
"""Sampling parameters of each preset. The published document of the Muice protocol names no values, only
"default parameters", which differ between programs."""
DEFAULT_PRESET = "muice-llmtuner"


def sampling(preset: str) -> dict[str, float]:
    """Return the sampling parameters of a preset; the preset ``provider-default`` has no parameters."""
    if preset not in PRESETS:
        raise ConfigError(f"unknown preset {preset!r}{did_you_mean(preset, PRESETS)}")
    return dict(PRESETS[preset])
